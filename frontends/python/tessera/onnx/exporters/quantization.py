"""Quantized numbers: the way to integers, sums of products of bytes, and the way back."""

import math

import numpy as np

from ...functional._integer_sums import MOST_BIAS
from ..values import limits_of
from ..writer import Value, exporter
from .layers import turned
from .reductions import reduced

_NEARLY_HALF = 0.4999999701976776  # of ops/records/Quantized.td: halves go away from 0
_EXACT_BITS = 24  # integers of that many bits are float32
_FAR = (1 << 31) - 1  # behind the end of each axis
_BITS = 8  # of a weight; others have 4
_BLOCKS = 21  # the opset with int4 and scales of blocks
_BYTES = ("int8", "uint8")
_MOST_BYTE = 127  # of an activation that becomes int8


def _zero_in(writer, zero, dtype):
    """The name of a zero point in another dtype, None where it is 0.

    NotImplementedError: a constant one must be a number of the dtype.
    """
    known = None if zero is None else writer.array_of(zero.name)
    if zero is None or (known is not None and not known.any()):
        return None
    if known is None:
        return writer.cast(zero, dtype)
    if not _fits(known, dtype):
        raise NotImplementedError(f"zero points must be numbers of {dtype}")
    return writer.constant(known, dtype)


def _fits(array, dtype):
    low, high = limits_of(dtype)[1:] if dtype in _BYTES else (-math.inf, math.inf)
    return bool((array >= low).all() and (array <= high).all())


def _rounded(writer, x, scale, zero, low, high):
    """float32: round(x / scale) + zero within [low, high], of NaN 0, by operators of which each
    gives the bits of Tessera's. A negative number that becomes 0 is not -0.
    """
    ratio = writer.node("Div", [x, scale])
    above = writer.node("Add", [writer.node("Abs", [ratio]), _number(writer, _NEARLY_HALF)])
    size = writer.node("Floor", [above])
    whole = writer.node("Mul", [writer.node("Sign", [ratio]), size])
    zero, none = _zero_in(writer, zero, "float32"), _number(writer, 0)
    moved = whole if zero is None else writer.node("Add", [whole, zero])
    limited = writer.node("Clip", [moved, _number(writer, low), _number(writer, high)])
    if zero is None and low <= 0 <= high:  # what is neither NaN nor a 0 of either sign
        return writer.node("Where", [writer.node("Greater", [size, none]), limited, none])
    return writer.node("Where", [writer.node("IsNaN", [moved]), none, limited])


def _number(writer, value):
    return writer.constant(value, "float32")


@exporter("quantize")
def _quantize(writer, row, x, scale, zero):
    return _integers(writer, row["dtype"], row.results[0].shape, x, scale, zero)


def _integers(writer, wanted, shape, x, scale, zero):
    """Numbers as the integers of the dtype `wanted`."""
    dtype, low, high = limits_of(wanted)
    if high - low >= 1 << 32:
        raise NotImplementedError("integers must have at most 32 bits")
    if high - low >= 1 << _EXACT_BITS:
        return _wide(writer, _rounded(writer, x, scale, zero, -(2.0**32), 2.0**32), dtype)
    where = _linear(writer, x, scale, zero, dtype, shape)
    if writer.quantization == "qdq" and where:
        return _by_one_node(writer, x, where, dtype, low, high)
    return writer.cast(_rounded(writer, x, scale, zero, low, high), dtype)


def _wide(writer, whole, dtype):
    """Integers of 32 bits, whose ends float64 has and float32 has not."""
    _, low, high = limits_of(dtype)
    ends = [writer.constant(each, "float64") for each in (low, high)]
    return writer.cast(writer.node("Clip", [writer.cast(whole, "float64"), *ends]), dtype)


def _linear(writer, x, scale, zero, dtype, shape):
    """Operands of QuantizeLinear and DequantizeLinear beside x: (scale, zero point, axis). None
    where they cannot say it: parameters must be of all elements or of an axis of x, and bytes. A
    single number, from which a module makes a scale, is better rounded exactly.
    """
    known = writer.array_of(zero.name)
    if dtype not in _BYTES or not shape or x.shape != shape:
        return None
    if known is not None and not _fits(known, dtype):
        return None
    if known is None and writer.quantization != "qdq":
        return None
    own = writer.constant(known, dtype) if known is not None else writer.cast(zero, dtype)
    axes = [axis - len(scale.shape) for axis, size in enumerate(scale.shape) if size != 1]
    if not axes and all(size == 1 for size in zero.shape):
        return _in_rank(writer, scale, scale.name, 0), _in_rank(writer, zero, own, 0), None
    if len(axes) > 1 or zero.shape != scale.shape:
        return None
    names = _in_rank(writer, scale, scale.name, 1), _in_rank(writer, zero, own, 1)
    return *names, axes[0] + len(shape)


def _in_rank(writer, value, name, rank):
    """`name`, which has the shape of `value`, as a vector or with rank 0."""
    if len(value.shape) == rank:
        return name
    return writer.node("Reshape", [name, writer.ints([-1] * rank)])


def _by_one_node(writer, x, where, dtype, low, high):
    """QuantizeLinear, whose halves go to even, within narrower limits where there are such."""
    scale, zero, axis = where
    made = writer.node("QuantizeLinear", [x, scale, zero], axis=axis)
    if (low, high) == limits_of(dtype)[1:]:
        return made
    return writer.node("Clip", [made, *(writer.constant(each, dtype) for each in (low, high))])


@exporter("dequantize")
def _dequantize(writer, row, x, scale, zero):
    return _numbers(writer, row.results[0].shape, x, scale, zero)


def _numbers(writer, shape, x, scale, zero):
    """Numbers that integers stand for."""
    where = _linear(writer, x, scale, zero, x.dtype, shape)
    if where:
        return writer.node("DequantizeLinear", [x, *where[:2]], axis=where[2])
    return _scaled(writer, writer.cast(x, "float32"), scale, zero)


def _scaled(writer, integers, scale, zero):
    """(integers - zero) * scale, all float32."""
    zero = _zero_in(writer, zero, "float32")
    moved = integers if zero is None else writer.node("Sub", [integers, zero])
    return writer.node("Mul", [moved, scale])


@exporter("fake_quant")
def _fake_quant(writer, row, x, scale, zero):
    low, high = row["qmin"], row["qmax"]
    dtype = "uint8" if low >= 0 else "int8"
    first, last = limits_of(dtype)[1:]
    if writer.quantization == "qdq" and first <= low and high <= last:
        where = _linear(writer, x, scale, zero, dtype, row.results[0].shape)
        if where:
            integers = _by_one_node(writer, x, where, dtype, low, high)
            return writer.node("DequantizeLinear", [integers, *where[:2]], axis=where[2])
    return _scaled(writer, _rounded(writer, x, scale, zero, low, high), scale, zero)


@exporter("integer_matmul")
def _integer_matmul(writer, row, x, y, x_zero=None, y_zero=None):
    zeros = _zero_in(writer, x_zero, x.dtype), _zero_in(writer, y_zero, y.dtype)
    x = turned(writer, x) if row["transpose_x"] else x.name
    y = turned(writer, y) if row["transpose_y"] else y.name
    return writer.node("MatMulInteger", [x, y, *zeros])


@exporter("integer_conv1d", "integer_conv2d", "integer_conv3d", needs=("ConvInteger",))
def _integer_conv(writer, row, x, weight, x_zero=None):
    return _conv_sums(writer, row, x, weight, x_zero)


def _conv_sums(writer, row, x, weight, x_zero):
    return writer.node(
        "ConvInteger",
        [x, weight, _zero_in(writer, x_zero, x.dtype)],
        strides=list(row["strides"]),
        pads=list(row["padding"]) * 2,
        dilations=list(row["dilation"]),
        group=row["groups"],
    )


@exporter("quantized_conv2d", needs=("ConvInteger",))
def _quantized_conv(writer, row, x, weight, x_scale, x_zero, weight_scale, out_scale, out_zero,
                    bias, residual=None, residual_scale=None, residual_zero=None):  # fmt: skip
    """The steps of docs/reference/quantized.md, "Sums of products", one after the other."""
    shape = row.results[0].shape
    scale = writer.node("Mul", [x_scale, weight_scale])
    sums, of_channels = _conv_sums(writer, row, x, weight, x_zero), writer.ints([-1, 1, 1])
    known = writer.array_of(bias.name)
    if known is None or known.any():
        integers = _rounded(writer, bias, scale, None, -MOST_BIAS, MOST_BIAS)
        integers = writer.node("Reshape", [writer.cast(integers, "int32"), of_channels])
        sums = writer.node("Add", [sums, integers])
    scale = writer.node("Reshape", [scale, of_channels])
    y = writer.node("Mul", [writer.cast(sums, "float32"), scale])
    if residual is not None:
        own = _numbers(writer, shape, residual, residual_scale, residual_zero)
        y = writer.node("Add", [y, own])
    y = Value(_ACTIVATIONS[row["activation"]](writer, y), "float32", shape)
    return _integers(writer, row["dtype"], shape, y, out_scale, out_zero)


def _hswish(writer, y):
    gate = writer.node("Add", [y, _number(writer, 3)])
    gate = writer.node("Clip", [gate, _number(writer, 0), _number(writer, 6)])
    return writer.node("Div", [writer.node("Mul", [y, gate]), _number(writer, 6)])


_ACTIVATIONS = {
    "identity": lambda writer, y: y,
    "relu": lambda writer, y: writer.node("Relu", [y]),
    "hswish": _hswish,
}


@exporter("weight_only_linear", needs=("DequantizeLinear",))
def _weight_only_linear(writer, row, x, weight, scale, bias=None):
    """The float product by what the weights stand for, of rows or of their integers."""
    width, group = x.shape[-1], row["group"]
    integers = weight.name if row["bits"] == _BITS else _of_four_bits(writer, weight, width)
    if group == 0:
        numbers = writer.node("DequantizeLinear", [integers, scale], axis=0)
    elif writer.opset >= _BLOCKS:
        numbers = writer.node("DequantizeLinear", [integers, scale], axis=1, block_size=group)
    else:
        numbers = _by_groups(writer, integers, scale, width, group)
    turned_weight = writer.node("Transpose", [numbers], perm=[1, 0])
    rows, of_rows = writer.cast(x, "float32"), None
    if row["activations"] == "int8":
        rows, of_rows = _rows_of_integers(writer, rows)
    out = writer.node("MatMul", [rows, turned_weight])
    if of_rows is not None:
        out = writer.node("Mul", [out, of_rows])
    if bias is not None:
        out = writer.node("Add", [out, writer.cast(bias, "float32")])
    return writer.cast(out, row.results[0].dtype)


def _rows_of_integers(writer, x):
    """float32: each row of x as integers, and its scale."""
    none = _number(writer, 0)
    known = writer.node("Where", [writer.node("IsNaN", [x]), none, x])
    largest = reduced(writer, "ReduceMax", writer.node("Abs", [known]), [-1], True)
    scale = writer.node("Div", [largest, _number(writer, _MOST_BYTE)])
    is_small = writer.node("Less", [scale, _number(writer, np.finfo(np.float32).tiny)])
    scale = writer.node("Where", [is_small, _number(writer, 1), scale])
    return _rounded(writer, x, scale, None, -_MOST_BYTE, _MOST_BYTE), scale


def _of_four_bits(writer, weight, width):
    """A constant of two numbers a byte, the first in the lower half, as int4 or int8."""
    known = writer.array_of(weight.name)
    if known is None:
        raise NotImplementedError("weights of 4 bits must be constants")
    halves = np.stack([(known << 4) >> 4, known >> 4], 2)
    numbers = halves.reshape(known.shape[0], -1)[:, :width]
    return writer.int4(numbers) if writer.opset >= _BLOCKS else writer.constant(numbers, "int8")


def _by_groups(writer, integers, scale, width, group):
    rows, groups = scale.shape
    scales = writer.node("Reshape", [scale, writer.ints([rows, groups, 1])])
    scales = writer.node("Expand", [scales, writer.ints([rows, groups, group])])
    scales = writer.node("Reshape", [scales, writer.ints([rows, groups * group])])
    limits = [0], [width], [1]
    scales = writer.node("Slice", [scales, *(writer.ints(each) for each in limits)])
    return writer.node("Mul", [writer.cast(integers, "float32"), scales])


@exporter(
    "integer_conv_transpose1d",
    "integer_conv_transpose2d",
    "integer_conv_transpose3d",
    needs=("ConvInteger",),
)
def _integer_conv_transpose(writer, row, x, weight, x_zero=None):
    """The convolution of x, between whose elements zero points are put, with weights from their
    ends on: ONNX has no transposed one of integers.
    """
    zero = _zero_in(writer, x_zero, x.dtype)
    between = writer.constant(0, x.dtype) if zero is None else zero
    spread = _spread(writer, x, row["strides"], between)
    low, high = [0, 0], [0, 0]
    axes = zip(
        weight.shape[2:],
        *(row[name] for name in ("dilation", "padding", "strides", "output_padding")),
        strict=True,
    )
    for kernel, dilation, padding, stride, extra in axes:
        low.append(dilation * (kernel - 1) - padding)
        high.append(low[-1] + extra - (stride - 1))
    spread = _bordered(writer, spread, low, high, between)
    weight = _from_the_end(writer, weight, row["groups"])
    dilations = list(row["dilation"])
    return writer.node(
        "ConvInteger", [spread, weight, zero], dilations=dilations, group=row["groups"]
    )


def _spread(writer, x, strides, between):
    """x with `stride - 1` elements `between` behind each one, along each spatial axis."""
    if all(stride == 1 for stride in strides):
        return x.name
    apart, whole, behind = list(x.shape[:2]), list(x.shape[:2]), [0, 0]
    for size, stride in zip(x.shape[2:], strides, strict=True):
        apart += [size, 1]
        whole.append(_times(size, stride))
        behind += [0, stride - 1]
    made = writer.node("Reshape", [x, writer.ints(apart)])
    made = writer.node("Pad", [made, writer.ints([0] * len(behind) + behind), between])
    return writer.node("Reshape", [made, writer.ints(whole)])


def _bordered(writer, name, low, high, between):
    """Borders of `between`; negative ones are cut off, which not every runtime's Pad does."""
    widths = [max(width, 0) for width in low + high]
    if any(widths):
        name = writer.node("Pad", [name, writer.ints(widths), between])
    if min(low + high) >= 0:
        return name
    starts = [max(-width, 0) for width in low]
    stops = [width if width < 0 else _FAR for width in high]
    return writer.node("Slice", [name, writer.ints(starts), writer.ints(stops)])


def _times(size, stride):
    return size * stride if isinstance(size, int) else f"({size})*{stride}"


def _from_the_end(writer, weight, groups):
    """[O, C/groups, *K] of weights [C, O/groups, *K], each window from its end on."""
    inner, outer = weight.shape[0] // groups, weight.shape[1]
    kernel = list(weight.shape[2:])
    axes = list(range(2, 2 + len(kernel)))
    made = writer.node("Reshape", [weight, writer.ints([groups, inner, outer, *kernel])])
    made = writer.node("Transpose", [made], perm=[0, 2, 1, *(axis + 1 for axis in axes)])
    made = writer.node("Reshape", [made, writer.ints([groups * outer, inner, *kernel])])
    limits = [-1] * len(axes), [-_FAR] * len(axes), axes, [-1] * len(axes)
    return writer.node("Slice", [made, *(writer.ints(each) for each in limits)])
