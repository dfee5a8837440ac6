"""Operands of elementwise calls: variables, constant tensors and numbers."""

import numpy as np

from ...tensor import Tensor
from ..expr import Constant
from ..node import TensorNode
from .utils import get_const_value, make_constant


def is_number(operand):
    """Whether it is a number of Python."""
    return type(operand) in (int, float)


def is_constant(operand):
    """Whether it is a constant tensor of the graph."""
    return isinstance(operand, TensorNode) and isinstance(operand.expr, Constant)


def is_variable(operand):
    """Whether it is a tensor that the graph computes or is given."""
    return isinstance(operand, TensorNode) and not is_constant(operand)


def is_float(expr):
    """Whether result and operands of the call are of one floating dtype, but for numbers."""
    dtype = expr.result.dtype
    return (
        not expr.kwargs
        and limits_of(dtype) is not None
        and all(
            is_number(operand) or (isinstance(operand, TensorNode) and operand.dtype == dtype)
            for operand in expr.args
        )
    )


def limits_of(dtype):
    """(eps, the smallest normal, the largest number) of a floating dtype; None for another one."""
    found = {"float16": (2.0**-10, 2.0**-14, 65504.0), "bfloat16": (2.0**-7, 2.0**-126, 3.38e38)}
    name = np.dtype(dtype).name
    if name in found:
        return found[name]
    if name not in ("float32", "float64"):
        return None
    info = np.finfo(name)
    return float(info.eps), float(info.tiny), float(info.max)


def array_of(operand):
    """A number, or the elements of a constant tensor, as float64."""
    if is_number(operand):
        return operand
    value = operand if isinstance(operand, Tensor) else get_const_value(operand)
    return np.asarray(value._numbers(), dtype=np.float64)


def fits(value, dtype):
    """Whether all elements are zero or normal numbers of the dtype."""
    _, smallest, largest = limits_of(dtype)
    sizes = np.abs(np.asarray(value, dtype=np.float64))
    return bool(np.all((sizes == 0) | ((sizes >= smallest) & (sizes <= largest))))


def tensor_of(array, like):
    """A tensor of these elements, rounded once to the dtype of `like`, on its device."""
    return Tensor(np.asarray(array), dtype=like.dtype, device=like.device)


def as_operand(value, like, before):
    """A number itself, or the node of a new constant before the expression `before`."""
    if is_number(value):
        return value
    return make_constant(before.top_graph, tensor_of(value, like), before)
