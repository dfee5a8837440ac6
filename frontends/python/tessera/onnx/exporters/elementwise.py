"""Elementwise records."""

import math

from ..writer import exporter


def number(writer, value, like):
    """A constant of rank 0 in the dtype of a value."""
    return writer.constant(value, like.dtype)


@exporter("div")
def _div(writer, row, x, y):
    return writer.node("Div", [x, y])


@exporter("pow")
def _pow(writer, row, x, y):
    return writer.node("Pow", [x, y])


def _masked(record, op_type):
    @exporter(record)
    def _export(writer, row, x, y):
        made, zero = writer.node(op_type, [x, y]), number(writer, 0.0, x)
        is_zero, is_nan = writer.node("Equal", [x, zero]), writer.node("IsNaN", [made])
        return writer.node("Where", [writer.node("And", [is_zero, is_nan]), zero, made])


_masked("masked_mul", "Mul")
_masked("masked_div", "Div")


def _rounding(record, op_type):
    @exporter(record)
    def _export(writer, row, x):
        return writer.node(op_type if "float" in x.dtype else "Identity", [x])


_rounding("ceil", "Ceil")
_rounding("floor", "Floor")
_rounding("round", "Round")


@exporter("clip")
def _clip(writer, row, x):
    return _limited(writer, x, row["lower"], row["upper"])


@exporter("relu6")
def _relu6(writer, row, x):
    return _limited(writer, x, 0.0, 6.0)


@exporter("hardtanh")
def _hardtanh(writer, row, x):
    return _limited(writer, x, row["min_val"], row["max_val"])


def _limited(writer, x, low, high):
    low = None if low == -math.inf else number(writer, low, x)
    high = None if high == math.inf else number(writer, high, x)
    return writer.node("Clip", [x, low, high])


@exporter("silu", needs=("Sigmoid",))
def _silu(writer, row, x):
    return writer.node("Mul", [x, writer.node("Sigmoid", [x])])


@exporter("logsigmoid")
def _logsigmoid(writer, row, x):
    softplus = writer.node("Softplus", [writer.node("Neg", [x])])
    return writer.node("Neg", [softplus])


@exporter("hsigmoid")
def _hsigmoid(writer, row, x):
    return writer.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)


@exporter("gelu")
def _gelu(writer, row, x):
    return writer.node("Gelu", [x])


@exporter("gelu_tanh")
def _gelu_tanh(writer, row, x):
    return writer.node("Gelu", [x], approximate="tanh")


@exporter("selu")
def _selu(writer, row, x):
    return writer.node("Selu", [x])


@exporter("tanhshrink")
def _tanhshrink(writer, row, x):
    return writer.node("Sub", [x, writer.node("Tanh", [x])])


@exporter("hardshrink")
def _hardshrink(writer, row, x):
    return writer.node("Shrink", [x], lambd=row["lambd"], bias=0.0)


@exporter("softshrink")
def _softshrink(writer, row, x):
    return writer.node("Shrink", [x], lambd=row["lambd"], bias=row["lambd"])


@exporter("square")
def _square(writer, row, x):
    return writer.node("Mul", [x, x])


@exporter("rsqrt")
def _rsqrt(writer, row, x):
    return writer.node("Reciprocal", [writer.node("Sqrt", [x])])


@exporter("erfc")
def _erfc(writer, row, x):
    return writer.node("Sub", [number(writer, 1, x), writer.node("Erf", [x])])


@exporter("expm1")
def _expm1(writer, row, x):
    """exp(x) - 1 = 2 tanh(x / 2) / (1 - tanh(x / 2)), which is exact near zero."""
    half = writer.node("Mul", [x, number(writer, 0.5, x)])
    tanh = writer.node("Tanh", [half])
    near = writer.node(
        "Div",
        [
            writer.node("Mul", [tanh, number(writer, 2, x)]),
            writer.node("Sub", [number(writer, 1, x), tanh]),
        ],
    )
    far = writer.node("Sub", [writer.node("Exp", [x]), number(writer, 1, x)])
    is_near = writer.node("Less", [writer.node("Abs", [x]), number(writer, 1, x)])
    return writer.node("Where", [is_near, near, far])


@exporter("log1p")
def _log1p(writer, row, x):
    """log(u) * x / (u - 1) with u = 1 + x, as W. Kahan has it: exact near zero."""
    one = number(writer, 1, x)
    u = writer.node("Add", [x, one])
    rest = writer.node("Sub", [u, one])
    log = writer.node("Log", [u])
    ratio = writer.node("Div", [writer.node("Mul", [log, x]), rest])
    is_zero = writer.node("Equal", [rest, number(writer, 0, x)])
    is_large = writer.node("Greater", [x, number(writer, 1, x)])
    return writer.node("Where", [is_zero, x, writer.node("Where", [is_large, log, ratio])])


@exporter("logaddexp")
def _logaddexp(writer, row, x, y):
    """max(x, y) + softplus(-|x - y|)."""
    distance = writer.node("Abs", [writer.node("Sub", [x, y])])
    softplus = writer.node("Softplus", [writer.node("Neg", [distance])])
    return writer.node("Add", [writer.node("Max", [x, y]), softplus])


@exporter("trunc")
def _trunc(writer, row, x):
    size = writer.node("Floor", [writer.node("Abs", [x])])
    return writer.node("Mul", [writer.node("Sign", [x]), size])


@exporter("floor_div")
def _floor_div(writer, row, x, y):
    if _is_float(x):
        return writer.node("Floor", [writer.node("Div", [x, y])])
    quotient = writer.node("Div", [x, y])
    if x.dtype.startswith("u"):
        return quotient
    rest = writer.node("Sub", [x, writer.node("Mul", [quotient, y])])
    zero = number(writer, 0, x)
    has_rest = writer.node("Not", [writer.node("Equal", [rest, zero])])
    differ = writer.node("Xor", [writer.node("Less", [x, zero]), writer.node("Less", [y, zero])])
    is_above = writer.node("And", [has_rest, differ])
    return writer.node("Sub", [quotient, writer.cast(is_above, x.dtype)])


@exporter("mod")
def _mod(writer, row, x, y):
    if not _is_float(x):
        return writer.node("Mod", [x, y])
    quotient = writer.node("Floor", [writer.node("Div", [x, y])])
    return writer.node("Sub", [x, writer.node("Mul", [quotient, y])])


@exporter("not_equal")
def _not_equal(writer, row, x, y):
    return writer.node("Not", [writer.node("Equal", [x, y])])


def _is_float(value):
    return value.dtype.startswith(("float", "bfloat"))


def _question(record, op_type):
    @exporter(record)
    def _export(writer, row, x):
        if _is_float(x):
            return writer.node(op_type, [x])
        return writer.node("Not", [_equals_itself(writer, x)])


def _equals_itself(writer, x):
    return writer.node("Equal", [x, x])


_question("isnan", "IsNaN")
_question("isinf", "IsInf")


@exporter("isfinite")
def _isfinite(writer, row, x):
    if not _is_float(x):
        return _equals_itself(writer, x)
    return writer.node("Less", [writer.node("Abs", [x]), number(writer, math.inf, x)])


@exporter("relu")
def _relu(writer, row, x):
    """Relu of floats; of unsigned integers nothing, of others the larger one of them and 0."""
    if _is_float(x):
        return writer.node("Relu", [x])
    if x.dtype.startswith("u"):
        return writer.node("Identity", [x])
    return writer.node("Max", [x, number(writer, 0, x)])


@exporter("signbit")
def _signbit(writer, row, x):
    """Of a zero the sign is that of its reciprocal."""
    zero = number(writer, 0, x)
    signed = writer.node(
        "Where", [writer.node("Equal", [x, zero]), writer.node("Reciprocal", [x]), x]
    )
    return writer.node("Less", [signed, zero])


@exporter("copysign")
def _copysign(writer, row, x, y):
    size = writer.node("Abs", [x])
    return writer.node("Where", [_signbit(writer, row, y), writer.node("Neg", [size]), size])


@exporter("hypot")
def _hypot(writer, row, x, y):
    """The larger size times sqrt(1 + ratio^2), which does not overflow on the way."""
    sizes = [writer.node("Abs", [each]) for each in (x, y)]
    larger, infinite = writer.node("Max", sizes), number(writer, math.inf, x)
    ratio = writer.node("Div", [writer.node("Min", sizes), larger])
    above = writer.node("Add", [number(writer, 1, x), writer.node("Mul", [ratio, ratio])])
    length = writer.node("Mul", [larger, writer.node("Sqrt", [above])])
    is_zero = writer.node("Equal", [larger, number(writer, 0, x)])
    length = writer.node("Where", [is_zero, larger, length])
    is_infinite = writer.node("Or", [writer.node("Equal", [each, infinite]) for each in sizes])
    return writer.node("Where", [is_infinite, infinite, length])


@exporter("left_shift")
def _left_shift(writer, row, x, y):
    return _shift(writer, x, y, "LEFT")


@exporter("right_shift")
def _right_shift(writer, row, x, y):
    return _shift(writer, x, y, "RIGHT")


def _shift(writer, x, y, direction):
    """Signed ones by their bits; a negative one moved down is -1 - ((-1 - x) >> y)."""
    if x.dtype.startswith("u"):
        return writer.node("BitShift", [x, y], direction=direction)
    if direction == "LEFT":
        return _shifted_bits(writer, x, y, x.dtype, direction)
    ones = number(writer, -1, x)
    is_negative = writer.node("Less", [x, number(writer, 0, x)])
    bits = writer.node("Where", [is_negative, writer.node("Sub", [ones, x]), x])
    moved = _shifted_bits(writer, bits, y, x.dtype, direction)
    return writer.node("Where", [is_negative, writer.node("Sub", [ones, moved]), moved])


def _shifted_bits(writer, x, y, dtype, direction):
    x, y = (writer.cast(each, f"u{dtype}") for each in (x, y))
    return writer.cast(writer.node("BitShift", [x, y], direction=direction), dtype)


@exporter("prelu")
def _prelu(writer, row, x, weight):
    """ONNX's slope broadcasts to x, and not the other way."""
    shape = row.results[0].shape
    whole = x if x.shape == shape else writer.node("Expand", [x, writer.ints(shape)])
    return writer.node("PRelu", [whole, weight])


@exporter("atan2")
def _atan2(writer, row, y, x):
    """atan(y / x), moved by pi where x is negative, and by half of it where x is 0."""
    zero, pi = number(writer, 0, x), number(writer, math.pi, x)
    angle = writer.node("Atan", [writer.node("Div", [y, x])])
    half = number(writer, math.pi / 2, x)
    below = writer.node("Less", [y, zero])
    turned = [writer.node("Sub", [angle, pi]), writer.node("Add", [angle, pi])]
    left = writer.node("Where", [below, *turned])
    level = writer.node("Where", [writer.node("Equal", [y, zero]), zero, half])
    upright = writer.node("Where", [below, writer.node("Neg", [half]), level])
    beside = writer.node("Where", [writer.node("Less", [x, zero]), left, angle])
    return writer.node("Where", [writer.node("Equal", [x, zero]), upright, beside])


@exporter("one_hot_like")
def _one_hot_like(writer, row, index, like):
    shape, dtype = row.results[0].shape, row.results[0].dtype
    places = writer.constant(range(shape[-1]), index.dtype)
    return writer.cast(writer.node("Equal", [index, places]), dtype)


@exporter("tril")
def _tril(writer, row, x):
    return writer.node("Trilu", [x, writer.constant(row["diagonal"], "int64")], upper=0)


@exporter("triu")
def _triu(writer, row, x):
    return writer.node("Trilu", [x, writer.constant(row["diagonal"], "int64")], upper=1)
