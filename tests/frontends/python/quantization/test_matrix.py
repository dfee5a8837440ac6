"""Bit equality: every quantized operator, at each level of processors, by one to three threads,
eagerly, traced and from a file, beside plain NumPy.
"""

import contextlib

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, jit
from tessera.dtype import qint8, qint8_narrow, quint8
from tessera.functional import quantized as Q  # noqa: N812

from tests.records.oracles import quantized as oracle

LEVELS = ("x86-64-v4+avx512bf16", "x86-64-v4+avx512vnni", "x86-64-v4", "x86-64-v3")
SIGNED, UNSIGNED, OUT = qint8(0.04), quint8(0.03, 117), qint8(0.11)
X = np.random.RandomState(3).standard_normal((2, 24, 9, 10)).astype(np.float32)
W = np.random.RandomState(4).standard_normal((20, 24, 3, 3)).astype(np.float32) * 0.2
BIAS = np.random.RandomState(5).standard_normal(20).astype(np.float32)
SCALES = np.linspace(0.004, 0.009, 20).astype(np.float32)
GEOMETRY = ([1, 1], [1, 1], [1, 1], 1)


def tensor(array, dtype):
    return tessera.tensor(array).astype(dtype)


def stored(array, dtype):
    scale, zero = dtype
    return oracle.quantize(array, scale, zero, "int8" if zero == 0 else "uint8") - zero


def result(y, scale=0.11):
    """The integers of the result."""
    return oracle.quantize(y.astype(np.float32), np.float32(scale), 0, "int8")


def scaled(sums, scale, bias, axes):
    limited = np.clip(oracle.quantize(bias, scale, 0, "int32"), -(2**30), 2**30)
    shape = (-1, *[1] * axes)
    return (sums + limited.reshape(shape)).astype(np.float32) * np.reshape(scale, shape)


def conv_case():
    x = stored(X, (0.03, 117))
    weight = oracle.quantize(W, SCALES.reshape(-1, 1, 1, 1), 0, "qint8_narrow")
    y = scaled(oracle.integer_conv(x, weight, 0, *GEOMETRY), np.float32(0.03) * SCALES, BIAS, 2)
    residual = stored(X[:, :20], (0.04, 0)).astype(np.float32) * np.float32(0.04)
    operands = (tensor(X, UNSIGNED), tensor(W, qint8_narrow(SCALES.tolist(), axis=0)),
                tessera.tensor(BIAS.reshape(1, -1, 1, 1)), tensor(X[:, :20], SIGNED))  # fmt: skip
    return (lambda x, w, b, z: Q.conv2d(x, w, b, OUT, 1, 1, nonlinear_mode="relu", residual=z),
            operands, result(np.maximum(y + residual, 0)))  # fmt: skip


def linear_case():
    rows, weight = X.reshape(-1, 10), W.reshape(20, -1)[:, :10]
    sums = stored(rows, (0.04, 0)) @ oracle.quantize(weight, 0.008, 0, "qint8_narrow").T
    y = scaled(sums, np.float32(0.04) * np.float32(0.008), BIAS, 0)
    operands = (tensor(rows, SIGNED), tensor(weight, qint8_narrow(0.008)), tessera.tensor(BIAS))
    return lambda x, w, b: Q.linear(x, w, b, OUT), operands, result(y)


def matmul_case():
    x, y = X[:, :6], X[:, 6:12]
    sums = stored(x, (0.03, 117)) @ stored(y, (0.03, 117)).swapaxes(-1, -2)
    wanted = result(sums.astype(np.float32) * (np.float32(0.03) * np.float32(0.03)))
    operands = tensor(x, UNSIGNED), tensor(y, UNSIGNED)
    return lambda x, y: Q.matmul(x, y, OUT, transpose_b=True), operands, wanted


def transposed_case():
    x, weight = stored(X, (0.04, 0)), oracle.quantize(W[:, :20].swapaxes(0, 1), 0.008, 0, "int8")
    weight = np.concatenate([weight, weight[:4]])
    geometry = ([2, 1], [1, 0], [1, 1], 1, [1, 0])
    sums = oracle.integer_conv_transpose(x, weight, 0, *geometry)
    wanted = result(sums.astype(np.float32) * (np.float32(0.04) * np.float32(0.008)))
    given = tessera.tensor(weight.astype(np.int8), dtype=qint8(0.008))
    return (lambda x, w: Q.conv_transpose2d(x, w, None, OUT, (2, 1), (1, 0), (1, 0)),
            (tensor(X, SIGNED), given), wanted)  # fmt: skip


def floats(array, dtype):
    scale, zero = dtype
    return stored(array, dtype).astype(np.float32) * np.float32(scale)


def elemwise_case():
    y = np.maximum(floats(X, (0.04, 0)) + floats(-X, (0.03, 117)), 0)
    operands = tensor(X, SIGNED), tensor(-X, UNSIGNED)
    return lambda x, y: Q.elemwise("QFUSE_ADD_RELU", x, y, dtype=OUT), operands, result(y)


def concat_case():
    parts = [result(floats(X, (0.04, 0))), result(floats(X, (0.03, 117)))]
    operands = tensor(X, SIGNED), tensor(X, UNSIGNED)
    return lambda x, y: Q.concat([x, y], 1, OUT), operands, np.concatenate(parts, 1)


def pool_case():
    corners = [stored(X, (0.04, 0))[..., i:8:2, j::2] for i in (0, 1) for j in (0, 1)]
    return lambda x: F.max_pool2d(x, 2), (tensor(X, SIGNED),), np.maximum.reduce(corners)


def requantized_case():
    wanted = result(floats(X, (0.03, 117)))
    return lambda x: Q.requantize(x, OUT), (tensor(X, UNSIGNED),), wanted


def moved_case():
    wanted = stored(X, (0.04, 0))[::-1, :, 1:].swapaxes(1, 2)
    return lambda x: F.swapaxes(x[::-1, :, 1:], 1, 2), (tensor(X, SIGNED),), wanted


def embedding_case():
    rows = X.reshape(-1, 10)
    operands = tessera.tensor([3, 0, 431]), tensor(rows, SIGNED)
    return Q.embedding, operands, stored(rows, (0.04, 0))[[3, 0, 431]]


def simulated_case():
    x, weight = stored(X, (0.03, 117)), oracle.quantize(W, 0.008, 0, "int8")
    scale = np.float32(0.03) * np.float32(0.008)
    y = scaled(oracle.integer_conv(x, weight, 0, *GEOMETRY), scale, BIAS, 2)
    operands = tessera.tensor(X), tessera.tensor(W), tessera.tensor(BIAS)
    return (lambda x, w, b: Q.simulated_conv2d(x, w, 0.03, 117, 0.008, b, "uint8", padding=[1, 1]),
            operands, y)  # fmt: skip


def grid_case():
    return (lambda x: F.fake_quant(x, 0.03, 117, qmin=0.0, qmax=255.0), (tessera.tensor(X),),
            oracle.fake_quant(X, 0.03, 117, 0, 255))  # fmt: skip


CASES = {
    function.__name__.removesuffix("_case"): function
    for function in (conv_case, linear_case, matmul_case, transposed_case, elemwise_case,
                     concat_case, pool_case, requantized_case, moved_case, embedding_case,
                     simulated_case, grid_case)
}  # fmt: skip


@contextlib.contextmanager
def machine(level, threads):
    before = _core.get_product_level(), config.get_num_threads()
    _core.set_product_level(level)
    config.set_num_threads(threads)
    try:
        yield
    finally:
        _core.set_product_level(before[0])
        config.set_num_threads(before[1])


def check(got, wanted, where):
    numbers = got.numpy().view(np.ndarray)
    assert numbers.dtype.itemsize in (1, 4) and len(np.unique(wanted)) > 3, where
    np.testing.assert_array_equal(numbers, wanted.astype(numbers.dtype), str(where))


@pytest.mark.parametrize("name", CASES)
def test_bits(name, tmp_path):
    function, operands, wanted = CASES[name]()
    call = jit.trace(function, capture_as_const=True)
    call(*operands)
    path = str(tmp_path / "case.tess")
    names = [f"x{i}" for i in range(len(operands))]
    call.dump(path, arg_names=names, targets=["host", "x86-64-v3"])
    for level in LEVELS:
        for threads in (1, 2, 3):
            with machine(level, threads):
                where = name, level, threads
                check(function(*operands), wanted, (*where, "eager"))
                check(jit.trace(function)(*operands), wanted, (*where, "traced"))
                loaded = jit.load(path, allow_code=True)
                check(loaded(**dict(zip(names, operands, strict=True))), wanted, (*where, "file"))


@pytest.mark.parametrize("name", CASES)
def test_bits_of_avx2_code(name, tmp_path):
    function, operands, wanted = CASES[name]()
    call = jit.trace(function, capture_as_const=True)
    call(*operands)
    path = str(tmp_path / "case.tess")
    names = [f"x{i}" for i in range(len(operands))]
    call.dump(path, arg_names=names, targets=["x86-64-v3"])
    for threads in (1, 3):
        with machine("x86-64-v3", threads):
            loaded = jit.load(path, allow_code=True)
            check(loaded(**dict(zip(names, operands, strict=True))), wanted, (name, threads))
