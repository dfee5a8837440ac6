"""Variables and operators that variables of a network depend on."""

import collections

from .. import _core
from .network_node import OpNode, VarNode, node_object


def listed(what, var):
    """A variable, or a list of variables, as a list. TypeError: each must be a VarNode."""
    variables = [var] if isinstance(var, VarNode) else list(var)
    for each in variables:
        if not isinstance(each, VarNode):
            raise TypeError(f"{what}: variables must be VarNode, got {each!r}")
    return variables


def get_dep_vars(var, var_type=None):
    """The variables that `var`, one or a list, depends on, itself the first: those whose operator
    has one of the types `var_type`, a name or a list of names; None for all."""
    types = [var_type] if isinstance(var_type, str) else var_type
    found, seen = [], set()
    queue = collections.deque(listed("get_dep_vars", var))
    while queue:
        each = queue.popleft()
        if id(each) in seen:
            continue
        seen.add(id(each))
        queue.extend(each.owner.inputs)
        found.append(each)
    return [each for each in found if types is None or _has_type(each.owner, types)]


def _has_type(opr, types):
    names = {opr.type} | {cls.__name__ for cls in type(opr).__mro__ if issubclass(cls, OpNode)}
    return not names.isdisjoint(types)


def get_oprs_seq(outputs, prune_reshape=False, prune_immtensor=True):
    """The operators that give `outputs`, one variable or a list, each behind what it reads.

    Constants are left out with `prune_immtensor`. `prune_reshape` changes nothing: no operator
    computes the shape that a reshape takes.
    """
    nodes = _core.dependencies(listed("get_oprs_seq", outputs))
    oprs = [node_object(node) for node in nodes]
    return [opr for opr in oprs if not (prune_immtensor and opr.type == "ImmutableTensor")]
