"""Every dtype in every mode, and what is particular to unsigned integers."""

import io
import os
import subprocess

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, jit

from tests.python.helper import loaded, same_bits

ALL = list(_core.dtype_table().values())
UNSIGNED = ("uint16", "uint32", "uint64")
FOREIGN = {"bfloat16": np.uint16}


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if name in FOREIGN else name)


def numbers(name, *shape, seed=0):
    """Numbers that every dtype but bool has exactly."""
    random = np.random.RandomState(seed)
    return random.randint(0, 8, shape).astype(numpy_dtype(name))


def moved(x):
    """What only moves elements, through views, kernels and the loops of the runtime."""
    turned = F.concat([F.transpose(x, (1, 0))[::-1], F.zeros((1, x.shape[0]), dtype=x.dtype)], 0)
    picked = turned[np.array([0, 2, -1])]
    return F.where(picked == picked, picked, F.copy(picked)), F.repeat(x, 2, 1), F.roll(x, 1, 0)


def by_tool(path, arrays, outputs, folder):
    """The results of tess-run, as the bits that its files have."""
    command = [os.environ["TESS_RUN"], path]
    for name, array in arrays.items():
        stored = FOREIGN.get(array.dtype.name)
        np.save(folder / f"{name}.npy", array.view(stored) if stored else array)
        command += ["--input", f"{name}={folder / name}.npy"]
    for name in outputs:
        command += ["--output", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / f"{name}.npy") for name in outputs]


@pytest.mark.parametrize("name", ALL)
def test_every_dtype_moves_alike_in_every_mode(name, tmp_path):
    array = numbers(name, 3, 4)
    x = tessera.Tensor(array, dtype=name)
    eager = moved(x)
    traced = jit.trace(moved, capture_as_const=True)
    assert same_bits(traced(x), eager) and same_bits(traced(x), eager)
    assert same_bits(loaded(traced, 1)(x), eager)
    path = str(tmp_path / "f.tess")
    traced.dump(path, arg_names=["x0"], output_names=["a", "b", "c"])
    for got, want in zip(by_tool(path, {"x0": array}, "abc", tmp_path), eager, strict=True):
        assert got.tobytes() == want.numpy().tobytes()
        assert got.dtype == FOREIGN.get(name, want.dtype)


@pytest.mark.parametrize("name", ALL)
def test_every_dtype_goes_to_numpy_dlpack_and_files(name):
    array = numbers(name, 2, 3)
    x = tessera.Tensor(array, dtype=name)
    assert x.dtype == numpy_dtype(name) and x.dtype == name
    assert x.numpy().dtype == array.dtype and x.numpy().tobytes() == array.tobytes()
    assert x[1, 2].item() == array[1, 2].item() and f"dtype={name}" in repr(x)
    again = tessera.Tensor._from_dlpack(x)
    assert again.dtype == name and same_bits(again, x)
    file = io.BytesIO()
    tessera.save({"x": x, "array": array}, file)
    file.seek(0)
    back = tessera.load(file)
    assert back["x"].dtype == name and same_bits(back["x"], x)
    assert back["array"].dtype == array.dtype and back["array"].tobytes() == array.tobytes()


@pytest.mark.parametrize("name", [d for d in ALL if d not in FOREIGN])
def test_numpy_reads_the_memory_of_every_dtype_that_it_has(name):
    x = tessera.Tensor(numbers(name, 5), dtype=name)
    assert np.from_dlpack(x).dtype == name and same_bits(np.from_dlpack(x), x)


# Unsigned integers.


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_reach_their_ends(name):
    info = np.iinfo(name)
    x = tessera.Tensor([0, 1, info.max], dtype=name)
    assert x.tolist() == [0, 1, info.max] and x[2].item() == info.max
    assert (x + 1).tolist() == [1, 2, 0] and (x - 1).tolist() == [info.max, 0, info.max - 1]
    assert (-x).tolist() == [0, info.max, 1] and (~x).tolist() == [info.max, info.max - 1, 0]
    assert (x > 1).tolist() == [False, False, True] and x.max().item() == info.max
    assert (x // 2).tolist() == [0, 0, info.max // 2] and (x % 10).tolist()[2] == info.max % 10
    assert (x >> 1).tolist() == [0, 0, info.max >> 1]
    assert F.argmax(x).item() == 2 and F.sort(x, descending=True)[0].tolist() == [info.max, 1, 0]
    assert x.astype("float64").tolist() == [0, 1, float(info.max)]
    assert tessera.Tensor([-1.0, 2.9, 1e30, np.nan]).astype(name).tolist() == [0, 2, info.max, 0]
    with pytest.raises(IndexError, match=f"add: a number must fit its dtype u{info.bits}, got -1"):
        x + -1


def test_uint64_holds_what_no_int64_holds():
    x = tessera.Tensor(2**63 + 5, dtype="uint64")
    assert x.item() == 2**63 + 5 and (x // 3).item() == (2**63 + 5) // 3
    assert np.array(x) == np.uint64(2**63 + 5) and int(x) == 2**63 + 5
    with pytest.raises(ValueError, match="tensor: an int must fit its dtype"):
        tessera.Tensor(2**64, dtype="uint64")


def test_uint64_and_a_signed_integer_have_no_common_dtype():
    x, y = tessera.Tensor([1], dtype="uint64"), tessera.Tensor([2], dtype="int64")
    for call in (lambda: x + y, lambda: F.concat([y, x]), lambda: F.where(x > 0, x, y)):
        with pytest.raises(TypeError, match="must have a common dtype, got (u64 and i64|i64 and)"):
            call()
    assert (x + 1).dtype == "uint64" and (x + y.astype("uint64")).tolist() == [3]


def test_unsigned_integers_index():
    x = tessera.Tensor([10, 20, 30])
    for name in ("uint8", *UNSIGNED):
        assert x[tessera.Tensor([2, 0], dtype=name)].tolist() == [30, 10]
