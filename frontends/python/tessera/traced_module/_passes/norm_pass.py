"""NormElemWise: one form for each sum, difference, product and quotient."""

import numpy as np

from ... import functional as F  # noqa: N812
from ..expr import CallFunction, CallMethod
from ..node import TensorNode
from .operands import array_of, fits, is_constant, is_float, is_number, is_variable
from .pass_base import BackwardPass, register_pass
from .utils import get_const_value, make_constant, replace_expr

_FORMS = {
    "+": ("__add__", "__radd__", F.add),
    "-": ("__sub__", "__rsub__", F.sub),
    "*": ("__mul__", "__rmul__", F.mul),
    "/": ("__truediv__", "__rtruediv__", F.div),
}
_KINDS = {target: kind for kind, targets in _FORMS.items() for target in targets}


@register_pass("NormElemWise")
class NormElemWise(BackwardPass):
    """Has only additions, products, `neg` and `pow` in the places of `+`, `-`, `*` and `/`, each
    with its constant, if it has one, as the second operand. Required: FoldConstant.

    `x / c` becomes `x * (1 / c)` and `c / x` becomes `pow(x, -1) * c`, with two roundings instead
    of one: an element differs by at most `2 eps` of itself, where it and the reciprocal are normal
    numbers. All others keep their bits. A quotient of two variables stays, as do operations in
    place and those of several dtypes or of integers.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> class Net(M.Module):
    ...     def forward(self, a):
    ...         b = 1 - a
    ...         c = 2 * b
    ...         return 1 / c
    >>> net = tm.trace_module(Net(), F.zeros(2))
    >>> print(net.graph)
    Net.Graph (self, a) {
            %2:     rsub_out = a.__rsub__(1, )
            %3:     rmul_out = rsub_out.__rmul__(2, )
            %4:     rtruediv_out = rmul_out.__rtruediv__(1, )
            return rtruediv_out
    }
    >>> print(tm.optimize(net, "NormElemWise").graph)
    Net.Graph (self, a) {
            %7:     neg_out = elemwise.neg(a, )
            %8:     rsub_out = neg_out.__add__(1, )
            %6:     rmul_out = rsub_out.__mul__(2, )
            %5:     rtruediv_out = elemwise.pow(rmul_out, -1, )
            return rtruediv_out
    }
    """

    name = "NormElemWise"
    required_pass = ("FoldConstant",)
    run_once = False
    roundings = 1024

    def run_transform(self, expr):
        """See BasePass."""
        kind = _kind_of(expr)
        if kind is None or not is_float(expr):
            return expr
        left, right = _operands(expr)
        count = is_variable(left) + is_variable(right)
        if count == 0 or (kind == "/" and (count == 2 or not _has_inverse(right, expr))):
            return expr
        swaps = not is_variable(left)
        if kind in "+*" and not swaps and _target(expr) in ("__add__", "__mul__"):
            return expr
        return replace_expr(expr, self._written(expr, kind, left, right, swaps))

    def _written(self, expr, kind, left, right, swaps):
        """The node of the usual form."""
        graph = expr.top_graph
        if kind in "-/" and not swaps:
            right = _inverse(graph, kind, right, expr)
        with graph.insert_exprs(expr):
            if swaps:
                left, right = right, left
                left = {"-": F.neg, "/": _reciprocal}.get(kind, lambda node: node)(left)
            elif kind == "-" and is_variable(right):
                right = F.neg(right)
            if kind in "+-":
                return left + right
            return left if swaps and kind == "/" and _is_one(right) else left * right


def _reciprocal(node):
    return F.pow(node, -1)


def _inverse(graph, kind, operand, expr):
    """The constant that is added instead of subtracted, or multiplied instead of divided by; a
    variable itself.
    """
    if is_number(operand):
        return -float(operand) if kind == "-" else 1 / operand
    if not is_constant(operand):
        return operand
    value = get_const_value(operand)
    return make_constant(graph, -value if kind == "-" else 1 / value, expr)


def _target(expr):
    return expr.method if isinstance(expr, CallMethod) else expr.func


def _kind_of(expr):
    """One of + - * / for such a call; None: it is something else."""
    if not isinstance(expr, (CallFunction, CallMethod)) or len(expr.args) != 2 or expr.kwargs:
        return None
    return _KINDS.get(_target(expr)) if isinstance(expr.result, TensorNode) else None


def _operands(expr):
    left, right = expr.args
    return (right, left) if str(_target(expr)).startswith("__r") else (left, right)


def _has_inverse(operand, expr):
    """Whether 1 / operand is a normal number for each element of a constant; True for variables."""
    if is_variable(operand):
        return True
    with np.errstate(divide="ignore"):
        return fits(1 / np.asarray(array_of(operand), np.float64), expr.result.dtype)


def _is_one(operand):
    return is_number(operand) and operand == 1
