"""Weights are in memory once, and once more where kernels want another layout."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tessera
from tessera import functional, jit

from tests.support.helper import same_bits

MIB = 1 << 20
WEIGHT = 64 * MIB  # bytes of each of the weights below
SLACK = 24 * MIB  # code, compilation, arenas; one more copy of a weight would not fit

# Code by which a process tells of its memory, pages of the file, and the peak since `forget_peak`.
STATUS = """
import json, sys
import numpy as np
import tessera
from tessera import functional, jit

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))

def of_file(path, field):
    total, inside = 0, False
    with open("/proc/self/smaps") as lines:
        for line in lines:
            if "-" in line.split(" ")[0]:
                inside = line.rstrip().endswith(path)
            elif inside and line.startswith(field + ":"):
                total += int(line.split()[1]) << 10
    return total

def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

def called(program, *shape):
    result = program(tessera.tensor(np.ones(shape, "float32")))
    return float(result.numpy().sum())
"""

LOADED = """
path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = json.loads(sys.argv[4])
called(jit.trace(lambda x: x @ functional.ones((8, 8))), 2, 8)  # the compiler is there
own, before = status("RssAnon"), status("VmRSS")
forget_peak()
programs = [jit.load(path, **options)]
called(programs[0], rows, columns)
once = status("RssAnon") - own
programs.append(jit.load(path, **options))
called(programs[1], rows, columns)
print(json.dumps({
    "own": once,
    "twice": status("RssAnon") - own,
    "file": of_file(path, "Rss"),
    "share": of_file(path, "Pss"),
    "peak": status("VmHWM") - before,
}))
"""

TRACED = """
weight = tessera.tensor(np.ones((4096, 4096), "float32"))
x = tessera.tensor(np.ones((2, 4096), "float32"))
own = status("RssAnon")
def function(x):
    return (x + weight[:2]).sum() + (weight * x.sum()).sum()
traced = jit.trace(function, symbolic=True, capture_as_const=True)
for _ in range(3):
    traced(x)
print(json.dumps({"own": status("RssAnon") - own}))
"""


def child(code, *arguments):
    """Facts that a process of its own prints last."""
    command = [sys.executable, "-c", STATUS + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def dumped(path, function, shape, **options):
    traced = jit.trace(function, capture_as_const=True)
    traced(functional.ones(shape))
    traced.dump(path, arg_names=["x"], **options)
    return str(path)


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    """A file with one weight, which a product reads in a layout of its own."""
    weight = tessera.tensor(np.ones((4096, 4096), "float32"))
    path = tmp_path_factory.mktemp("weights") / "products.tess"
    return dumped(
        path, lambda x: functional.matmul(x, weight, transpose_b=True), (8, 4096), targets=["host"]
    )


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    """A file with one weight, which a kernel reads as it is."""
    weight = tessera.tensor(np.ones((4096, 4096), "float32"))
    path = tmp_path_factory.mktemp("weights") / "sums.tess"
    return dumped(path, lambda x: (weight * x.sum()).sum(), (1, 4096), targets=["host"])


@pytest.mark.parametrize("options", [{}, {"allow_code": True}], ids=["graph", "code"])
def test_a_weight_that_is_read_as_it_is_stays_in_the_file(sums, options):
    memory = child(LOADED, sums, 1, 4096, json.dumps(options))
    assert memory["own"] < SLACK
    assert memory["twice"] < SLACK
    assert memory["peak"] < 2 * WEIGHT + SLACK  # each of both mapped
    # Both programs map the same pages.
    assert memory["file"] > 1.9 * WEIGHT and memory["share"] < 1.1 * WEIGHT


@pytest.mark.parametrize("options", [{}, {"allow_code": True}], ids=["graph", "code"])
def test_a_weight_that_was_packed_leaves_the_pages_of_the_file(products, options):
    memory = child(LOADED, products, 8, 4096, json.dumps(options))
    assert memory["own"] < WEIGHT + SLACK
    assert memory["twice"] < 2 * WEIGHT + SLACK
    assert memory["file"] < SLACK
    assert memory["peak"] < 3 * WEIGHT + SLACK  # packed once, packed again from the file


def test_a_captured_weight_stays_where_the_tensor_has_it():
    assert child(TRACED)["own"] < SLACK


def test_a_captured_weight_keeps_its_value_when_its_tensor_is_written():
    weight, x = tessera.tensor(np.arange(4096, dtype="float32")), functional.ones((4096,))
    traced = jit.trace(lambda x: x * weight, capture_as_const=True)
    expected = traced(x).numpy()
    for write in (
        lambda: weight.__setitem__(slice(0, 7), 5.0),
        lambda: weight.__iadd__(1.0),
        lambda: weight.set_value(np.zeros(4096, "float32")),
    ):
        write()
        assert same_bits(traced(x), expected)
    assert not np.array_equal(weight.numpy(), np.arange(4096))


def overwritten(path, change):
    """Writes a file in place, as `cp` does."""
    data = bytearray(path.read_bytes())
    with open(path, "r+b") as file:
        file.write(change(data))


@pytest.mark.parametrize("options", [{}, {"allow_code": True}], ids=["graph", "code"])
def test_a_file_that_is_written_over_is_refused_and_one_that_is_touched_is_not(tmp_path, options):
    weight, path = tessera.tensor(np.arange(4096, dtype="float32")), tmp_path / "f.tess"
    dumped(path, lambda x: x * weight, (4096,), targets=["host"])
    whole, x = path.read_bytes(), functional.ones((4096,))
    program = jit.load(path, **options)
    expected = program(x).numpy()
    os.utime(path, (1, 1))
    assert same_bits(program(x), expected)
    at = whole.index(np.arange(100, 140, dtype="float32").tobytes())
    overwritten(path, lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    os.utime(path, (2, 2))  # clocks of file systems are coarse
    for _ in range(2):
        with pytest.raises(ValueError, match=r"f\.tess: section tensor:t0 must have its checksum"):
            program(x)
    overwritten(path, lambda data: whole)
    os.utime(path, (3, 3))
    assert same_bits(program(x), expected)
    os.truncate(path, 100)
    with pytest.raises(ValueError, match=r"f\.tess: must keep its \d+ bytes .*, got 100$"):
        program(x)


def test_a_file_that_is_replaced_or_removed_serves_programs_that_are_loaded(tmp_path):
    path, x = tmp_path / "f.tess", functional.ones((4096,))
    weights = [tessera.tensor(np.arange(4096, dtype="float32") + i) for i in range(2)]
    dumped(path, lambda x: x * weights[0], (4096,))
    program = jit.load(path)
    expected = program(x).numpy()
    dumped(path, lambda x: x * weights[1], (4096,))
    assert same_bits(program(x), expected)
    again = jit.load(path)
    path.unlink()
    assert same_bits(program(x), expected) and not same_bits(again(x), expected)
