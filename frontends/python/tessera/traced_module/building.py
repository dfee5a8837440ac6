"""TracedModules for modules that were recorded, and one graph of all graphs."""

from ..module import Module, ModuleDict, ModuleList
from .attributes import holds
from .copying import copied, copied_node, copy_inputs, empty_body
from .expr import CallMethod, GetAttr, SetAttr
from .functions import is_closed
from .internal_graph import InternalGraph
from .node import ModuleNode, Node
from .pytree import leaves_of, map_leaves

_OWN = frozenset(vars(Module("module")))


class Builder:
    """Makes a TracedModule, an object of the class `kind`, of a module and its `graphs` by ids."""

    def __init__(self, kind, graphs):
        self._kind, self._graphs, self._made = kind, graphs, {}

    def build(self, module):
        """The module that stands for `module`: itself where it is closed."""
        if id(module) in self._made:
            return self._made[id(module)]
        if is_closed(module) and id(module) not in self._graphs:
            return module
        made = self._made[id(module)] = self._empty(module)
        for key, value in vars(module).items():
            if key not in _OWN and holds(value):
                vars(made)[key] = self._value(value)
        for graph in self._graphs.get(id(module), ()):
            self._kind.add_graph(made, graph)
        return made

    def _empty(self, module):
        if type(module) in (ModuleList, ModuleDict):
            made = type(module)()
            if isinstance(module, ModuleDict):
                made._names = list(module._names)
        else:
            made = self._kind(type(module).__name__)
        made.training = module.training
        vars(made).update(name=module.name, _scope=module._scope)
        return made

    def _value(self, value):
        def _leaf(leaf):
            return self.build(leaf) if isinstance(leaf, Module) else leaf

        return map_leaves(_leaf, value)


def flattened(graph):
    """One graph that does what `graph` and those that it calls do."""
    flat = InternalGraph(graph.name, graph.qualname)
    flat.set_owner(graph.owner)
    nodes = {}
    copy_inputs(flat, graph, nodes)
    flat.output_tree = _Flattening(flat).take(graph, nodes)
    flat.drop_unread()
    return flat


class _Flattening:
    def __init__(self, flat):
        self._flat, self._attributes, self._modes = flat, {}, ()

    def _append(self, expr):
        if isinstance(expr, SetAttr):
            self._attributes.pop(_path_of(expr.args[0], expr.name), None)
        expr.modes = (*self._modes, *expr.modes)
        self._flat.own_exprs.append(expr)

    def take(self, graph, nodes):
        """Takes over the expressions of `graph`, with `nodes` for its inputs; its result."""
        for expr in graph.own_exprs:
            called = expr.graph if isinstance(expr, CallMethod) else None
            if called is not None:
                self._inline(expr, called, nodes)
            elif isinstance(expr, GetAttr) and isinstance(expr.args[0], ModuleNode):
                nodes[id(expr.result)] = self._attribute(expr, nodes)
            else:
                self._append(copied(expr, self._flat, nodes, self._body))
        return map_leaves(lambda leaf: nodes.get(id(leaf), leaf), graph.output_tree)

    def _body(self, body, graph, nodes):
        new = empty_body(body, graph)
        copy_inputs(new, body, nodes)
        new.output_tree = _Flattening(new).take(body, nodes)
        return new

    def _inline(self, expr, called, nodes):
        given = map_leaves(lambda leaf: nodes.get(id(leaf), leaf), (expr.args, expr.kwargs))
        (module, *args), kwargs = given
        inner = {id(called.owner_input): module}
        called.signature.bind(called.name, inner, args, kwargs)
        before, self._modes = self._modes, (*self._modes, *expr.modes)
        result = self.take(called, inner)
        self._modes = before
        found = zip(leaves_of(expr.result), leaves_of(result), strict=True)
        nodes.update((id(old), new) for old, new in found if isinstance(old, Node))

    def _attribute(self, expr, nodes):
        """The node of an attribute by its path from the outermost module, one until it is set."""
        owner, path = key = _path_of(nodes[id(expr.args[0])], expr.name)
        if key not in self._attributes:
            new = GetAttr(self._flat, owner, path, expr.line)
            new.result = copied_node(expr.result, new, self._flat, path)
            self._flat.own_exprs.append(new)
            self._attributes[key] = new.result
        return self._attributes[key]


def _path_of(owner, path):
    """(node, path) of an attribute, from a module that is not read of another one."""
    if isinstance(owner.expr, GetAttr):
        return owner.expr.args[0], f"{owner.expr.name}.{path}"
    return owner, path
