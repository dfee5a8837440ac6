"""MegEngine's operator classes with a mode, as functions that give the operator of that mode."""

from ... import _core

REDUCE_MODES = {"sum": "sum", "mean": "mean", "product": "prod", "max": "max", "min": "min"}
ELEMWISE_MODES = {
    "true_div": "div",
    "floor_div": "floor_div",
    "negate": "neg",
    "eq": "equal",
    "neq": "not_equal",
    "lt": "less",
    "leq": "less_equal",
    "gt": "greater",
    "geq": "greater_equal",
    "max": "maximum",
    "min": "minimum",
    "log_sum_exp": "logaddexp",
    "shl": "left_shift",
    "shr": "right_shift",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "not": "logical_not",
    "h_swish": "hswish",
}


def _by_mode(family, mode, names, **attributes):
    functions = {record["name"]: record["opdef"] for record in _core.op_table()}
    name = names.get(mode.lower(), mode.lower())
    if name not in functions:
        raise ValueError(f"{family}: mode must be one of its operators, got {mode!r}")
    return _core.op_class(functions[name])(**attributes)


def Elemwise(mode):  # noqa: N802
    """The elementwise operator `mode`."""
    return _by_mode("Elemwise", mode, ELEMWISE_MODES)


def Reduce(mode, axis=None, keepdim=False):  # noqa: N802
    """The reduction `mode` along `axis`, an int, a list or None for all."""
    axes = [] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return _by_mode("Reduce", mode, REDUCE_MODES, axes=axes, keepdims=keepdim)


FAMILIES = {"Elemwise": Elemwise, "Reduce": Reduce}
