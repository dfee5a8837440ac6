"""Oracles of integer sums and of simulated quantization (docs/reference/quantized.md)."""

import numpy as np

from tests.records.oracles.window import conv, conv_transpose

LIMITS = {"qint8": (-128, 127), "qint8_narrow": (-127, 127), "quint8": (0, 255), "qint4": (-8, 7),
          "quint4": (0, 15), "qint1": (0, 1), "qint32": (-(2**31), 2**31 - 1)}  # fmt: skip
BIAS_END = 2**30


def _limits(dtype):
    kind = dtype.partition("<")[0]
    return LIMITS[kind] if kind in LIMITS else (np.iinfo(kind).min, np.iinfo(kind).max)


def _stored(x, scale, zero_point, low, high):
    """A float32 quotient, halves away from zero; NaN is the integer 0."""
    with np.errstate(all="ignore"):
        ratio = (np.float32(x) / np.float32(scale)).astype(np.float64)
    rounded = np.sign(ratio) * np.floor(np.abs(ratio) + 0.5) + zero_point
    return np.nan_to_num(np.clip(rounded, low, high), nan=0.0)


def quantize(x, scale, zero_point, dtype):
    """The stored integers of numbers."""
    return _stored(x, scale, zero_point, *_limits(dtype))


def dequantize(x, scale, zero_point):
    """Numbers that stored integers stand for."""
    return (x.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)


def fake_quant(x, scale, zero_point, qmin, qmax):
    """Numbers on the grid."""
    return dequantize(_stored(x, scale, zero_point, qmin, qmax), scale, zero_point)


def _centred(x, zero):
    return x.astype(np.int64) - (0 if zero is None else np.int64(zero))


def integer_matmul(x, y, x_zero, y_zero, transpose_x, transpose_y):
    """The matrix product in int64."""
    x, y = _centred(x, x_zero), _centred(y, y_zero)
    return (x.swapaxes(-1, -2) if transpose_x else x) @ (y.swapaxes(-1, -2) if transpose_y else y)


def integer_conv(x, weight, x_zero, *geometry):
    """The convolution in float64, which is exact far beyond int32."""
    return conv(_centred(x, x_zero).astype(np.float64), weight.astype(np.float64), *geometry)


def integer_conv_transpose(x, weight, x_zero, *geometry):
    """The transposed convolution, in the same way."""
    whole = _centred(x, x_zero).astype(np.float64), weight.astype(np.float64)
    return conv_transpose(*whole, *geometry)


def _along(values, axis, rank):
    return values.reshape([-1 if i == axis else 1 for i in range(rank)]) if values.ndim else values


def _simulated(sums, operands, bias, dtype, axis, weight_axis):
    """Steps 1 to 3: `sums` of the integers of x and weight, whose channels are along these axes."""
    x, weight, x_scale, x_zero, weight_scale = operands
    integers = quantize(x, x_scale, x_zero, dtype)
    weights = quantize(weight, _along(weight_scale, weight_axis, weight.ndim), 0, "int8")
    total = sums(integers - (x_zero if dtype == "uint8" else 0), weights)
    scale = np.float32(x_scale) * np.float32(weight_scale)
    if bias is not None:
        stored = np.clip(quantize(bias, scale, 0, "int32"), -BIAS_END, BIAS_END)
        total = total + _along(stored, axis, total.ndim)
    return total.astype(np.float32) * _along(scale, axis, total.ndim)


def simulated_linear(x, weight, x_scale, x_zero, weight_scale, bias, dtype):
    """linear by integers."""
    rows = np.atleast_2d(x)
    out = _simulated(lambda a, b: a @ b.T, (rows, weight, x_scale, x_zero, weight_scale), bias,
                     dtype, rows.ndim - 1, 0)  # fmt: skip
    return out[0] if x.ndim == 1 else out


def simulated_matmul(x, y, x_scale, x_zero, y_scale, y_zero, dtype, y_dtype, *transposed):
    """matmul by integers."""
    x, y = quantize(x, x_scale, x_zero, dtype), quantize(y, y_scale, y_zero, y_dtype)
    if "uint8" in (dtype, y_dtype):
        x, y = x - x_zero, y - y_zero
    sums = integer_matmul(x, y, None, None, *transposed)
    return sums.astype(np.float32) * (np.float32(x_scale) * np.float32(y_scale))


def simulated_conv(x, weight, x_scale, x_zero, weight_scale, bias, dtype, *geometry):
    """A convolution by integers."""
    return _simulated(lambda a, b: conv(a, b, *geometry),
                      (x, weight, x_scale, x_zero, weight_scale), bias, dtype, 1, 0)  # fmt: skip


def simulated_conv_transpose(x, weight, x_scale, x_zero, weight_scale, bias, dtype, *geometry):
    """A transposed convolution by integers."""
    return _simulated(lambda a, b: conv_transpose(a, b, *geometry),
                      (x, weight, x_scale, x_zero, weight_scale), bias, dtype, 1, 1)  # fmt: skip


def _nibbles(weight, count):
    """Numbers of four bits, the first of each byte in its lower half."""
    stored = weight.astype(np.int64) & 255
    numbers = np.stack([stored & 15, stored >> 4], -1).reshape(len(weight), -1)[:, :count]
    return np.where(numbers < 8, numbers, numbers - 16)


def int8_rows(x):
    """The integers of each row, by its largest absolute value, and the scales of rows."""
    x = x.astype(np.float32)
    largest = np.nan_to_num(np.abs(x), nan=0.0, posinf=np.inf).max(-1, initial=0, keepdims=True)
    scale = largest / np.float32(127)
    scale = np.where(scale < np.finfo(np.float32).tiny, np.float32(1), scale)
    return _stored(x, scale, 0, -127, 127), scale


def weight_only_linear(x, weight, scale, bias, bits, group, activations):
    """linear by the weight that the numbers and scales stand for, in float64."""
    depth = x.shape[-1]
    numbers = _nibbles(weight, depth) if bits == 4 else weight.astype(np.int64)
    scales = np.repeat(scale, group, 1)[:, :depth] if group else scale[:, None]
    rows, of_rows = int8_rows(x) if activations == "int8" else (x.astype(np.float64), 1)
    out = rows @ (numbers * scales.astype(np.float64)).T * of_rows
    return out if bias is None else out + bias


def quantized_conv(operands, residual, geometry, activation, dtype):
    """Steps 1 to 6 of docs/reference/quantized.md, by functions of above."""
    x, weight, x_scale, x_zero, weight_scale, out_scale, out_zero, bias = operands
    scale = np.broadcast_to(np.float32(x_scale) * np.float32(weight_scale), weight.shape[:1])
    stored = np.clip(quantize(bias, scale, 0, "int32"), -BIAS_END, BIAS_END)
    total = integer_conv(x, weight, x_zero, *geometry) + _along(stored, 1, 4)
    y = total.astype(np.float32) * _along(scale, 1, 4)
    if residual[0] is not None:
        y = y + dequantize(*residual)
    if activation == "relu":
        y = np.maximum(y, np.float32(0))
    if activation == "hswish":
        y = y * np.clip(y + np.float32(3), 0, 6) / np.float32(6)
    return quantize(y, out_scale, out_zero, dtype)
