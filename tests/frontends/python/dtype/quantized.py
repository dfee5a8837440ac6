"""Quantized and low-bit dtypes, numbers for them, and what NumPy makes of both."""

import numpy as np
from tessera import _core
from tessera.dtype import (
    intb1,
    intb2,
    intb4,
    is_dtype_equal,
    is_lowbit,
    qint1,
    qint4,
    qint8,
    qint8_narrow,
    qint32,
    quint4,
    quint8,
)

from tests.records.oracles import oracle

KINDS = {
    "qint8": qint8(0.1),
    "qint8_narrow": qint8_narrow(0.1),
    "quint8": quint8(0.05, 130),
    "qint32": qint32(1e-7),
    "qint4": qint4(0.5),
    "quint4": quint4(0.3, 7),
    "qint1": qint1(1.5),
}
CHANNELS = {
    "qint8": qint8([0.1, 0.02, 0.7], axis=1),
    "quint8": quint8([0.05, 0.5, 0.01], [130, 0, 255], axis=1),
    "qint4": qint4([0.5, 0.1, 1.0], axis=1),
}
LOW_BIT = {"intb1": intb1, "intb2": intb2, "intb4": intb4}
ALL = {**KINDS, **{f"{kind} by channel": dtype for kind, dtype in CHANNELS.items()}}


def numbers(*shape, seed=0):
    """Numbers around the ends and around halves of steps."""
    random = np.random.RandomState(seed)
    ends = random.choice(
        [0.05, 0.15, -0.25, 1.0, -2.5, 20.0, -13.0, 1e9, -1e30, np.inf, 0.0], shape
    )
    near = random.uniform(-3, 3, shape)
    return np.where(random.rand(*shape) < 0.3, ends, near).astype(np.float32)


def parameters(dtype, rank):
    """Scale and zero point as arrays that broadcast to a tensor of that rank."""
    kind, scale, zero_point, axis = _core.quantization(dtype)
    shape = [] if axis is None else [-1] + [1] * (rank - axis - 1)
    return kind, *(np.reshape(np.asarray(each or 0), shape) for each in (scale, zero_point))


def quantized(array, dtype):
    if is_lowbit(dtype):
        return oracle.odd(array, _core.described_name(dtype)).astype(dtype)
    kind, scale, zero_point = parameters(dtype, array.ndim)
    return oracle.quantize(array, scale, zero_point, kind).astype(dtype)


def dequantized(array, dtype):
    if is_lowbit(dtype):
        return array.astype(np.float32)
    _, scale, zero_point = parameters(dtype, array.ndim)
    return oracle.dequantize(array, scale, zero_point)


def same(got, want):
    """Both are tensors or arrays of one dtype, shape and bits, with the same parameters."""
    got, want = (
        np.asarray(each.numpy() if hasattr(each, "numpy") else each) for each in (got, want)
    )
    assert is_dtype_equal(got.dtype, want.dtype), (got.dtype.metadata, want.dtype.metadata)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)
