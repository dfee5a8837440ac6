"""Functions of one element of each operand."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import composed, elementwise, refuse


def _scaled(x, alpha):
    return x if alpha == 1 else x * alpha


def _add(x, y, *, alpha=1):
    return F.add(x, _scaled(y, alpha))


def _sub(x, y, *, alpha=1):
    return F.sub(x, _scaled(y, alpha))


def _rsub(x, y, alpha=1):
    return F.sub(y, _scaled(x, alpha))


def _div(x, y, *, rounding_mode=None):
    if rounding_mode == "floor":
        return F.floor_div(x, y)
    quotient = F.div(x, y)
    return F.trunc(quotient) if rounding_mode == "trunc" else quotient


def _clamp(x, min=None, max=None):
    refuse(min is None and max is None, "no bound")
    return F.clip(x, min, max)


def _where(x, condition, y):
    return F.where(condition, x, y)


def _lerp(x, end, weight):
    return x + weight * (end - x)


def _addcmul(x, a, b, *, value=1):
    return x + _scaled(a * b, value)


def _addcdiv(x, a, b, *, value=1):
    return x + _scaled(a / b, value)


def _round(x, *, decimals=0):
    refuse(decimals != 0, "decimals")
    return F.round(x)


_UNARY = {
    function.__name__: function
    for function in (
        F.abs, F.acos, F.acosh, F.angle, F.asin, F.asinh, F.atan, F.atanh, F.bitwise_not, F.ceil,
        F.conj, F.cos, F.cosh, F.erf, F.erfc, F.exp, F.expm1, F.floor, F.imag, F.isfinite, F.isinf,
        F.isnan, F.log, F.log10, F.log1p, F.log2, F.logical_not, F.neg, F.real, F.reciprocal,
        F.rsqrt, F.sigmoid, F.sign, F.signbit, F.sin, F.sinh, F.sqrt, F.square, F.tan, F.tanh,
        F.trunc,
    )
}  # fmt: skip
_BINARY = {
    "__radd__": lambda x, y: y + x,
    "__rand__": lambda x, y: y & x,
    "__rdiv__": lambda x, y: y / x,
    "__rmod__": lambda x, y: y % x,
    "__rmul__": lambda x, y: y * x,
    "__ror__": lambda x, y: y | x,
    "__rpow__": lambda x, y: y**x,
    "__rsub__": lambda x, y: y - x,
    "__rxor__": lambda x, y: y ^ x,
    "atan2": F.atan2,
    "bitwise_and": F.bitwise_and,
    "bitwise_left_shift": F.left_shift,
    "bitwise_or": F.bitwise_or,
    "bitwise_right_shift": F.right_shift,
    "bitwise_xor": F.bitwise_xor,
    "clamp": _clamp,
    "clamp_max": lambda x, max=None: F.clip(x, None, max),
    "clamp_min": lambda x, min=None: F.clip(x, min, None),
    "complex": F.complex,
    "conj_physical": F.conj,
    "copysign": F.copysign,
    "div.floor_rounding": _div,
    "div.no_rounding_mode": _div,
    "div.trunc_rounding": _div,
    "eq": F.equal,
    "floor_divide": F.floor_div,
    "ge": F.greater_equal,
    "gt": F.greater,
    "hypot": F.hypot,
    "le": F.less_equal,
    "logaddexp": F.logaddexp,
    "logical_and": F.logical_and,
    "logical_or": F.logical_or,
    "logical_xor": F.logical_xor,
    "lt": F.less,
    "max.binary": F.maximum,
    "maximum": F.maximum,
    "min.binary": F.minimum,
    "minimum": F.minimum,
    "mul": F.mul,
    "ne": F.not_equal,
    "polar": F.polar,
    "positive": lambda x: +x,
    "pow": F.pow,
    "remainder": F.mod,
    "resolve_conj": F.copy,
    "resolve_neg": F.copy,
    "round": _round,
    "round.decimals_0": _round,
    "sgn": F.sign,
    "true_divide": F.div,
    "zero_": F.zeros_like,
    "where": _where,
}

_COMPOSED = {
    "add": _add,
    "addcdiv": _addcdiv,
    "addcmul": _addcmul,
    "lerp": _lerp,
    "rsub": _rsub,
    "sub": _sub,
}

# Casts, by the names of the methods.
_CASTS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}


def _cast(dtype):
    return lambda x, **memory_format: F.astype(x, dtype)


_CASTING = {name: _cast(to) for name, to in _CASTS.items()}
ROWS = elementwise(_UNARY | _BINARY | _CASTING) | composed(_COMPOSED)
