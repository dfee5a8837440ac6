"""Steps of quantized operators: scales of operands, biases, and the way back to integers."""

import numpy as np

from .. import _core
from .._core import DTypeError, Tensor
from .._core import ops as _ops
from .generated import check_choice

MOST_BIAS = 2**30  # half of what the accumulator holds
_ACTIVATIONS = {
    "identity": lambda y: y,
    "relu": _ops.relu,
    "sigmoid": _ops.sigmoid,
    "hswish": _ops.hswish,
    "h_swish": _ops.hswish,
}
# Names that operators have for activations which they apply, and dtypes of 8 bits.
_FUSED = {"identity": "identity", "relu": "relu", "hswish": "hswish", "h_swish": "hswish"}
_BYTES = {"qint8", "qint8_narrow", "quint8"}


def deepest(has_zero_point):
    """The most products of bytes by those of a weight whose sum is in the half of int32 that a bias
    leaves.
    """
    return (MOST_BIAS - 1) // ((255 if has_zero_point else 128) * 128)


def _name_of(dtype):
    return _core.described_name(dtype) or dtype


def described(value):
    """Dtype and shape of a tensor, the type of another value."""
    if isinstance(value, Tensor):
        return f"{_name_of(value.dtype)}{list(value.shape)}"
    return type(value).__name__


def quantization_of(name, what, x):
    """(kind, scale, zero point or None, axis or None) of the operand that is called `what`.

    DTypeError: it must be a quantized tensor.
    """
    found = _core.quantization(x.dtype) if isinstance(x, Tensor) else None
    if found is None:
        raise DTypeError(f"{name}: {what} must be quantized, got {described(x)}")
    return found


def one_scale(name, what, x):
    """Scale and zero point (or None) of an operand without channels.

    DTypeError: it must be quantized and have one scale.
    """
    _, scale, zero_point, axis = quantization_of(name, what, x)
    if axis is not None:
        raise DTypeError(f"{name}: {what} must have one scale, got {described(x)}")
    return np.float32(scale), zero_point


def weight_scale(name, weight, axis):
    """The scale of a weight: a number, or an array of one for each channel along `axis`.

    DTypeError: weight must be quantized without a zero point, its scales be along `axis`.
    """
    _, scale, zero_point, along = quantization_of(name, "weight", weight)
    if zero_point is not None:
        raise DTypeError(f"{name}: weight must have no zero point, got {described(weight)}")
    if along not in (None, axis):
        raise DTypeError(
            f"{name}: weight must have its scales along axis {axis}, got {described(weight)}"
        )
    return np.asarray(scale, np.float32)


def as_operand(scale, like):
    """A scale as operators take it: a number, or a tensor where `like` lies."""
    return float(scale) if scale.ndim == 0 else Tensor(scale, device=like.device)


def check_result(name, dtype):
    """DTypeError: the dtype of a result must be quantized and have one scale."""
    found = None if dtype is None else _core.quantization(dtype)
    if found is None:
        got = None if dtype is None else _name_of(dtype)
        raise DTypeError(f"{name}: dtype must be quantized, got {got}")
    if found[3] is not None:
        raise DTypeError(f"{name}: dtype must have one scale, got {_name_of(dtype)}")


def result_scale(dtype):
    """Scale and zero point of a dtype that check_result() has let pass."""
    _, scale, zero_point, _ = _core.quantization(dtype)
    return float(np.float32(scale)), zero_point or 0


def bias_numbers(name, bias):
    """A bias as float32: a float, or the numbers that a qint32 one stands for.

    DTypeError: bias must be a float or qint32.
    """
    found = _core.quantization(bias.dtype)
    if found is not None and found[0] != "qint32":
        raise DTypeError(f"{name}: bias must be a float or qint32, got {described(bias)}")
    return bias.astype("float32")


def add_bias(name, sums, bias, scale, depth, inp):
    """The sums of `depth` products of elements of `inp`, plus the bias as integers of `scale`.

    Raises:
        DTypeError: bias must be a float or qint32
        ValueError: with a bias, depth must leave half of int32 to it
    """
    if bias is None:
        return sums
    numbers = bias_numbers(name, bias)
    if depth > deepest(quantization_of(name, "inp", inp)[2] is not None):
        raise ValueError(f"{name}: depth must leave half of int32 to the bias, got {depth}")
    integers = _ops.quantize(numbers, scale, 0, "int32")
    return sums + _ops.clip(integers, -MOST_BIAS, MOST_BIAS)


def check_finish(name, dtype, mode, residual):
    """The activation's name, as `finished` wants it.

    Raises:
        ValueError: nonlinear_mode must be one of its values
        DTypeError: dtype and residual must be quantized and have one scale
    """
    mode = mode.lower() if isinstance(mode, str) else mode
    check_choice(name, "nonlinear_mode", mode, _ACTIVATIONS)
    check_result(name, dtype)
    if residual is not None:
        one_scale(name, "residual", residual)
    return mode


def finished(name, y, dtype, mode="identity", residual=None):
    """The float32 `y` plus a residual operand, through the activation `mode`, as `dtype`.

    Raises: as check_finish
    """
    mode = check_finish(name, dtype, mode, residual)
    if residual is not None:
        y = y + residual.astype("float32")
    return _ACTIVATIONS[mode](y).astype(dtype)


def fused_activation(mode, depth, *dtypes):
    """The operators' name of an activation where one operator takes all steps; else None: the
    dtypes are of bytes, and `depth` leaves half of int32 to any bias.
    """
    are_bytes = all(_core.quantization(dtype)[0] in _BYTES for dtype in dtypes)
    return _FUSED.get(mode) if are_bytes and depth <= deepest(True) else None


def through_floats(name, function, inputs, dtype):
    """The float32 function of the numbers that quantized tensors stand for, as `dtype`; Python's
    numbers stay what they are.

    DTypeError: inputs must be quantized tensors or numbers, dtype must be quantized.
    """
    check_result(name, dtype)
    for each in inputs:
        if not isinstance(each, (int, float)):
            quantization_of(name, "each operand", each)
    numbers = [each if isinstance(each, (int, float)) else each.astype("float32")
               for each in inputs]  # fmt: skip
    return function(*numbers).astype(dtype)
