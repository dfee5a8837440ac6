"""Sums of products of bytes, exact in int32."""

import functools
import math

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast
from .windows import Windows

_DEPTH = 32768  # at most this many products of any two bytes less their zero points fit into int32


def zero_point(node, place, zero, offset=0):
    """The zero point at an input, less `offset`, in int32: rank 0 where it has one element, None
    where it is known to be 0.
    """
    if zero is None:
        return -offset or None
    known = node.constants.get(place)
    if known is not None and (known.astype("int32") == offset).all():
        return None
    zero = cast(zero, "int32") - offset if offset else cast(zero, "int32")
    return _ops.reshape(zero, ()) if math.prod(zero.shape) == 1 else zero


def _apart(zero):
    """(zero point of the operator, zero points of rows or columns); each may be None."""
    return (None, zero) if zero is not None and zero.ndim else (zero, None)


def _less(x, zero):
    return cast(x, "int32") if zero is None else cast(x, "int32") - zero


def matmul_sums(a, b, a_zero, b_zero):
    """int32[*B, M, N] of bytes a [*B, M, K] and b [*B, K, N]; a vector of zero points has one for
    each row of a, one for each column of b. What a vector takes away is a sum along the other
    operand: sum((a - z) * b) = sum(a * b) - z * sum(b).
    """
    if a.ndim == 1:
        return _ops.squeeze(matmul_sums(_ops.expand_dims(a, [0]), b, a_zero, b_zero), [-2])
    if b.ndim == 1:
        return _ops.squeeze(matmul_sums(a, _ops.expand_dims(b, [-1]), a_zero, b_zero), [-1])
    a_one, a_rows = _apart(a_zero)
    b_one, b_columns = _apart(b_zero)
    total = _product(a, b, a_one, b_one)
    if a_rows is not None:
        a_rows = _ops.expand_dims(a_rows, [-1]) if a_rows.ndim == 1 else a_rows
        total = total - a_rows * _ops.sum(_less(b, b_one), [-2], True)
    if b_columns is not None:
        own = a_one if a_rows is None else a_rows
        total = total - _ops.sum(_less(a, own), [-1], True) * b_columns
    return total


def _product(a, b, a_zero, b_zero):
    """The operator, in parts where a part of its depth alone is sure to fit into int32."""
    depth = b.shape[-2]
    a_zero = 0 if a_zero is None and b_zero is not None else a_zero
    if not isinstance(depth, int) or depth <= _DEPTH:
        return _ops.integer_matmul(a, b, a_zero, b_zero)
    parts = [slice(start, start + _DEPTH) for start in range(0, depth, _DEPTH)]
    sums = [_ops.integer_matmul(a[..., k], b[..., k, :], a_zero, b_zero) for k in parts]
    return functools.reduce(_ops.add, sums)


@importer("MatMulInteger")
def _matmul_integer(node, a, b, a_zero=None, b_zero=None):
    return matmul_sums(a, b, zero_point(node, 2, a_zero), zero_point(node, 3, b_zero))


def conv_sums(node, x, x_zero, weight, weight_zero, places):
    """int32[N, O, *D] of bytes x [N, C, *D] and weight [O, C/groups, *D]. `places` are the inputs
    that the zero points are; that of weights may have one for each output channel. Borders have the
    zero point of x.
    """
    axes = weight.ndim - 2
    if axes not in (1, 2, 3):
        node.refuse("x must have 1 to 3 spatial axes", axes)
    x_zero = zero_point(node, places[0], x_zero)
    offset = 128 if weight.dtype.name == "uint8" else 0  # the operator's weights are int8
    weight_zero = zero_point(node, places[1], weight_zero, offset)
    weight = cast(cast(weight, "int32") - offset, "int8") if offset else weight
    x, *windows = even_windows(node, x, weight, x_zero)
    sizes = *windows, node["group"]
    function = getattr(_ops, f"integer_conv{axes}d")
    total = function(x, weight, x_zero, *sizes)
    if weight_zero is None:
        return total
    ones = _ops.full([node["group"], *weight.shape[1:]], 1, "int8")
    return _less_windows(total, function(x, ones, x_zero, *sizes), weight_zero)


def even_windows(node, x, weight, x_zero):
    """(x, strides, padding, dilations) of a convolution: borders of x that are not even are its
    elements then, with its zero point, an int or a tensor; None is 0.
    """
    windows = Windows(node, x.shape[2:], weight.shape[2:])
    if windows.is_even():
        return x, windows.strides, windows.low, windows.dilations
    x = _bordered(x, x_zero, windows)
    return x, windows.strides, [0] * len(windows.low), windows.dilations


def _bordered(x, zero, windows):
    """x with borders that the operator adds nothing for."""
    around = [0, 0, *windows.low], [0, 0, *windows.high], 0.0
    if zero is None:
        return _ops.pad(x, *around)
    return cast(_ops.pad(_less(x, zero), *around) + zero, x.dtype.name)


def _less_windows(total, windows, zero):
    """[N, O, *D] less the zero point of each channel times the sum of its window: `windows`
    [N, groups, *D], in which a group has the same sums for all its channels.
    """
    channels, groups = total.shape[1], windows.shape[1]
    sums = _ops.repeat(windows, channels // groups, 1) if groups > 1 else windows
    if not isinstance(zero, int) and zero.ndim:
        zero = _ops.reshape(zero, (1, -1, *[1] * (total.ndim - 2)))
    return total - sums * zero


@importer("ConvInteger")
def _conv_integer(node, x, weight, x_zero=None, weight_zero=None):
    return conv_sums(node, x, x_zero, weight, weight_zero, (2, 3))
