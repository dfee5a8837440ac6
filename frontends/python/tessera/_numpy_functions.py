"""NumPy's functions of tensors: `np.add(tensor, array)` is the package's function of both."""

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
