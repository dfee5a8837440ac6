"""tess-dump on the demo's golden file: graph, signature, memory plan, kernels."""

import itertools
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tessera import jit
from tessera.jit import Spec, explain
from tessera.jit.explain import Explanation

TOOLS, FILE = Path("tools").absolute(), Path("tests/golden/1/digits.tess")
PIECE = re.compile(r"  offset +(\d+) bytes +(\d+) steps (\d+)\.\.(\d+) (.*)")
MEMORY = re.compile(
    r"memory at (.*): arena (\d+) bytes, outputs (\d+), constants (\d+), (\d+) launches"
)
KERNEL = re.compile(
    r"kernel of step (\d+): ([\w ]+), domain \[(.*)\], parallel axes [\d. ]+.*, (\d+) bytes of code"
    r" in image (\d+)"
)


def run(tool, *arguments):
    environment = {**os.environ, "TESS_NUM_THREADS": "2"}
    command = [TOOLS / tool, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def dump():
    done = run("tess-dump", FILE, "--dim", "batch=7")
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def test_the_graph_has_user_names_and_lines(dump):
    graph = dump.split("\nexecutable ")[0]
    for operator, module in (("conv2d", "conv1"), ("linear", "fc2"), ("max_pool2d", "pool")):
        assert re.search(rf"tess\.{operator}.*digits_net\.py:\d+.*{module}", graph), operator
    assert "conv1.weight" in graph and '"batch"' in graph


def test_the_signature(dump):
    executable = dump.split("\nexecutable ")[1].splitlines()
    assert executable[0].startswith("x86-64-v3: ")
    assert executable[1:3] == ["dim batch in 1..512", "input image: f32[batch, 1, 8, 8]"]
    assert re.fullmatch(r"output logits: %\d+", executable[3])


def test_steps_have_lines(dump):
    steps = [line for line in dump.splitlines() if line.startswith("step ")]
    assert len(steps) == int(re.search(r"x86-64-v3: (\d+) steps", dump)[1])
    assert all(re.search(r"// .*digits_net\.py:\d+", line) for line in steps)


def test_the_plan_is_one(dump):
    pieces = [tuple(map(int, match.groups()[:4])) for match in PIECE.finditer(dump)]
    arenas = {match[1]: int(match[2]) for match in MEMORY.finditer(dump)}
    assert list(arenas) == ["batch=1", "batch=512", "batch=7"] and pieces
    assert arenas["batch=1"] < arenas["batch=7"] < arenas["batch=512"]
    ends = [offset + -(-size // 64) * 64 for offset, size, *_ in pieces]
    assert max(ends) == arenas["batch=7"] and all(offset % 64 == 0 for offset, *_ in pieces)
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(pieces, 2):
        shared = (a, c, d) == (e, g, h)  # in place
        assert shared or d < g or h < c or a + b <= e or e + f <= a, (a, e)


def test_the_plan_is_what_runs(dump, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((7, 1, 8, 8), dtype=np.float32))
    done = run("tess-run", FILE, "--input", tmp_path / "x.npy")
    ran = re.search(r"arena (\d+), outputs (\d+), constants (\d+)", done.stdout)
    launches = re.search(r"(\d+) launches", done.stdout)
    planned = list(MEMORY.finditer(dump))[-1]
    assert planned.groups()[1:] == (*ran.groups(), launches[1])


def test_kernels(dump):
    kernels = [match.groups() for match in KERNEL.finditer(dump)]
    steps = re.findall(r"step +(\d+) kernel +([\w ]+):", dump)
    assert kernels and [(each[0], each[1]) for each in kernels] == steps
    assert {"add mul add relu", "add relu", "add"} <= {each[1] for each in kernels}
    assert "7, 16, 8, 8" in {each[2] for each in kernels}
    images = dict(re.findall(r"image (\d+): (\d+) bytes, hash \w+, needs \+avx", dump))
    for *_, size, image in kernels:
        assert 50 < int(size) <= int(images[image])


def test_why_neighbours_have_kernels_of_their_own():
    done = run("tess-dump", FILE, "--why")
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("kernels that neighbours do not share:\n")[1].split("\nexecutable")[0]
    at = r".*digits_net\.py:\d+.*"
    pattern = rf"  \w+: has a kernel of its own beside \w+ of {at}: .* must .* \(at {at}\)"
    assert said and all(re.fullmatch(pattern, line) for line in said.splitlines()), said


def test_json_is_the_account_of_explain(tmp_path):
    done = run("tess-dump", FILE, "--json", "--dim", "batch=7")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    facts = json.loads(done.stdout)
    assert facts["format"] == 1 and facts["title"] == str(FILE)
    (tmp_path / "account.json").write_text(done.stdout)
    account = Explanation.read(tmp_path / "account.json")
    shown = run("tess-dump", FILE, "--dim", "batch=7").stdout
    memory = list(MEMORY.finditer(shown))[-1].groups()
    expected = [str(account.memory[name]) for name in ("arena", "outputs", "constants")]
    assert memory == ("batch=7", *expected, str(account.launches))
    names = [step.name for step in account.steps if step.kind == "kernel"]
    assert names == re.findall(r"step +\d+ kernel +([\w ]+):", shown)
    ours = explain(jit.load(FILE, allow_code=True), Spec((7, 1, 8, 8)))
    assert account.to_dict() == ours.to_dict()


def test_json_at_the_lowest_sizes_and_without_code():
    facts = json.loads(run("tess-dump", FILE, "--json").stdout)["account"]
    image = next(v for v in facts["parts"][0]["values"] if v["name"] == "image")
    assert image["shape"] == [1, 1, 8, 8] and facts["passes"] == []
    facts = json.loads(run("tess-dump", FILE.parent / "linear.tess", "--json").stdout)["account"]
    assert {"code", "steps"} <= {name for name, _ in facts["passes"]}  # compiled here


def test_an_account_that_cannot_be_read(tmp_path):
    path = tmp_path / "account.json"
    with pytest.raises(FileNotFoundError):
        Explanation.read(path)
    for text in ("", "[]", "{}", '{"format": 2}', '{"format": 1, "title": "x", "account": {}}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="account.json must be JSON of tess-dump or to_json"):
            Explanation.read(path)


def test_a_graph_without_code():
    done = run("tess-dump", FILE.parent / "linear.tess")
    assert done.returncode == 0 and "tess.matmul" in done.stdout
    assert "executable" not in done.stdout and "memory" not in done.stdout


ERRORS = [
    (["none.tess"], "none.tess: must be able to open the file, got No such file"),
    (["tests/golden/1/digits.npz"], "digits.npz: must be a .tess file, got a file of another kind"),
    ([FILE, "--dim", "batch"], "tess-dump: --dim must be <name>=<size>, got batch"),
    ([FILE, "--dim", "batch=x"], "tess-dump: --dim must be <name>=<size>, got batch=x"),
    ([FILE, "--dim", "rows=3"], "tess-dump: --dim must name one of [batch], got rows"),
    ([FILE, "--dim", "batch=513"], "batch in 1..512, got"),
]


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize(("arguments", "text"), ERRORS)
def test_errors(arguments, text, more):
    done = run("tess-dump", *arguments, *more)
    assert done.returncode == 1 and text in done.stderr and done.stderr.count("\n") == 1
    assert not more or done.stdout == ""


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize("kept", [0, 3, 100, 0.5, 0.99])
def test_a_file_that_was_cut(tmp_path, kept, more):
    whole = FILE.read_bytes()
    path = tmp_path / "cut.tess"
    path.write_bytes(whole[: int(kept * len(whole)) if kept < 1 else kept])
    done = run("tess-dump", path, *more)
    assert done.returncode == 1 and "cut.tess" in done.stderr and done.stdout == "", done.stderr


def test_json_and_why_exclude_each_other():
    done = run("tess-dump", FILE, "--json", "--why")
    assert done.returncode != 0 and "--why excludes --json" in done.stderr


def test_state_is_no_input():
    done = run("tess-dump", FILE.with_name("state.tess"))
    lines = done.stdout.split("\nexecutable ")[1].splitlines()
    assert lines[1:4] == [
        "input x: f32[1025]",
        "state captured0: i32[]",
        "state captured1: f32[1025]",
    ]
    assert re.fullmatch(r"output count: %\d+", lines[4])
    assert re.fullmatch(r"output mean: %\d+", lines[5])
    assert re.fullmatch(r"state captured0 becomes: %\d+", lines[6])
