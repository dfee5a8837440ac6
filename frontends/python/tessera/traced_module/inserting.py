"""Calls of nodes that become expressions of a graph which is there already."""

from .. import _caller, _core
from ..jit.recording import record
from ..module import Module
from ..tensor import Tensor
from .attributes import attribute_of
from .expr import CallMethod
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .pytree import leaves_of
from .recorder import Recorder
from .scope import Scope


class Inserter(Recorder):
    """The context of InternalGraph.insert_exprs."""

    is_inserting = True

    def __init__(self, graph, after):
        super().__init__()
        self._graph, self._after, self._new = graph, after, []

    def __enter__(self):
        super().__enter__()
        node = self._graph.owner_input
        self.scopes.append(Scope(self._graph, self._graph.owner, node, 0))
        return self

    def __exit__(self, kind, *exc):
        super().__exit__(kind, *exc)
        self.scopes.clear()
        try:
            if kind is None:
                self._graph.insert_at(self._position(), self._new)
        except ValueError:
            kind = ValueError
            raise
        finally:
            if kind is not None:
                for expr in self._new:
                    expr.set_arguments((), {})

    def _position(self):
        if self._after is not None:
            return 1 + next(i for i, e in enumerate(self._graph.own_exprs) if e is self._after)
        made = {id(node) for expr in self._new for node in expr.outputs}
        places = [self._graph.position_of(node) for expr in self._new for node in expr.inputs
                  if id(node) not in made]  # fmt: skip
        return 1 + max((place for place in places if place is not None), default=-1)

    def append(self, expr):
        """Takes the expression."""
        self._new.append(expr)

    def evaluate(self, function, args, kwargs):
        """Tensors of the shapes and dtypes of the result, which is not computed."""
        args, kwargs = self.values_of((args, kwargs))
        tensors = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, Tensor)]
        return record(function, tensors, args, kwargs, run=False)[0]

    def value_of(self, leaf):
        """A tensor without values for a node, or the module that it is."""
        if isinstance(leaf, TensorNode):
            if leaf.shape is None:
                raise ValueError(
                    f"insert_exprs: the shape of a node must be known, got none for {leaf.name}"
                )
            return _core.valueless_tensor(list(leaf.shape), str(leaf.dtype))
        if isinstance(leaf, ModuleNode):
            return leaf.owner
        return leaf.value if isinstance(leaf, ScalarNode) else super().value_of(leaf)

    def stand_in(self, node, value):
        """The node itself."""
        return node if isinstance(node, Node) else value

    def attribute(self, target, name):
        """Gives what the module of a node has under that name, or the tensor."""
        if not isinstance(target, ModuleNode):
            return super().attribute(target, name)
        value = attribute_of(target.owner, name)
        if not isinstance(value, (Tensor, Module)):
            return value
        known = self.scope.known(value)
        return known or self.read_attribute(target, name, value)

    def call_module(self, node, args, kwargs):
        """Records a call of the module of a node."""
        before = self.mute()
        try:
            result = self.evaluate(node.owner, args, kwargs)
            args, kwargs = self.nodes_of((args, kwargs))
            line = _caller.line()
            expr = CallMethod(self._graph, "__call__", (self.check_node(node), *args), kwargs, line)
            return self.finish(expr, result, "")
        finally:
            self.mute(before)

    def enter_module(self, called, inputs, kwargs):
        """A module that is no node is called: one that the graph's module has, or a constant."""
        token = called, self.nodes_of((inputs, kwargs))
        values = self.values_of((inputs, kwargs))
        return token, [called, *values], True

    def leave_module(self, token, result):
        """See enter_module."""
        called, (args, kwargs) = token
        node = self.held_node(called)
        expr = CallMethod(self._graph, "__call__", (node, *args), kwargs, _caller.line())
        return self.finish(expr, result, "")

    def fail_module(self, token):
        """Nothing was recorded."""

    def enter_loop(self, call, values):
        """ValueError: bodies are recorded with a module."""
        raise ValueError(
            f"insert_exprs: calls must have no functions among their arguments, got "
            f"{call.function.__name__} at {_caller.line()}"
        )
