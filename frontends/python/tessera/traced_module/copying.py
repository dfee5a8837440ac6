"""Copies of expressions and graphs. They go line by line, because a graph may be deep."""

import copy

from .body import Body
from .expr import Constant
from .node import Node
from .pytree import map_leaves


def copied(expr, graph, nodes, copy_body=None):
    """`expr` as an expression of `graph`, which it does not join; `nodes` has the new node of each
    old one by its id, and gets those of the outputs. `copy_body(body, graph, nodes)` copies bodies.
    """
    copy_body = copy_body or copied_body
    new = copy.copy(expr)
    new.top_graph, new.id, new.args, new.kwargs = graph, graph.ids.of_expr(), (), {}

    def _argument(leaf):
        if isinstance(leaf, Node):
            return nodes.get(id(leaf), leaf)
        return copy_body(leaf, graph, nodes) if isinstance(leaf, Body) else leaf

    args, kwargs = map_leaves(_argument, expr.args), map_leaves(_argument, expr.kwargs)
    new.set_arguments(args, kwargs)
    new.result = map_leaves(lambda leaf: _output(new, graph, nodes, leaf), expr.result)
    return new


def _output(expr, graph, nodes, leaf):
    if not isinstance(leaf, Node):
        return leaf
    new = nodes[id(leaf)] = copied_node(leaf, expr, graph)
    return new


def copied_node(node, expr, graph, name=None):
    """`node` as one that `expr` of `graph` makes, with a name like `name` or its own."""
    new = copy.copy(node)
    new.expr, new._users = expr, {}
    new.name, new.id = graph.names.free(name or node.name), graph.ids.of_node()
    return new


def copied_body(body, outer, nodes):
    """A body for an expression of `outer`."""
    new = empty_body(body, outer)
    fill(new, body, nodes)
    return new


def empty_body(body, outer):
    """A body like `body` for an expression of `outer`, without anything in it."""
    name = outer.names.free(body.name)
    new = type(body)(name, f"{outer.qualname}.{name}", outer.ids)
    new.set_outer(outer)
    return new


def copy_inputs(new, graph, nodes):
    """Gives the empty graph `new` the inputs of `graph`."""
    for node in graph.inputs:
        expr = copy.copy(node.expr)
        expr.top_graph, expr.id = new, new.ids.of_expr()
        expr.result = nodes[id(node)] = copied_node(node, expr, new)
        new.inputs.append(expr.result)
    new.signature = graph.signature.with_nodes(nodes)


def fill(new, graph, nodes):
    """Gives the empty graph `new` what `graph` has."""
    copy_inputs(new, graph, nodes)
    for expr in graph.own_exprs:
        new.own_exprs.append(copied(expr, new, nodes))
    new.output_tree = map_leaves(lambda leaf: nodes.get(id(leaf), leaf), graph.output_tree)


def copied_graph(graph, ids, memo):
    """A graph like `graph`, of no module, whose numbers are of `ids`; constants are copied, too,
    with the `memo` of copy.deepcopy.
    """
    new = type(graph)(graph.name, graph.qualname, ids)
    fill(new, graph, {})
    for expr in new.every_expr(recursive=False):
        if isinstance(expr, Constant):
            expr.value = copy.deepcopy(expr.value, memo)
    return new
