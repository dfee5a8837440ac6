"""NumPy's functions of tensors: `np.add(tensor, array)` is the package's function of both."""

import functools
import inspect
import operator

import numpy as np

from ._core import Tensor, ops

_NAMES = {
    "absolute": "abs", "add": "add", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "ceil": "ceil",
    "conjugate": "conj", "cos": "cos", "cosh": "cosh", "divide": "div", "equal": "equal",
    "exp": "exp", "expm1": "expm1", "fabs": "abs", "floor": "floor", "floor_divide": "floor_div",
    "greater": "greater", "greater_equal": "greater_equal", "isfinite": "isfinite",
    "isinf": "isinf", "isnan": "isnan", "left_shift": "left_shift", "less": "less",
    "less_equal": "less_equal", "log": "log", "log1p": "log1p", "logaddexp": "logaddexp",
    "logical_and": "logical_and", "logical_not": "logical_not", "logical_or": "logical_or",
    "logical_xor": "logical_xor", "matmul": "matmul", "maximum": "maximum", "minimum": "minimum",
    "multiply": "mul", "negative": "neg", "not_equal": "not_equal", "positive": "copy",
    "power": "pow", "reciprocal": "reciprocal", "remainder": "mod", "right_shift": "right_shift",
    "rint": "round", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "subtract": "sub", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip

# Operators of Python, which are those of bools or of bits.
_ON_BITS = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": operator.invert,
}

FUNCTIONS = {getattr(np, name): getattr(ops, own) for name, own in _NAMES.items()}
FUNCTIONS.update({getattr(np, name): function for name, function in _ON_BITS.items()})


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """What NumPy calls for a function of its own of which an operand is a tensor.

    TypeError: the function must be one that the package has, without further arguments.
    """
    if kwargs.keys() == {"out"} and all(isinstance(each, np.ndarray) for each in kwargs["out"]):
        arrays = [each.numpy() if isinstance(each, Tensor) else each for each in inputs]
        return getattr(ufunc, method)(*arrays, **kwargs)  # into NumPy's memory
    function = FUNCTIONS.get(ufunc)
    if function is None or method != "__call__" or kwargs:
        call = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        given = f"np.{call}" + (f" with {', '.join(kwargs)}" if kwargs else "")
        raise TypeError(
            f"{ufunc.__name__}: a function of NumPy must be one that tensors have, got {given}"
        )
    if ufunc.__name__ in _ON_BITS:
        inputs = [_as_tensor(each, self) for each in inputs]
    return function(*inputs)


def _as_tensor(value, like):
    return value if isinstance(value, Tensor) else Tensor(value, device=like.device)


_REDUCTIONS = {
    getattr(np, name): own
    for own, names in {
        "all": ["all"], "any": ["any"], "max": ["max", "amax"], "mean": ["mean"],
        "min": ["min", "amin"], "prod": ["prod"], "ptp": ["ptp"], "std": ["std"], "sum": ["sum"],
        "var": ["var"],
    }.items()
    for name in names
}  # fmt: skip

_FUNCTIONS = {
    "all": lambda x, axes, keepdims: ops.min(ops.not_equal(x, 0), axes, keepdims, True),
    "any": lambda x, axes, keepdims: ops.max(ops.not_equal(x, 0), axes, keepdims, True),
    "ptp": lambda x, *how: ops.max(x, *how) - ops.min(x, *how),
    **{name: getattr(ops, name) for name in ("max", "mean", "min", "prod", "std", "sum", "var")},
}

_signature = functools.cache(inspect.signature)


def array_function(self, function, types, args, kwargs):
    """Answers NumPy's call of a function of its own with tensors: a reduction of a tensor is the
    package's, everything else goes on as for any object that is convertible to an array.

    TypeError: a reduction must have no arguments but axis, dtype, keepdims, ddof and out.
    """
    own = _REDUCTIONS.get(function)
    if own is not None:
        given = dict(_signature(function).bind(*args, **kwargs).arguments)
        if isinstance(given["a"], Tensor):
            return _reduced(function, own, given)
    return function._implementation(*args, **kwargs)


def _reduced(function, own, given):
    a = given.pop("a")
    given = {key: value for key, value in given.items() if value is not None}
    if "out" in given:  # into NumPy's memory
        return function(a.numpy(), **given)
    dtype, ddof = given.pop("dtype", a.dtype), given.pop("ddof", 0)
    unknown = sorted(given.keys() - {"axis", "keepdims"})
    if unknown or (ddof and own not in ("std", "var")):
        raise TypeError(
            f"{own}: a reduction of a tensor must have no arguments but axis, dtype, keepdims, "
            f"ddof and out, got {', '.join(unknown) or f'ddof {ddof}'}"
        )
    axis = given.get("axis")
    a = ops.astype(a, dtype)
    result = _FUNCTIONS[own](a, () if axis is None else axis, given.get("keepdims", False))
    if not ddof:
        return result
    count = a.size / max(getattr(result, "size", 1), 1)
    factor = count / (count - ddof)
    return result * (factor if own == "var" else factor**0.5)
