"""Places of a graph that do what a small graph does."""

from dataclasses import dataclass, field

import numpy as np

from ..tensor import Tensor
from .expr import Apply, CallFunction, CallMethod, Constant, GetAttr
from .node import Node, TensorNode
from .pytree import leaves_of, structure_of


@dataclass
class Place:
    """Expressions of a graph that do what the pattern does; `modes` are the contexts around it."""

    inputs: list
    outputs: list
    exprs: list
    modes: tuple = ()


@dataclass
class _Bound:
    """Nodes and expressions of the graph by the ids of those of the pattern."""

    nodes: dict = field(default_factory=dict)
    exprs: dict = field(default_factory=dict)
    modes: tuple | None = None

    def copy(self):
        """One that grows by itself."""
        return _Bound(dict(self.nodes), dict(self.exprs), self.modes)


class Matcher:
    """Finds the places that do what the graph `pattern` does, whose inputs stand for any nodes."""

    def __init__(self, pattern):
        self._pattern = pattern
        self._inputs = {id(node) for node in pattern.inputs}
        last_first = sorted(pattern.outputs, key=pattern.position_of, reverse=True)
        self._outputs = list({id(node.expr): node for node in last_first}.values())

    def places(self, graph):
        """Each Place of `graph`, in the order of their last expressions."""
        for expr in graph.own_exprs:
            yield from self._from(graph, expr)

    def _from(self, graph, expr):
        """The first Place whose last result `expr` makes."""
        start = self._expr(self._outputs[0].expr, expr, _Bound())
        found = None if start is None else self._others(graph, self._outputs[1:], start)
        if found is not None:
            yield self._place(graph, found)

    def _others(self, graph, outputs, bound):
        """Gives what is bound where the expressions of further results are found, too."""
        if not outputs:
            return bound
        wanted = outputs[0].expr
        if id(wanted) in bound.exprs:
            return self._others(graph, outputs[1:], bound)
        taken = {id(expr) for expr in bound.exprs.values()}
        for expr in graph.own_exprs:
            found = None if id(expr) in taken else self._expr(wanted, expr, bound.copy())
            found = None if found is None else self._others(graph, outputs[1:], found)
            if found is not None:
                return found
        return None

    def _place(self, graph, bound):
        inputs = [bound.nodes[id(node)] for node in self._pattern.inputs[1:]]
        outputs = [bound.nodes[id(node)] for node in self._pattern.outputs]
        own = {id(expr): expr for expr in bound.exprs.values()}
        exprs = [expr for expr in graph.own_exprs if id(expr) in own]
        return Place(inputs, outputs, exprs, bound.modes or ())

    # One expression: `wanted` of the pattern, `given` of the graph.

    def _expr(self, wanted, given, bound):
        """`bound` with the expression and what it reads; None: they differ."""
        known = bound.exprs.get(id(wanted))
        if known is not None:
            return bound if known is given else None
        if not _is_like(wanted, given) or not self._has_modes(wanted, given, bound):
            return None
        bound.exprs[id(wanted)] = given
        for node, other in zip(wanted.outputs, given.outputs, strict=True):
            bound.nodes[id(node)] = other
        leaves = zip(_leaves(wanted), _leaves(given), strict=True)
        return bound if all(self._leaf(a, b, bound) for a, b in leaves) else None

    def _has_modes(self, wanted, given, bound):
        if isinstance(wanted, (Constant, GetAttr)):
            return True
        count = len(given.modes) - len(wanted.modes)
        if count < 0 or given.modes[count:] != wanted.modes:
            return False
        around = given.modes[:count]
        bound.modes = around if bound.modes is None else bound.modes
        return bound.modes == around

    def _leaf(self, wanted, given, bound):
        if not isinstance(wanted, Node):
            return not isinstance(given, Node) and _is_equal(wanted, given)
        if not isinstance(given, Node):
            return False
        known = bound.nodes.get(id(wanted))
        if known is not None:
            return known is given
        if id(wanted) in self._inputs:
            bound.nodes[id(wanted)] = given
            return isinstance(given, TensorNode) and given.shape is not None
        number = next(i for i, node in enumerate(wanted.expr.outputs) if node is wanted)
        outputs = given.expr.outputs
        is_same = number < len(outputs) and outputs[number] is given
        return is_same and self._expr(wanted.expr, given.expr, bound) is not None


def _leaves(expr):
    return leaves_of((expr.args, expr.kwargs))


def _is_like(wanted, given):
    """Whether both call the same with arguments in the same containers."""
    if type(wanted) is not type(given) or given.bodies:
        return False
    is_like = structure_of((wanted.args, wanted.kwargs)) == structure_of(
        (given.args, given.kwargs)
    ) and structure_of(wanted.result) == structure_of(given.result)
    return is_like and len(wanted.outputs) == len(given.outputs) and _calls_same(wanted, given)


def _calls_same(wanted, given):
    if isinstance(wanted, CallFunction):
        return wanted.func is given.func
    if isinstance(wanted, CallMethod):
        return (wanted.method, wanted.variant) == (given.method, given.variant)
    if isinstance(wanted, Apply):
        return str(wanted.opdef) == str(given.opdef)
    if isinstance(wanted, GetAttr):
        return wanted.name == given.name
    return isinstance(wanted, Constant) and _is_equal(wanted.value, given.value)


def _is_equal(wanted, given):
    """Whether two constants are equal, and of one class."""
    if wanted is given:
        return True
    if type(wanted) is not type(given):
        return False
    if isinstance(wanted, Tensor):
        wanted, given = wanted.numpy(), given.numpy()
    if isinstance(wanted, np.ndarray):
        return wanted.dtype == given.dtype and np.array_equal(wanted, given)
    return bool(wanted == given)
