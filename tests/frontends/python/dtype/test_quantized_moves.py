"""Quantized and low-bit tensors in motion: views, kernels, programs, every mode, and files."""

import copy
import io
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, jit
from tessera.dtype import get_scale, is_dtype_equal, qint8, quint8

from tests.frontends.python.dtype.quantized import (
    ALL,
    CHANNELS,
    KINDS,
    LOW_BIT,
    dequantized,
    numbers,
    quantized,
    same,
)
from tests.support.helper import loaded

ONE_SCALE = {**KINDS, **LOW_BIT}
EVERY = {**ALL, **LOW_BIT}

TESS_RUN = Path("tools/tess-run").absolute()  # of the runfiles, where tests start

# What moves elements.


def moved(x):
    """What keeps a scale for the whole tensor, through views, kernels and programs."""
    turned = F.transpose(x, (1, 0))[::-1]
    picked = turned[np.array([0, 2, -1])]
    mask = picked.astype("bool")
    joined = F.concat([F.where(mask, picked, F.copy(picked)), picked[:, :1]], 1)
    return (joined, F.repeat(x, 2, 1), F.roll(x, 1, 0), F.stack([x, x], 1), F.split(x, 2, 0)[1],
            x.reshape(-1)[1:5], F.broadcast_to(x[:1], x.shape), x[x.astype("bool")])  # fmt: skip


def numpy_moved(x):
    turned = x.T[::-1]
    picked = turned[[0, 2, -1]]
    return (np.concatenate([picked, picked[:, :1]], 1), np.repeat(x, 2, 1), np.roll(x, 1, 0),
            np.stack([x, x], 1), np.split(x, 2, 0)[1], x.reshape(-1)[1:5],
            np.broadcast_to(x[:1], x.shape), x)  # fmt: skip


@pytest.mark.parametrize("name", ONE_SCALE)
def test_one_scale_goes_with_what_moves(name):
    dtype = ONE_SCALE[name]
    q = tessera.tensor(numbers(4, 3)).astype(dtype)
    want = numpy_moved(q.numpy())
    want = (*want[:-1], q.numpy()[dequantized(q.numpy(), dtype) != 0])
    for got, each in zip(moved(q), want, strict=True):
        same(got, each.astype(dtype))
    target = F.copy(q)
    target[1:3] = q[:2]
    assert is_dtype_equal(target.dtype, dtype) and (target.numpy()[1:3] == q.numpy()[:2]).all()
    target[0] = 1  # a number, as in tensor(1, dtype=dtype)
    same(target[0], quantized(np.full(3, 1, np.float32), dtype))


def test_channels_go_with_their_axis():
    dtype = CHANNELS["quint8"]
    q = tessera.tensor(numbers(2, 3, 4), dtype=dtype)
    wide = q.astype("float32").numpy()
    for view, want, axis in (
        (lambda x: F.transpose(x, (1, 2, 0)), wide.transpose(1, 2, 0), 0),
        (lambda x: F.swapaxes(x, 1, 2), wide.swapaxes(1, 2), 2),
        (lambda x: x[:, :, 1:3], wide[:, :, 1:3], 1),
        (lambda x: x[0], wide[0], 0),
        (lambda x: x[:, None], wide[:, None], 2),
        (lambda x: x.reshape(2, 3, 2, 2), wide.reshape(2, 3, 2, 2), 1),
        (lambda x: x.reshape(1, 2, 3, 4), wide.reshape(1, 2, 3, 4), 2),
        (lambda x: F.broadcast_to(x, (5, 2, 3, 4)), np.broadcast_to(wide, (5, 2, 3, 4)), 2),
        (F.copy, wide, 1),
        (lambda x: F.concat([x, x], 2), np.concatenate([wide, wide], 2), 1),
    ):
        for got in (view(q), view(q)):  # the second one by what the first left in caches
            assert _core.quantization(got.dtype)[3] == axis
            np.testing.assert_array_equal(got.astype("float32").numpy(), want)
    other = tessera.tensor(numbers(2, 3, 4), dtype=quint8([1, 2, 3], [0, 0, 0], axis=1))
    assert get_scale(F.swapaxes(other, 1, 2).dtype) == [
        1.0,
        2.0,
        3.0,
    ]  # of its own, not of the cache


def _put(x, value):
    """Whose channels are along another axis than those of x."""
    target = F.copy(x)
    target[0] = value
    return target


KEEP = "{} must keep the axis of its channels whole and in order, got "


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.reshape(-1), ValueError, "reshape: x must keep the axis of its channels"),
        (lambda x: x[:, ::-1], ValueError, "slice: x must keep the axis of its channels"),
        (lambda x: x[:, :2], ValueError, "slice: axis 1 must have a scale for each index, got 3"),
        (lambda x: x[:, 0], ValueError, "slice: "),
        (lambda x: F.flatten(x, 1), ValueError, "flatten: x must keep the axis of its channels"),
        (lambda x: F.concat([x, x], 1), ValueError, "concat: axis 1 must have a scale for each"),
        (lambda x: F.roll(x, 1, 1), ValueError, KEEP.format("roll: x")),
        (lambda x: F.split(x, 3, 1), ValueError, KEEP.format("split: x")),
        (lambda x: F.repeat(x, 2, 1), ValueError, KEEP.format("repeat: x")),
        (lambda x: F.tile(x, (1, 2, 1)), ValueError, KEEP.format("tile: x")),
        (lambda x: F.gather(x, 1, F.zeros((2, 1, 4), dtype="int32")), ValueError,
         KEEP.format("gather: x")),
        (lambda x: F.scatter(x, 1, F.zeros((2, 3, 4), dtype="int32"), x), ValueError,
         KEEP.format("scatter: x")),
        (lambda x: _put(x, x[0]), ValueError, "cast: axis 1 must have a scale for each index, got"),
        (lambda x: x[:, np.array([0, 1])], ValueError, KEEP.format("index_get: x")),
        (lambda x: x[F.ones((2, 3), dtype="bool")], ValueError, KEEP.format("mask_get: x")),
        (lambda x: F.indexing_one_hot(x, F.zeros((2, 4), dtype="int32"), 1), ValueError,
         KEEP.format("indexing_one_hot: x")),
        (lambda x: F.scan(lambda h, y: (h, y), x[0], F.swapaxes(x, 0, 1)), ValueError,
         "scan: xs must not have their channels along the axis of the trips, got qint8@0<"),
    ],
)  # fmt: skip
def test_channels_that_would_mix_are_refused(call, error, text):
    q = tessera.tensor(numbers(2, 3, 4), dtype=CHANNELS["qint8"])
    with pytest.raises(error, match=f"^{text}"):
        call(q)
    assert call(q.astype("float32")) is not None  # which is what the message says


# Every mode.


def converted(x, q):
    """Constants, arguments and results that are quantized, and conversions both ways."""
    constant = tessera.tensor(quantized(np.float32([[1.0, -2.0, 0.3]]), converted.dtype))
    y = x.astype(converted.dtype)
    both = F.concat([y, q, constant], 0)
    return both, both.astype("float32") * 2, F.transpose(y, (1, 0)), F.copy(q)


def in_every_mode(function, arguments, folder, outputs):
    """The results: eager, of both calls of a trace, of a file."""
    eager = function(*arguments)
    traced = jit.trace(function, capture_as_const=True)
    for results in (
        traced(*arguments),
        traced(*arguments),
        loaded(traced, len(arguments))(*arguments),
    ):
        for got, want in zip(results, eager, strict=True):
            same(got, want)
    path = folder / "f.tess"
    traced.dump(str(path), arg_names=[f"x{i}" for i in range(len(arguments))], output_names=outputs)
    return eager, path


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
@pytest.mark.parametrize("name", EVERY)
def test_every_mode(name, device, tmp_path):
    converted.dtype = EVERY[name]
    x = tessera.tensor(numbers(4, 3), device=device)
    q = tessera.tensor(numbers(2, 3, seed=1), device=device).astype(EVERY[name])
    tessera.set_default_device(device)
    try:
        eager, path = in_every_mode(converted, [x, q], tmp_path, list("abcd"))
    finally:
        tessera.set_default_device("cpu0")
    command = [TESS_RUN, path] + (["--device", "sim0"] if device == "sim0" else [])
    if device == "cpu0":
        by_tool(command, {"x0": x, "x1": q}, eager, tmp_path)


def by_tool(command, arguments, eager, folder):
    """tess-run takes and gives what is stored."""
    for key, value in arguments.items():
        np.save(folder / f"{key}.npy", value.numpy())
        command += ["--input", f"{key}={folder / key}.npy"]
    for key in "abcd":
        command += ["--output", f"{key}={folder / key}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    for key, want in zip("abcd", eager, strict=True):
        got = np.load(folder / f"{key}.npy")
        assert got.dtype == want.numpy().dtype and got.tobytes() == want.numpy().tobytes()


def test_a_trace_knows_dtypes_apart():
    traced = jit.trace(lambda x: x.astype("float32"), capture_as_const=True)
    for scale in (0.5, 0.25, 0.5, 0.25):
        q = tessera.tensor(np.array([4], np.int8), dtype=qint8(scale))
        assert traced(q).tolist() == [4 * scale]


def test_a_file_wants_the_scale_it_was_dumped_with():
    traced = jit.trace(lambda x: x.astype("float32"), capture_as_const=True)
    traced(tessera.tensor([1.0], dtype=qint8(0.5)))
    program = loaded(traced, 1)
    with pytest.raises(TypeError, match=r"input x0 must be qint8<0.5>\[.*\], got qint8<0.25>\[1\]"):
        program(tessera.tensor([1.0], dtype=qint8(0.25)))
    assert program(tessera.tensor([1.0], dtype=qint8(0.5))).tolist() == [1.0]


@pytest.mark.parametrize("name", EVERY)
def test_copies_pickles_and_files(name, tmp_path):
    q = tessera.tensor(numbers(2, 3)).astype(EVERY[name])
    q.name = "weight"
    for again in (copy.copy(q), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        same(again, q)
        assert again.name == "weight"
    file = io.BytesIO()
    tessera.save({"q": q, "list": [q]}, file)
    file.seek(0)
    back = tessera.load(file)
    same(back["q"], q)
    assert back["list"][0] is back["q"] and is_dtype_equal(back["q"].dtype, EVERY[name])
    tessera.save(q, tmp_path / "q.ckpt")
    same(tessera.load(tmp_path / "q.ckpt", mmap=True), q)
    parameter = tessera.Parameter(q)
    same(pickle.loads(pickle.dumps(parameter)), q)


def test_a_thousand_scales_share_one_kernel():
    x = tessera.tensor([1.0, 2.0])
    x.astype(qint8(0.75)).astype("float32").numpy()
    before = tessera.cache_stats()
    for i in range(1, 50):
        assert x.astype(qint8(0.01 * i)).astype("float32").numpy().shape == (2,)
    after = tessera.cache_stats()
    assert after["compilations"] == before["compilations"]
