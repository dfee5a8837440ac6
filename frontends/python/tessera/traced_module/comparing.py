"""How two graphs differ."""

import difflib

import numpy as np

from ..tensor import Tensor
from . import _text
from .body import Body
from .node import Node
from .pytree import map_leaves


def differences(graph, other):
    """A unified diff of both graphs; [] where they are equal."""
    first, second = (list(_Lines().of(each)) for each in (graph, other))
    if first == second:
        return []
    old, new = ([text for text, _ in lines] for lines in (first, second))
    lines = list(difflib.unified_diff(old, new, graph.qualname, other.qualname, lineterm=""))
    return lines or [f"constants of {graph.qualname} and {other.qualname}"]


class _Lines:
    """The lines of a graph with nodes by numbers, and what tells equal texts apart."""

    def __init__(self):
        self._numbers = {}

    def of(self, graph):
        """(text, key) of each line."""
        for node in graph.inputs:
            self._number(node)
        for expr in graph.own_exprs:
            for body in expr.bodies:
                yield from self.of(body)
            yield self._line(expr)
        yield "return " + self._value(graph.output_tree), ()

    def _line(self, expr):
        args = [self._value(each) for each in expr.args]
        args += [f"{key}={self._value(value)}" for key, value in expr.kwargs.items()]
        kind = type(expr).__name__
        if kind == "CallFunction":
            what, key = _text.function_name(expr.func), id(expr.func)
        elif kind == "CallMethod":
            what, key = f".{expr.method}", expr.variant
        elif kind == "Apply":
            what, key = str(expr.opdef), ()
        elif kind == "Constant":
            what, key = "constant", _contents(expr.value)
        else:
            what, key = f"{kind.lower()} {expr.name}", ()
        result = self._value(map_leaves(self._numbered, expr.result))
        return f"{result} = {what}({', '.join(args)})", (key, expr.modes, *self._constants(expr))

    def _numbered(self, leaf):
        if isinstance(leaf, Node):
            self._number(leaf)
        return leaf

    def _number(self, node):
        return self._numbers.setdefault(id(node), len(self._numbers))

    def _value(self, tree):
        return _text.value_text(map_leaves(self._leaf, tree))

    def _leaf(self, leaf):
        if isinstance(leaf, Node):
            return _text.Bare(f"%{self._number(leaf)}")
        return _text.Bare("body") if isinstance(leaf, Body) else leaf

    def _constants(self, expr):
        """Gives what the text of constants does not tell."""
        for _, leaf in expr.const_val:
            if isinstance(leaf, np.ndarray):
                yield leaf.tobytes()
            elif callable(leaf):
                yield id(leaf)


def _contents(value):
    """Something that is equal for tensors of equal bits, and for one module."""
    if not isinstance(value, Tensor):
        return id(value)
    return str(value._dtype_key), tuple(value.shape), np.asarray(value._stored()).tobytes()
