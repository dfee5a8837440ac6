"""Operators of one element from one of each operand."""

import functools
import math

import numpy as np

from ..._core import ops as _ops
from ..registry import importer
from ..values import FEW_BITS, dtype_of, element_type_of


def is_float(x):
    """Whether the dtype of a tensor is one of floats."""
    return x.dtype.kind == "f" or x.dtype.name == "bfloat16"


def constant_like(x, value):
    """A tensor of rank 0 with the dtype of `x`."""
    return _ops.full([], value, x.dtype.name)


def cast(x, dtype):
    """`x`, or a copy with another dtype."""
    return x if x.dtype.name == dtype else _ops.astype(x, dtype)


@importer("Max")
def _max(node, *values):
    return functools.reduce(_ops.maximum, values)


@importer("Min")
def _min(node, *values):
    return functools.reduce(_ops.minimum, values)


@importer("Sum")
def _sum(node, *values):
    return functools.reduce(_ops.add, values)


@importer("Mean")
def _mean(node, *values):
    return functools.reduce(_ops.add, values) / constant_like(values[0], len(values))


def truncated_quotient(x, y):
    """The quotient of integers, towards zero."""
    if x.dtype.kind == "u":
        return _ops.floor_div(x, y)
    quotient = _ops.floor_div(_ops.abs(x), _ops.abs(y))
    return quotient * _ops.sign(x) * _ops.sign(y)


@importer("Div")
def _div(node, x, y):
    return _ops.div(x, y) if is_float(x) or x.dtype.kind == "c" else truncated_quotient(x, y)


@importer("Pow")
def _pow(node, x, y):
    """The result has the dtype of x, whatever that of y."""
    dtype = x.dtype.name
    if is_float(x):
        return _ops.pow(x, cast(y, dtype))
    return cast(_ops.pow(cast(x, "float64"), cast(y, "float64")), dtype)


@importer("Mod")
def _mod(node, x, y):
    if not node["fmod"]:
        return _ops.mod(x, y)
    size = _ops.mod(_ops.abs(x), _ops.abs(y)) if x.dtype.kind != "u" else _ops.mod(x, y)
    return size if x.dtype.kind == "u" else _ops.where(x < 0, _ops.neg(size), size)


@importer("Clip")
def _clip(node, x, low=None, high=None):
    """Limits are inputs, attributes before opset 11."""
    if is_float(x) and {1, 2} <= node.constants.keys():
        return _ops.clip(x, *(node.constants[place].item() for place in (1, 2)))
    low = node["min"] if low is None else low
    high = node["max"] if high is None else high
    x = x if low is None else _ops.maximum(x, low)
    return x if high is None else _ops.minimum(x, high)


@importer("Gelu")
def _gelu(node, x):
    return _ops.gelu(x) if node["approximate"] == "none" else _ops.gelu_tanh(x)


# What ONNX writes, rounded to float32, for the numbers of the record.
_SELU = tuple(map(float, np.array([1.67326319217681884765625, 1.05070102214813232421875], "f4")))


@importer("Selu")
def _selu(node, x):
    alpha, gamma = node["alpha"], node["gamma"]
    if (alpha, gamma) == _SELU:
        return _ops.selu(x)
    return gamma * _ops.where(x > 0, x, alpha * _ops.expm1(_ops.minimum(x, 0)))


@importer("HardSigmoid")
def _hard_sigmoid(node, x):
    return hard_sigmoid(x, node["alpha"], node["beta"])


def hard_sigmoid(x, alpha, beta):
    """max(0, min(1, alpha * x + beta))."""
    return _ops.clip(alpha * x + beta, 0.0, 1.0)


@importer("ThresholdedRelu")
def _thresholded_relu(node, x):
    return _ops.where(x > node["alpha"], x, constant_like(x, 0))


@importer("Shrink")
def _shrink(node, x):
    lambd, bias = node["lambd"], node["bias"]
    zero = constant_like(x, 0)
    below = _ops.where(x < -lambd, cast(x + bias, x.dtype.name), zero)
    return _ops.where(x > lambd, cast(x - bias, x.dtype.name), below)


@importer("Swish")
def _swish(node, x):
    if node["alpha"] == 1:
        return _ops.silu(x)
    return x * _ops.sigmoid(node["alpha"] * x)


@importer("PRelu")
def _prelu(node, x, slope):
    """A slope for each channel before opset 7."""
    if node.version < 7 and slope.ndim == 1 and x.ndim > 2:
        slope = _ops.reshape(slope, (-1, *[1] * (x.ndim - 2)))
    return _ops.prelu(x, slope)


@importer("IsInf")
def _is_inf(node, x):
    below = _ops.equal(x, -math.inf)
    above = _ops.equal(x, math.inf)
    if not node["detect_negative"]:
        return above if node["detect_positive"] else _ops.logical_and(above, below)
    return _ops.logical_or(above, below) if node["detect_positive"] else below


@importer("BitShift")
def _bit_shift(node, x, y):
    return _ops.left_shift(x, y) if node["direction"] == "LEFT" else _ops.right_shift(x, y)


@importer("Identity")
def _identity(node, x):
    return x


def convert(node, x, element_type, saturate=True):
    """`x` as elements of ONNX's type, by the rules of ONNX's Cast."""
    dtype = dtype_of(element_type, str(node))
    if element_type in FEW_BITS:
        bits, signed = FEW_BITS[element_type]
        return _wrapped(cast(_whole(x), "int32"), bits, signed, dtype)
    if dtype.startswith("float8") and saturate:
        return _saturated(x, dtype)
    return cast(x, dtype)


def _whole(x):
    return _ops.trunc(x) if is_float(x) else x


def _wrapped(x, bits, signed, dtype):
    """Integers of `bits`, as two's complement wraps them."""
    low = 1 << bits - 1 if signed else 0
    return cast(_ops.mod(x + low, 1 << bits) - low, dtype)


_LARGEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def _saturated(x, dtype):
    """What lies beyond the largest number becomes that, infinities too."""
    if x.dtype.name == dtype:
        return x
    largest = _LARGEST[dtype]
    return cast(_ops.clip(cast(x, "float32"), -largest, largest), dtype)


@importer("Cast")
def _cast(node, x):
    return convert(node, x, node["to"], node["saturate"] != 0)


@importer("CastLike")
def _cast_like(node, x, like):
    element_type = node.element_types.get(1) or element_type_of(like.dtype.name)
    return convert(node, x, element_type, node["saturate"] != 0)


@importer("Hardmax")
def _hardmax(node, x):
    axis = -1 if node["axis"] is None else node["axis"]
    if node.version < 13:
        return flat_rows(x, axis, lambda rows: _hardest(rows, 1))
    return _hardest(x, axis)


def _hardest(x, axis):
    largest = _ops.argmax(x, axis, True)
    count = x.shape[axis]
    shape = [1] * x.ndim
    shape[axis] = count
    places = _ops.reshape(_ops.arange(count, 0, 1, "int32"), shape)
    return cast(_ops.equal(places, largest), x.dtype.name)


def flat_rows(x, axis, function):
    """`function` of x as a matrix whose rows are the axes from `axis` on: ONNX before opset 13."""
    axis %= x.ndim
    rows = math.prod(x.shape[:axis])
    return _ops.reshape(function(_ops.reshape(x, (rows, -1))), x.shape)


@importer("Softmax")
def _softmax(node, x):
    if node.version < 13:
        return flat_rows(x, node["axis"], lambda rows: _ops.softmax(rows, 1))
    return _ops.softmax(x, node["axis"])


@importer("LogSoftmax")
def _log_softmax(node, x):
    if node.version < 13:
        return flat_rows(x, node["axis"], lambda rows: _ops.logsoftmax(rows, 1))
    return _ops.logsoftmax(x, node["axis"])
