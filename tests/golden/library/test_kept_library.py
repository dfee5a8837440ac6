"""A library of operators that an earlier build of Tessera made: loads, or is refused by version."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager

from tests.golden.library import write
from tests.golden.sums import check_sums

FOLDERS = sorted(each for each in Path(__file__).parent.iterdir() if each.name.isdigit())
ABI = ts._core.custom_op_abi()["TESS_CUSTOM_ABI"]
[KEPT] = [folder for folder in FOLDERS if int(folder.name) == ABI]
REFUSED = [str(folder / "brought.so") for folder in FOLDERS if folder != KEPT]
REFUSED += [os.environ["TESS_OTHER"], os.environ["TESS_CLOSED"]]

ops = ts.load_library(KEPT / "brought.so")
X = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)


def both(function):
    """The function itself, and the second call of its trace."""
    compiled = ts.jit.trace(function)

    def traced(*args):
        compiled(*args)
        return compiled(*args)

    return function, traced


@pytest.mark.parametrize("folder", FOLDERS, ids=[each.name for each in FOLDERS])
def test_no_file_changed(folder):
    check_sums(folder)


def test_operators():
    def around(x):
        y, squares = ops.spread(ops.affine(x + 0, 3.0, term=2, sign="minus"), [2])
        return y, squares, ops.affine(x), ops.counted(x)

    for function in both(around):
        y, squares, plain, counted = function(ts.tensor(X))
        np.testing.assert_allclose(y.numpy(), np.repeat(3 * X - 2, 2, 1), rtol=1e-6)
        np.testing.assert_allclose(squares.numpy(), ((3 * X - 2) ** 2).sum(1), rtol=1e-6)
        np.testing.assert_allclose(plain.numpy(), 2 * X + 1, rtol=1e-6)
        assert counted.tolist() == [6.0] * 6


def test_gradients():
    def slopes(x):
        with GradManager().attach([x]) as manager:
            y, squares = ops.spread(ops.affine(x, 3.0), [2], is_negative=True)
            manager.backward((y * 2).sum() + squares.sum())
        return x.grad

    want = 3 * (4 - 2 * (3 * X + 1))
    np.testing.assert_allclose(slopes(ts.Parameter(X)).numpy(), want, rtol=1e-5)


def test_states_and_sizes_of_data():
    calls = F.zeros((), dtype="int64")
    for dtype in ("float32", "int64"):
        numbers = (X * 4).astype(dtype)
        found, runs = ops.above(ts.tensor(numbers, dtype=dtype), calls)
        np.testing.assert_array_equal(found.numpy(), numbers[numbers > 0])
        assert runs.item() == 1
    assert calls.item() == 2
    sizes = {len(ops.above(ts.tensor([1.0, 3.0]), calls, is_training=True)[0]) for _ in range(9)}
    assert sizes <= {1, 2}


def test_inference_both_ways():
    inputs, _, complete = ts._core.infer_custom_op(
        "brought.spread", {"times": [3]}, [None], [("float32", (5, 6))]
    )
    assert complete and inputs == [("float32", (5, 2))]


def test_errors():
    numbers = ts.tensor([1, 2], dtype="int32")
    assert ops.chosen([numbers * 2, numbers], 1).tolist() == [1, 2]
    with pytest.raises(ValueError, match="brought.chosen: number must be one of a value, got 3"):
        ops.chosen([numbers], 3)
    with pytest.raises(RuntimeError, match="brought.chosen: values of int32 alone are copied"):
        ops.chosen([F.ones(2)], 0).numpy()
    with pytest.raises(ValueError, match=r"affine: factor must be in \[0.0, 100.0\], got 200"):
        ops.affine(ts.tensor(X), 200.0)


def test_a_file_in_python():
    loaded = ts.jit.load(KEPT / "brought.tess")
    with np.load(KEPT / "brought.npz") as file:
        found = loaded(**{name: file[f"in/{name}"] for name in loaded.inputs})
        assert loaded.outputs == ["spread", "squares", "above", "counted"]
        for name, result in zip(loaded.outputs, found, strict=True):
            np.testing.assert_array_equal(result.numpy(), file[f"out/{name}"])
    assert set(loaded.inputs) == set(write.inputs())


def test_a_file_in_cpp(tmp_path):
    command = [os.path.abspath(os.environ["TESS_RUN"]), KEPT / "brought.tess"]
    with np.load(KEPT / "brought.npz") as file:
        arrays = {name: file[name] for name in file.files}
    for name, array in arrays.items():
        kind, name = name.split("/")
        np.save(tmp_path / f"{name}.npy", array)
        command += [f"--{kind}put", f"{name}={tmp_path / name}.npy"]
    done = subprocess.run(
        [*command, "--library", KEPT / "brought.so"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in arrays:
        found = np.load(tmp_path / f"{name.split('/')[1]}.npy")
        np.testing.assert_array_equal(found, arrays[name])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode and "library brought (written with version" in done.stderr


@pytest.mark.parametrize("path", REFUSED, ids=[os.path.basename(path) for path in REFUSED])
def test_another_version_is_refused(path):
    message = rf"load_library: a library must .* ABI {ABI}, got (\d+|none) from /.*\.so"
    with pytest.raises(NotImplementedError, match=message):
        ts.load_library(path)
    assert ops.affine(ts.tensor([1.0])).tolist() == [3.0]
