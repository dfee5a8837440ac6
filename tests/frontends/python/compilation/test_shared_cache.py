"""Folders of compiled code that one machine fills and another one reads, whatever befalls them."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tessera
from tessera import jit

DEADLINE = 240  # seconds of a process, some twenty times the usual ones

COUNTS = """
def told(*values):
    stats = tessera.cache_stats()
    names = "compilations", "from_disk", "kernels_compiled", "kernels_from_disk"
    bits = b"".join(value.numpy().tobytes() for value in values)
    print(json.dumps({"bits": bits.hex(), **{name: stats[name] for name in names}}))
"""

TRAINING = (
    """
import json, sys, time
import numpy as np
import tessera
import tessera.functional as F
import tessera.module as M
from tessera import jit
from tessera.autodiff import GradManager
from tessera.optimizer import SGD
"""
    + COUNTS
    + """
tessera.random.seed(5)
net = M.Sequential(M.Conv2d(3, 8, 3), M.BatchNorm2d(8), M.ReLU())
head = M.Linear(8, 4)
parameters = [*net.parameters(), *head.parameters()]
optimizer, manager = SGD(parameters, lr=0.1, momentum=0.9), GradManager().attach(parameters)

@jit.trace
def step(x, y):
    with manager:
        loss = F.cross_entropy(head(net(x).mean(axis=(2, 3))), y)
        manager.backward(loss)
    optimizer.step().clear_grad()
    return loss

x = tessera.tensor(np.linspace(-1, 1, 2 * 3 * 8 * 8, dtype="float32").reshape(2, 3, 8, 8))
losses = []
for turn in range(4):
    losses.append(step(x, tessera.tensor([0, 3], dtype="int32")))
    meanwhile(turn)
told(*losses, *parameters)
"""
)

LOADED = (
    "import json, sys\nimport numpy as np\nimport tessera\nfrom tessera import jit\n"
    + COUNTS
    + """
told(jit.load(sys.argv[1])(tessera.tensor(np.ones((2, 3, 16, 16), "float32"))))
"""
)


def command(code, *arguments):
    return [sys.executable, "-c", code, *map(str, arguments)]


def environment(folder, **settings):
    """Variables of a process with its cache in `folder`, with nothing else compiled."""
    return {**os.environ, "TESS_CACHE_DIR": str(folder), "TESS_WARM_SET": "", **settings}


def answer(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def child(code, folder, *arguments, cwd=None, **settings):
    env = environment(folder, **settings)
    return answer(
        subprocess.run(
            command(code, *arguments),
            capture_output=True,
            text=True,
            env=env,
            cwd=cwd,
            timeout=DEADLINE,
            check=False,
        )  # fmt: skip
    )


def training(meanwhile="lambda turn: None"):
    return f"meanwhile = {meanwhile}\n" + TRAINING


def moved(folder, to):
    """The folder as another machine gets it: elsewhere, with times of its own."""
    shutil.copytree(folder, to, copy_function=shutil.copyfile)
    return to


def entries(folder):
    return sorted(path.relative_to(folder) for path in folder.glob("*/*.img"))


def compiled_nothing(counts):
    return counts["compilations"] == counts["kernels_compiled"] == 0


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder that a training process filled, and what that process said."""
    folder = tmp_path_factory.mktemp("shared") / "cache"
    first = child(training(), folder)
    assert first["kernels_compiled"] > 5 and first["from_disk"] == first["kernels_from_disk"] == 0
    return folder, first


def test_a_step_that_was_trained_elsewhere_compiles_nothing(trained, tmp_path):
    folder, first = trained
    other = {"HOME": str(tmp_path), "USER": "somebody", "TESS_NUM_THREADS": "1", "TZ": "Asia/Tokyo"}
    second = child(training(), moved(folder, tmp_path / "copy"), cwd=tmp_path, **other)
    assert compiled_nothing(second) and second["from_disk"] > 0 and second["kernels_from_disk"] > 0
    assert second["bits"] == first["bits"]


LOWER = {"TESS_LEVEL": "x86-64-v3"}


def level():
    """That of the machine, by the code that it dumps."""
    return "x86-64-v4" if "avx512f" in tessera._core.doctor()["features"] else "x86-64-v3"


def test_code_of_a_higher_level_is_never_read_on_a_lower_one(trained, tmp_path):
    folder, first = trained
    if level() == "x86-64-v3":
        assert entries(folder) and compiled_nothing(child(training(), folder, **LOWER))
        return
    here, lower = moved(folder, tmp_path / "here"), tmp_path / "lower"
    counts = child(training(), here, **LOWER)
    assert counts["from_disk"] == counts["kernels_from_disk"] == 0
    assert counts["kernels_compiled"] == first["kernels_compiled"]
    assert counts["bits"] == first["bits"]
    # A folder that is filled for the lower level serves that, and no other.
    child(training(), lower, **LOWER)
    assert not {*entries(folder)} & {*entries(lower)}
    assert {*entries(here)} == {*entries(folder)} | {*entries(lower)}
    assert compiled_nothing(child(training(), lower, **LOWER))
    assert child(training(), lower)["kernels_from_disk"] == 0


@pytest.mark.parametrize("name", ["x86-64-v5", "haswell", "x86-64-v4 "])
def test_a_level_that_the_machine_lacks_is_an_error(name, tmp_path):
    code = "import tessera\ntessera.jit.trace(lambda x: x + 1)(tessera.tensor([1.0]))"
    done = subprocess.run(
        command(code), capture_output=True, text=True, timeout=DEADLINE, check=False,
        env=environment(tmp_path, TESS_LEVEL=name),
    )  # fmt: skip
    assert done.returncode == 1
    assert "target: level must be x86-64-v3" in done.stderr and f"got {name}" in done.stderr


# Folders that something happens to


def test_a_folder_that_vanishes_costs_time_only(trained, tmp_path):
    folder, first = trained
    gone = moved(folder, tmp_path / "gone")
    counts = child(
        training("lambda turn: __import__('shutil').rmtree(sys.argv[1], True)"), gone, gone
    )
    assert counts["bits"] == first["bits"]


def test_two_processes_that_fill_a_folder_at_once_agree(trained, tmp_path):
    _, first = trained
    both = [
        subprocess.Popen(command(training()), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, env=environment(tmp_path / "new"))
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        out, errors = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, errors
        assert json.loads(out.splitlines()[-1])["bits"] == first["bits"]
    third = child(training(), tmp_path / "new")
    assert compiled_nothing(third) and third["bits"] == first["bits"]
    assert not [*(tmp_path / "new").glob("*/*.tmp*")]


# In a mount namespace of its own; who is not root is root of a user namespace too.
MOUNTS = {
    "full": 'mount -t tmpfs -o size=4k tmpfs "$0" && head -c 4k /dev/zero > "$0/all" && exec "$@"',
    "read-only": 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
}


def with_mount(kind, place, words, **settings):
    """How a process ends for which `place` is such a folder."""
    for options in (["-m"], ["-r", "-m"]):
        inside = ["unshare", *options, "sh", "-c", MOUNTS[kind], str(place)]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode == 0:
            return subprocess.run(
                [*inside, *words], capture_output=True, text=True, timeout=DEADLINE, check=False,
                env={**os.environ, **settings},
            )  # fmt: skip
    return pytest.skip("nothing can be mounted here")


@pytest.mark.parametrize("kind", MOUNTS)
def test_a_folder_that_cannot_be_written_costs_time_only(trained, kind, tmp_path):
    _, first = trained
    counts = answer(with_mount(kind, tmp_path, command(training()), **environment(tmp_path)))
    assert counts["kernels_compiled"] == first["kernels_compiled"]
    assert counts["bits"] == first["bits"]


def test_a_read_only_folder_serves_what_it_has(trained, tmp_path):
    folder, first = trained
    place = moved(folder, tmp_path / "place")
    counts = answer(with_mount("read-only", place, command(training()), **environment(place)))
    assert compiled_nothing(counts) and counts["bits"] == first["bits"]


# tess-compile --cache


def compiling(*arguments):
    """The words of a call of tess-compile."""
    code = "import sys; from tessera._commands import tess_compile as f; sys.argv[0] = 'x'; f()"
    return command(code, *arguments)


def tess_compile(*arguments):
    words = compiling(*arguments)
    return subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, check=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files with a graph each, and what a process without a cache computes by them."""
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for name, scale in (("one", 1.0), ("two", 2.0)):
        net = tessera.module.Sequential(
            tessera.module.Conv2d(3, 16, 3), tessera.module.ReLU(), tessera.module.Conv2d(16, 4, 3)
        ).eval()
        traced = jit.trace(
            lambda x, net=net, scale=scale: net(x * scale).exp(), capture_as_const=True
        )
        traced(tessera.tensor(np.ones((2, 3, 16, 16), "float32")))
        traced.dump(folder / f"{name}.tess", arg_names=["x"], targets=[])
        paths.append(folder / f"{name}.tess")
    return paths, [child(LOADED, "", path)["bits"] for path in paths]


def test_a_folder_that_tess_compile_fills_serves_programs(files, tmp_path):
    paths, bits = files
    folder = tmp_path / "cache"
    done = tess_compile(*paths, "--cache", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    copy = moved(folder, tmp_path / "copy")
    for path, expected in zip(paths, bits, strict=True):
        counts = child(LOADED, copy, path)
        assert compiled_nothing(counts) and counts["kernels_from_disk"] > 0
        assert counts["bits"] == expected


def test_tess_compile_fills_a_folder_for_a_lower_level(files, tmp_path):
    paths, bits = files
    folder = tmp_path / "cache"
    assert tess_compile(paths[0], "--cache", folder, "--target", "x86-64-v3").returncode == 0
    counts = child(LOADED, folder, paths[0], **LOWER)
    assert compiled_nothing(counts) and counts["bits"] == bits[0]
    if level() == "x86-64-v4":
        assert child(LOADED, folder, paths[0])["kernels_from_disk"] == 0


@pytest.mark.parametrize(
    ("count", "arguments", "text"),
    [
        (1, [], "tess-compile: either --output or --cache must be given, got neither"),
        (1, ["-o", "x.tess", "--cache", "y"], "--output or --cache must be given, got both"),
        (2, ["-o", "x.tess"], "tess-compile: --output takes one input, got 2"),
        (1, ["--cache", "y", "--target", "host", "--target", "sim"], "takes one target, got 2"),
        (1, ["--cache", "y", "--target", "sm_90"], "target: level must be x86-64-v3.*, got sm_90"),
        (1, ["--cache", "/dev/null/below"], "/below: must be able to make the folder, got"),
    ],
)
def test_wrong_arguments_of_tess_compile(files, count, arguments, text):
    done = tess_compile(*files[0][:count], *arguments)
    assert done.returncode == 1 and done.stdout == ""
    assert re.search(text, done.stderr), done.stderr


def test_tess_compile_says_that_the_disk_is_full(files, tmp_path):
    done = with_mount("full", tmp_path, compiling(files[0][0], "--cache", tmp_path))
    assert done.returncode == 1 and "No space left on device" in done.stderr
