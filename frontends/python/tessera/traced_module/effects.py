"""Calls that do more than to make their outputs, which stay where nobody reads those."""

from .. import _core
from ..module import Module
from ..tensor import Parameter
from .operators import MUTATING, READING

# Functions that write to an argument, or draw random numbers, by the name of their module and
# their own.
_DRAWING = ("tessera.random", "tessera._generator", "tessera._variates")
_CHANGING = frozenset(("batch_norm", "call_operator", "dropout", "sync_batch_norm"))


def changes_state(expr):
    """Whether the call `expr` does."""
    method = getattr(expr, "method", None)
    if method is None:
        return _changes(expr.func, expr.kwargs) or any(
            each.has_effect for body in expr.bodies for each in body.own_exprs
        )
    if method == "__call__":
        return has_state(expr.args[0].owner)
    return method in MUTATING or bool(expr.kwargs.get("inplace"))


def only_reads(expr):
    """Whether it neither writes to its tensors nor keeps nor returns one of them."""
    method = getattr(expr, "method", None)
    if method is not None:
        return method in READING and not expr.kwargs
    function = getattr(expr, "func", None)
    return isinstance(function, type(_core.ops.add)) and not changes_state(expr)


def _changes(function, kwargs):
    home = getattr(function, "__module__", None) or ""
    is_known = home.startswith("tessera.")
    name = getattr(function, "__name__", "")
    return (
        not is_known
        or home.startswith(_DRAWING)
        or name in _CHANGING
        or bool(kwargs.get("inplace"))
    )


def has_state(module):
    """Whether a call may change it: it has buffers, or is unknown."""
    if not isinstance(module, Module):
        return True
    return any(not isinstance(tensor, Parameter) for tensor in module.tensors()) or any(
        graph.has_effect for each in module.modules() for graph in getattr(each, "_graphs", ())
    )
