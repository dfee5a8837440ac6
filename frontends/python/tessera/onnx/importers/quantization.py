"""Numbers as scaled integers."""

import numpy as np

from ..._core import ops as _ops
from ..package import onnx
from ..registry import importer
from ..values import FEW_BITS, dtype_of
from .convolution import with_bias
from .elementwise import cast, convert
from .integers import conv_sums, matmul_sums, zero_point

_TYPES = onnx.TensorProto


def _beside(node, x, value):
    """Scale or zero point in a shape that broadcasts to x: of all, of an axis, or of blocks."""
    if (
        value is None
        or value.ndim == 0
        or (value.ndim == 1 and value.shape[0] == 1 and x.ndim != 1)
    ):
        return value if value is None or value.ndim == 0 else _ops.reshape(value, ())
    axis, block = node["axis"] % x.ndim, node["block_size"]
    if block:
        whole = _ops.repeat(value, block, axis)
        stops = list(x.shape)
        return _ops.slice(whole, [0] * x.ndim, stops)
    if value.ndim == x.ndim and value.ndim != 1:
        return value
    shape = [1] * x.ndim
    shape[axis] = value.shape[0]
    return _ops.reshape(value, shape)


def _range_of(element_type, dtype):
    if element_type in FEW_BITS:
        bits, signed = FEW_BITS[element_type]
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    limits = np.iinfo(dtype)
    return limits.min, limits.max


def stored_integers(node, ratio, zero, element_type):
    """round(ratio) + zero, halves to even, within the range of the type: at most 16 bits, with
    which float32 is exact.
    """
    dtype = dtype_of(element_type, str(node))
    if dtype.startswith("float8"):
        return convert(node, ratio, element_type, node["saturate"] != 0)
    low, high = _range_of(element_type, dtype)
    wide = "float64" if ratio.dtype.name == "float64" else "float32"
    whole = _ops.round(cast(ratio, wide))
    whole = whole if zero is None else whole + cast(zero, wide)
    return cast(_ops.clip(whole, float(low), float(high)), dtype)


@importer("QuantizeLinear")
def _quantize_linear(node, x, scale, zero=None):
    element_type = node["output_dtype"] or node.element_types.get(2) or _TYPES.UINT8
    precision = node["precision"]
    if precision:
        x, scale = (cast(each, dtype_of(precision, str(node))) for each in (x, scale))
    elif x.dtype.name == "int32":
        x = cast(x, "float32")
    elif scale.dtype.name != x.dtype.name:
        wide = "float32"
        x, scale = cast(x, wide), cast(scale, wide)
    return stored_integers(node, x / _beside(node, x, scale), _beside(node, x, zero), element_type)


@importer("DequantizeLinear")
def _dequantize_linear(node, x, scale, zero=None):
    dtype = scale.dtype.name
    if node["output_dtype"]:
        dtype = dtype_of(node["output_dtype"], str(node))
    exact = "float64" if x.dtype.name == "int32" else "float32"
    value = cast(x, exact)
    if zero is not None and not x.dtype.name.startswith("float8"):
        value = value - cast(_beside(node, x, zero), exact)
    return cast(cast(value, "float32") * cast(_beside(node, x, scale), "float32"), dtype)


@importer("DynamicQuantizeLinear")
def _dynamic_quantize_linear(node, x):
    """(uint8 of the shape of x, its scale, its zero point): the range always has 0."""
    low = _ops.minimum(_ops.min(x), 0)
    high = _ops.maximum(_ops.max(x), 0)
    scale = (high - low) / 255.0
    scale = _ops.where(_ops.equal(scale, 0), _ops.full([], 1, "float32"), scale)
    zero = cast(_ops.clip(_ops.round(-low / scale), 0.0, 255.0), "uint8")
    return stored_integers(node, x / scale, zero, _TYPES.UINT8), scale, zero


@importer("QLinearMatMul")
def _qlinear_matmul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    if a.dtype.name.startswith("float8"):  # which has no zero point
        total = _ops.matmul(cast(a, "float64"), cast(b, "float64"))
    else:
        total = matmul_sums(a, b, zero_point(node, 2, a_zero), zero_point(node, 5, b_zero))
    of_rows = _ops.expand_dims(a_scale, [-1]) if a_scale.ndim == 1 else a_scale
    element_type = node.element_types.get(7, _type_of(y_zero))
    return _scaled(node, total, of_rows * b_scale / y_scale, y_zero, element_type)


@importer("QLinearConv")
def _qlinear_conv(node, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    total = with_bias(conv_sums(node, x, x_zero, w, w_zero, (2, 5)), bias)
    if w_scale.ndim:
        w_scale = _ops.reshape(w_scale, (1, -1, *[1] * (x.ndim - 2)))
    return _scaled(node, total, x_scale * w_scale / y_scale, y_zero, _type_of(y_zero))


def _scaled(node, total, scale, zero, element_type):
    """The sums times one number of the type of the scales, rounded once, with halves to even."""
    ratio = cast(total, "float64") * cast(scale, "float64")
    return stored_integers(node, ratio, zero, element_type)


def _type_of(zero):
    return _TYPES.INT8 if zero.dtype.name == "int8" else _TYPES.UINT8
