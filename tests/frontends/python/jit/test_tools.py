"""A program from Python through the command-line tools: the bits stay."""

import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import same_bits
from tests.support.networks import Net, tensor

TOOLS = Path("tools").absolute()  # of the runfiles, where tests start


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


@pytest.fixture
def graph(tmp_path):
    """A file without code, and what its program gives for x.npy."""
    net, x = Net().eval(), tensor(5, 6)
    traced = jit.trace(net.__call__, capture_as_const=True)
    traced(x)
    path = tmp_path / "net.tess"
    traced.dump(
        path, arg_names=["x"], output_names=["y"], dims={"x": {0: jit.Dim("n", 1, 9)}}, targets=[]
    )
    np.save(tmp_path / "x.npy", x.numpy())
    return path, net(x).numpy()


def test_gradients_without_python(tmp_path):
    weight = tensor(6, 3)
    traced = jit.trace(lambda x, w: F.sum(F.tanh(F.matmul(x, w)) ** 2), capture_as_const=True)
    x = tensor(4, 6)
    traced(x, weight)
    graph, program = tmp_path / "loss.tess", tmp_path / "gradient.tess"
    traced.dump(graph, arg_names=["x", "w"], output_names=["loss"], targets=[])
    done = run(TOOLS / "tess-compile", graph, "-o", program, "--gradient", "loss")
    assert done.returncode == 0, done.stderr
    files = []
    for name, value in (("x", x), ("w", weight)):
        np.save(tmp_path / f"{name}.npy", value.numpy())
        files += ["--input", f"{name}={tmp_path}/{name}.npy"]
        files += ["--output", f"grad_{name}={tmp_path}/g{name}.npy"]
    done = run(TOOLS / "tess-run", program, *files)
    assert done.returncode == 0, done.stderr
    manager = GradManager().attach([x, weight])
    with manager:
        manager.backward(F.sum(F.tanh(F.matmul(x, weight)) ** 2))
    assert same_bits(np.load(tmp_path / "gx.npy"), x.grad.numpy())
    assert same_bits(np.load(tmp_path / "gw.npy"), weight.grad.numpy())


def test_the_line_that_tess_run_prints_makes_the_file_run(graph, tmp_path):
    path, expected = graph
    arguments = ["--input", f"x={tmp_path}/x.npy", "--output", f"y={tmp_path}/y.npy"]
    refused = run(TOOLS / "tess-run", path, *arguments)
    assert refused.returncode == 1
    line = shlex.split(refused.stderr.strip().partition("type: ")[2])
    assert line[0] == "tess-compile"
    compiled = run(TOOLS / line[0], *line[1:])
    assert compiled.returncode == 0, compiled.stderr
    done = run(TOOLS / "tess-run", line[line.index("-o") + 1], *arguments)
    assert done.returncode == 0, done.stderr
    assert same_bits(np.load(tmp_path / "y.npy"), expected)


def text_of(program):
    """The graph's text without its data; a constant's handle counts within the process, its key
    does not.
    """
    return re.sub("dense_resource<[^>]*>", "", program.graph_text().partition("{-#")[0])


def test_compile_keeps_the_graph(graph, tmp_path):
    path, expected = graph
    target = tmp_path / "out.tess"
    assert run(TOOLS / "tess-compile", path, "-o", target, "--target", "x86-64-v3").returncode == 0
    x = tessera.Tensor(np.load(tmp_path / "x.npy"))
    for allow_code in (False, True):
        program = jit.load(target, allow_code=allow_code)
        assert text_of(program) == text_of(jit.load(path))
        assert same_bits(program(x), expected)


def test_compile_sets_numerics(graph, tmp_path):
    target = tmp_path / "out.tess"
    for name, there in (("fast", True), ("strict", False)):
        done = run(TOOLS / "tess-compile", graph[0], "-o", target, "--numerics", name)
        assert done.returncode == 0, done.stderr
        assert ('tess.numerics = "fast"' in jit.load(target).graph_text()) is there


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["{path}", "-o", "{out}", "--target", "z80"], "z80"),
        (["{folder}/none.tess", "-o", "{out}"], "none.tess"),
        (["{folder}/x.npy", "-o", "{out}"], "must be a .tess file"),
        (["{path}", "-o", "{folder}/missing/out.tess"], "missing"),
        (
            ["{path}", "-o", "{out}", "--numerics", "quick"],
            "tess-compile: numerics must be 'strict' or 'fast', got 'quick'",
        ),
    ],
)
def test_compile_says_what_is_wrong(graph, tmp_path, arguments, text):
    names = {"path": graph[0], "out": tmp_path / "out.tess", "folder": tmp_path}
    done = run(TOOLS / "tess-compile", *(each.format(**names) for each in arguments))
    assert done.returncode == 1 and text in done.stderr and ": " in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "out.tess").exists()
