"""Functions that recorded calls are given, as graphs: bodies of loops and branches."""

import inspect

from ..autodiff import checkpoint
from ..functional import cond, scan, while_loop, zeros
from .internal_graph import InternalGraph
from .node import Node, ScalarNode
from .numbering import identifier
from .pytree import map_leaves
from .scope import Scope
from .signature import GraphParameter, GraphSignature
from .unchanged import Unchanged


class Bodies:
    """The part of a Tracer that records them."""

    def enter_loop(self, call, values):
        """A call of `cond`, `scan`, `while_loop` or `checkpoint` begins."""
        args, kwargs = call.arguments
        if call.function is checkpoint and not call.arguments[0][1:] and not kwargs:
            return None  # a function that is called later
        with Unchanged(self.module) as kept:
            bodies = dict(_BODIES[call.function](self, *args, **kwargs))
            kept.has_effects = any(graph.has_effect for graph in bodies.values())
        graphs = {id(function): graph for function, graph in bodies.items()}
        as_graphs = map_leaves(lambda leaf: graphs.get(id(leaf), leaf), call.arguments)
        nodes = self.nodes_of(as_graphs)
        as_functions = [map_leaves(lambda leaf: self._function(graphs.get(id(leaf), leaf)), value)
                        for value in values]  # fmt: skip
        return (call, nodes), self.values_of(as_functions), True

    def _function(self, value):
        if not isinstance(value, InternalGraph):
            return value
        captured = {id(node): self._captured(node) for node in value.captures}
        return value.function_of(captured)

    def _captured(self, node):
        """The value of a node around a body."""
        if id(node) in self._values:
            return self._values[id(node)].value
        return node.value if isinstance(node, ScalarNode) else self.scope.item_of(node)

    def body(self, function, *args):
        """(the function, the graph of its call with these arguments)."""
        outer = self.scope
        name = outer.graph.names.free(identifier(getattr(function, "__name__", "body").strip("<>")))
        graph = InternalGraph(name, f"{outer.graph.qualname}.{name}", outer.graph.ids)
        graph.set_outer(outer.graph)
        self.scopes.append(Scope(graph, outer.module, outer.self_node, len(self.modes), outer))
        parameters, given, self._given_modules = [], [], []
        for parameter, arg in zip(_parameter_names(function, len(args)), args, strict=True):
            tree = self._input_tree(graph, parameter, arg)
            parameter = tree.name if isinstance(tree, Node) else graph.names.free(parameter)
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters.append(GraphParameter(parameter, kind, tree))
            given.append(self._with_stand_ins(tree, arg))
        for node, item in self._given_modules:
            self.scope.note(item, node)
        graph.signature = GraphSignature(parameters)
        before = self.mute(False)
        try:
            result = function(*given)
            self.mute()
            graph.output_tree = self.nodes_of(result)
        finally:
            self.mute(before)
            self.scopes.pop()
        graph.drop_unread()
        return function, graph

    def _cond(self, pred, then, orelse, *operands):
        return [self.body(then, *operands), self.body(orelse, *operands)]

    def _scan(self, step, carried, xs=None, length=None, reverse=False):
        return [self.body(step, carried, map_leaves(self._first, xs))]

    def _first(self, leaf):
        value = self.value_of(leaf)
        if value is None:
            return None
        return value[0] if value.shape[0] else zeros(value.shape[1:], dtype=value.dtype)

    def _while(self, cond, body, *carried, max_trips=None):
        return [self.body(cond, *carried), self.body(body, *carried)]

    def _checkpoint(self, function, *args, **kwargs):
        return [self.body(function, *args)]


_BODIES = {cond: Bodies._cond, scan: Bodies._scan, while_loop: Bodies._while,
           checkpoint: Bodies._checkpoint}  # fmt: skip


def _parameter_names(function, count):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [identifier(each.name) for each in parameters if each.kind in kinds]
    return [*names, *(f"arg_{i}" for i in range(len(names), count))][:count]
