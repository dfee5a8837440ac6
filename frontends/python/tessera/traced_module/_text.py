"""Graphs as text."""

import numpy as np

from ..tensor import Tensor
from .body import Body
from .node import Node
from .pytree import leaves_of, map_leaves

_MOST = 60  # characters of a constant


class Bare:
    """An object whose repr is a text."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def value_text(value):
    """An argument as a graph shows it: nodes by their names."""
    return repr(map_leaves(lambda leaf: Bare(_leaf_text(leaf)), value))


def _leaf_text(leaf):
    if isinstance(leaf, (Node, Body)):
        return leaf.name
    if isinstance(leaf, Tensor):
        return f"Tensor({leaf.dtype}{list(leaf.shape)})"
    if isinstance(leaf, np.ndarray):
        return f"array({leaf.dtype}{list(leaf.shape)})"
    if isinstance(leaf, type):
        return leaf.__name__
    text = getattr(leaf, "__name__", None) if callable(leaf) else None
    text = repr(leaf) if text is None else text
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def _call_text(args, kwargs):
    given = ", ".join(map(value_text, args))
    named = ", ".join(f"{key}={value_text(value)}" for key, value in kwargs.items())
    return f"({given}, {named})"


def function_name(function):
    """A function as a graph shows it, with the last part of its module: "nn.relu"."""
    home = (getattr(function, "__module__", None) or "").rpartition(".")[2]
    name = getattr(function, "__name__", type(function).__name__)
    return f"{home}.{name}" if home else name


def line_of(expr):
    """The line of an expression, as `relu_out = nn.relu(add_out, )`."""
    text = _TEXTS[type(expr).__name__](expr)
    outputs = expr.outputs
    if not outputs:
        return text
    is_one = isinstance(expr.result, Node)
    left = expr.result.name if is_one else ", ".join(node.name for node in outputs)
    return f"{left} = {text}"


def _types(expr):
    return f" -> ({', '.join(node.type_name for node in expr.outputs)})"


def _method_text(expr):
    target, *rest = expr.args
    call = _call_text(rest, expr.kwargs)
    if expr.method == "__call__":
        variant = f"[{expr.variant}]" if expr.variant else ""
        return f"{value_text(target)}{variant}{call}"
    return f"{value_text(target)}.{expr.method}{call}"


_TEXTS = {
    "Input": lambda expr: "Input()" + _types(expr),
    "GetAttr": lambda expr: f'getattr({value_text(expr.args[0])}, "{expr.name}")' + _types(expr),
    "SetAttr": lambda expr: (
        f'setattr({value_text(expr.args[0])}, "{expr.name}", {value_text(expr.args[1])})'
    ),
    "CallMethod": _method_text,
    "CallFunction": lambda expr: function_name(expr.func) + _call_text(expr.args, expr.kwargs),
    "Apply": lambda expr: f"{expr.opdef}" + _call_text(expr.args, {}),
    "Constant": lambda expr: f"Constant({_class(expr.value)})" + _types(expr),
}


def _class(value):
    kind = type(value)
    module = "tessera" if issubclass(kind, Tensor) and kind.__module__.startswith("tessera") else (
        kind.__module__
    )  # fmt: skip
    return f"<class '{module}.{kind.__qualname__}'>"


def graph_text(graph):
    """The text of a graph and, below it, of the graphs that it calls, each once."""
    return "\n".join("\n".join(_lines(each, "")) for each in graph.all_graphs())


def _lines(graph, indent):
    inner = indent + " " * 8
    names = ", ".join(node.name for node in graph.inputs)
    yield f"{indent}{graph.title} ({names}) {{"
    for expr in graph.own_exprs:
        modes = "  # in " + ", ".join(map(str, expr.modes)) if expr.modes else ""
        yield f"{inner}{f'%{expr.id}:':<8}{expr}{modes}"
        for body in expr.bodies:
            yield from _lines(body, inner)
    if leaves_of(graph.output_tree):
        tree = graph.output_tree
        is_flat = type(tree) is tuple and all(isinstance(leaf, Node) for leaf in tree)
        text = ", ".join(node.name for node in tree) if is_flat else value_text(tree)
        yield f"{inner}return {text}"
    yield f"{indent}}}"
