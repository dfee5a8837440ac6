"""Records a module: one call of it, with the values that it has."""

import inspect
import weakref
from dataclasses import dataclass

from .. import _caller
from ..module import Module
from ..tensor import Tensor
from .attributes import attribute_of, holds, paths_below
from .bodies import Bodies
from .expr import CallMethod, Input, SetAttr
from .functions import is_closed
from .internal_graph import InternalGraph
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .numbering import identifier
from .proxies import TensorProxy, scalar
from .pytree import leaves_of, map_leaves
from .recorder import Recorder
from .scope import Scope
from .signature import GraphParameter, GraphSignature
from .unchanged import Unchanged
from .views import DictView, ListView, module_of, view_of


class Tracer(Bodies, Recorder):
    """Records one call of `module`; `graphs` are those of each opened module, by its id."""

    def __init__(self, module, name, refuses_constants=False):
        super().__init__(refuses_constants)
        self.module, self.name = module, name
        self.graphs, self._views = {}, {}
        self._values = weakref.WeakValueDictionary()  # proxies by the ids of their nodes
        self.ids, self._given_modules = None, []

    # The whole.

    def trace(self, args, kwargs):
        """Calls the module, and gives its result."""
        with Unchanged(self.module) as kept, self:
            view = self.view(self.module)
            result = view(*args, **kwargs)
            kept.has_effects = any(each.has_effect for graphs in self.graphs.values()
                                   for each in graphs)  # fmt: skip
            for name in kept.changed_containers():
                self.tell_constant(f"a change of {name}")
        return result

    def view(self, module):
        """The stand-in for a module, always the same."""
        if id(module) not in self._views:
            self._views[id(module)] = view_of(module)
        return self._views[id(module)]

    def evaluate(self, function, args, kwargs):
        """The result of a call with the values of the arguments."""
        return function(*self.values_of(args), **self.values_of(kwargs))

    def stand_in(self, node, value):
        """The object that the code computes with instead of `value`, of that node."""
        if not isinstance(node, Node):
            return value
        if isinstance(node, ModuleNode):
            return self.view(value)
        if isinstance(node, ScalarNode):
            return scalar(node, value)
        return self.proxy(node, value)

    def proxy(self, node, value):
        """The stand-in of a tensor."""
        made = TensorProxy(node, value)
        self._values[id(node)] = made
        return made

    # Modules.

    def enter_module(self, called, inputs, kwargs):
        """Module.__call__ runs."""
        module = module_of(called)
        if self.scopes and is_closed(module):
            nodes = self.node_of(module), *self.nodes_of(inputs)
            token = _Closed(module), nodes, self.nodes_of(kwargs)
            return token, [module, self.values_of(inputs), self.values_of(kwargs)], True
        if any(scope.module is module for scope in self.scopes):
            raise RecursionError(
                f"trace_module: a module must not call itself, got {type(module).__name__} at "
                f"{_caller.line()}"
            )
        outer = self._call_nodes(module, inputs, kwargs) if self.scopes else None
        graph, inner_inputs, inner_kwargs = self._open(module, inputs, kwargs)
        self.scopes.append(Scope(graph, module, graph.inputs[0], len(self.modes)))
        for node, item in self._given_modules:
            self.scope.note(item, node)
        return (
            (_Opened(module), graph, outer),
            [self.view(module), inner_inputs, inner_kwargs],
            False,
        )

    def _call_nodes(self, module, inputs, kwargs):
        return self.node_of(module), self.nodes_of(inputs), self.nodes_of(kwargs)

    def _open(self, module, inputs, kwargs):
        """A new graph for a call, and the arguments as its inputs' stand-ins."""
        name = type(module).__name__
        path = self._path_of(module)
        graph = InternalGraph(name, f"{self.name}.{path}" if path else self.name, self.ids)
        self.ids = graph.ids
        Input.make(graph, "self", ModuleNode, module)
        self._given_modules = []
        bound = inspect.signature(type(module).forward).bind(module, *inputs, **kwargs)
        bound.apply_defaults()
        parameters = []
        for parameter in [*bound.signature.parameters.values()][1:]:
            value = bound.arguments[parameter.name]
            tree = self._input_tree(graph, parameter.name, value)
            parameters.append(GraphParameter(parameter.name, parameter.kind, tree,
                                             parameter.default))  # fmt: skip
            bound.arguments[parameter.name] = self._with_stand_ins(tree, value)
        graph.signature = GraphSignature(parameters)
        return graph, tuple(bound.args[1:]), bound.kwargs

    def _path_of(self, module):
        paths = {id(each): path for path, each in reversed([*paths_below(self.module)])}
        return paths.get(id(module), "")

    def _input_tree(self, graph, name, value):
        leaves = leaves_of(value)
        is_one = len(leaves) == 1 and leaves[0] is value
        numbers = iter(range(len(leaves)))

        def _node(leaf):
            number = next(numbers)
            return self._input(graph, name if is_one else f"{name}_{number}", leaf)

        return map_leaves(_node, value)

    def _input(self, graph, name, leaf):
        """The node of an argument; the argument itself where it is constant."""
        value = self.value_of(leaf)
        kind = None
        if isinstance(value, Tensor):
            kind = TensorNode
        elif isinstance(value, Module):
            kind = ModuleNode
        elif type(value) is not type(leaf):
            kind = ScalarNode
        if kind is None:
            return self._argument(leaf)
        node = Input.make(graph, identifier(name), kind, value)
        if kind is ModuleNode:
            self._given_modules.append((node, value))
        return node

    def _with_stand_ins(self, tree, value):
        nodes = iter(leaves_of(tree))

        def _stand_in(leaf):
            node = next(nodes)
            return self.stand_in(node, self.value_of(leaf)) if isinstance(node, Node) else leaf

        return map_leaves(_stand_in, value)

    def leave_module(self, token, result):
        """Module.__call__ returns."""
        if isinstance(token[0], _Closed):
            _, nodes, kwargs = token
            expr = CallMethod(self.scope.graph, "__call__", nodes, kwargs, _caller.line())
            return self.finish(expr, result, "")
        opened, graph, outer = token
        graph.output_tree = self.nodes_of(result)
        self.scopes.pop()
        graph.drop_unread()
        number = self._number_of(opened.module, graph)
        values = self.values_of(result)
        if outer is None:
            return values
        node, args, kwargs = outer
        expr = CallMethod(
            self.scope.graph, "__call__", (node, *args), kwargs, _caller.line(), number
        )
        return self.finish(expr, values, "")

    def _number_of(self, module, graph):
        """Which of the module's graphs it is, one that is there already, if they are equal."""
        known = self.graphs.setdefault(id(module), [])
        for number, each in enumerate(known):
            if not each.diff(graph):
                return number
        known.append(graph)
        return len(known) - 1

    def fail_module(self, token):
        """Module.__call__ raised."""
        if isinstance(token[0], _Opened):
            self.scopes.pop()

    # Attributes of modules.

    def read(self, view, name, value):
        """The object that the code gets for `view.name`, which is `value`."""
        if not self.scopes:
            return value
        before = self.mute()
        try:
            module = module_of(view)
            if name == "training" and type(value) is bool:
                return self._training(module, value)
            return self._attribute(module, name, value) if name in vars(module) else value
        finally:
            self.mute(before)

    def _training(self, module, value):
        node = self.scope.training.get(id(module))
        if node is None:
            node = self.read_attribute(self.node_of(module), "training", value)
            self.scope.training[id(module)] = node
        return self.stand_in(node, value)

    def _attribute(self, module, path, value):
        if type(value) is TensorProxy:
            return value  # of a container that the code itself made
        if isinstance(value, (Tensor, Module)):
            node = self.scope.known(value) or self.read_attribute(self.node_of(module), path, value)
            return self.stand_in(node, value)
        if not isinstance(value, (list, tuple, dict)) or not holds(value):
            return value
        if isinstance(value, dict):
            items = {key: self._attribute(module, f"{path}.{key}", item)
                     for key, item in value.items()}  # fmt: skip
            return DictView(items).place(module, path)
        items = [self._attribute(module, f"{path}.{i}", item) for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return ListView(items).place(module, path)

    def write(self, view, name, value):
        """The code sets `view.name`."""
        before = self.mute()
        try:
            module = module_of(view)
            Module.__setattr__(module, name, self.values_of(value))
            if self.has_nodes(value) or holds(value):
                self._write_leaves(module, name, value)
            else:
                self.tell_constant(f"a change of {type(module).__name__}.{name}")
            self.scope.forget_paths()
        finally:
            self.mute(before)

    def write_item(self, module, path, key, item):
        """The code puts `item` into a container of a module."""
        before = self.mute()
        try:
            attribute_of(module, path)[key] = self.values_of(item)
            self._write_leaves(module, f"{path}.{key}", item)
        finally:
            self.mute(before)

    def _write_leaves(self, module, path, value):
        if isinstance(value, (list, tuple)) and leaves_of(value) != [value]:
            for number, item in enumerate(value):
                self._write_leaves(module, f"{path}.{number}", item)
            return
        owner, node = self.node_of(module), self.node_of(value)
        if node is None:
            self.tell_constant(f"a change of {type(module).__name__}.{path}")
            return
        expr = SetAttr(self.scope.graph, owner, path, node, _caller.line())
        self.append(expr)
        self.scope.note(self.value_of(value), node)


@dataclass
class _Closed:
    """A call of a module that is one expression."""

    module: Module


@dataclass
class _Opened:
    """A call of a module that gets a graph."""

    module: Module
