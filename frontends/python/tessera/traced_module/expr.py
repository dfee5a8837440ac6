"""Expressions: the lines of a graph."""

from ..module import Module
from . import _text
from .attributes import attribute_of, set_attribute
from .body import Body
from .effects import changes_state, only_reads
from .modes import entered
from .node import ModuleNode, Node, ScalarNode, TensorNode
from .pytree import leaves_of, map_leaves


class Expr:
    """One line of a graph: what is computed of `args` and `kwargs`, trees with nodes in them.

    `inputs` are the nodes that it reads, `outputs` those that it makes, `const_val` the other
    arguments as (position, value), `top_graph` the graph that it is in, `id` its number, and `line`
    the user's line that it comes from. `result` is the tree around the outputs, `modes` are the
    contexts in which it runs.
    """

    def __init__(self, top_graph, args=(), kwargs=None, line=""):
        self.top_graph, self.id, self.line = top_graph, top_graph.ids.of_expr(), line
        self.args, self.kwargs, self.result, self.modes = (), {}, None, ()
        self.set_arguments(args, kwargs or {})

    @property
    def inputs(self):
        """The nodes that it reads, in order; those that a body reads from around it come last."""
        leaves = leaves_of((self.args, self.kwargs))
        nodes = [leaf for leaf in leaves if isinstance(leaf, Node)]
        return nodes + [node for body in self.bodies for node in body.captures]

    @property
    def bodies(self):
        """The graphs among its arguments: bodies of loops and branches."""
        return [leaf for leaf in leaves_of((self.args, self.kwargs)) if _is_body(leaf)]

    @property
    def outputs(self):
        """The nodes that it makes, in order."""
        return [leaf for leaf in leaves_of(self.result) if isinstance(leaf, Node)]

    @property
    def const_val(self):
        """(position among all leaves of the arguments, value) of those that are no nodes."""
        leaves = leaves_of((self.args, self.kwargs))
        return [(i, leaf) for i, leaf in enumerate(leaves) if not isinstance(leaf, Node)]

    @property
    def has_effect(self):
        """Whether a run does more than to make the outputs, so that it stays where nobody reads
        them.
        """
        return False

    def set_arguments(self, args, kwargs):
        """Takes other arguments; nodes know who reads them."""
        for node in self.inputs:
            node._users.pop(id(self), None)
        self.args, self.kwargs = args, kwargs
        for node in self.inputs:
            node._users[id(self)] = self

    def replace_inputs(self, replaced):
        """Nodes of the dict `replaced`, by their ids, become what it has for them."""

        def _new(leaf):
            return replaced.get(id(leaf), leaf) if isinstance(leaf, Node) else leaf

        for body in self.bodies:
            for expr in body.own_exprs:
                expr.replace_inputs(replaced)
            body.output_tree = map_leaves(_new, body.output_tree)
        self.set_arguments(map_leaves(_new, self.args), map_leaves(_new, self.kwargs))

    def interpret(self, *inputs):
        """The values of the outputs, as a tuple, for those of the inputs.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> traced = tm.trace_module(M.ReLU(), F.zeros(2))
        >>> expr = traced.graph.exprs().as_list()[0]
        >>> expr.interpret(F.ones(2) * -1)[0].tolist()
        [0.0, 0.0]
        """
        if len(inputs) != len(self.inputs):
            raise ValueError(
                f"interpret: there must be a value for each of {len(self.inputs)} inputs, got "
                f"{len(inputs)}"
            )
        values = {id(node): value for node, value in zip(self.inputs, inputs, strict=True)}
        return tuple(self.values_of(values))

    def values_of(self, values, run=None, function_of=None):
        """The values of the outputs, for those of all nodes by their ids. `run(args, kwargs)` and
        `function_of(body, values)` stand for what the expression and its bodies do.
        """
        run, function_of = run or self.run, function_of or _function_of

        def _value(leaf):
            if isinstance(leaf, Node):
                return values[id(leaf)]
            return function_of(leaf, values) if _is_body(leaf) else leaf

        with entered(self.modes):
            result = run(map_leaves(_value, self.args), map_leaves(_value, self.kwargs))
        found = leaves_of(result)
        wanted = leaves_of(self.result)
        if len(found) != len(wanted):
            raise ValueError(
                f"interpret: {self.title} must give {len(wanted)} values, got {len(found)}"
            )
        return [value for node, value in zip(wanted, found, strict=True) if isinstance(node, Node)]

    def run(self, args, kwargs):
        """Computes the result of values."""
        raise NotImplementedError

    def owner_of(self, node):
        """The module that the node, one of the outputs, is."""
        return

    def qualname_of(self, node):
        """The path of that module."""
        return node.name

    @property
    def title(self):
        """The line in words, for messages."""
        return str(self)

    def __str__(self):
        return _text.line_of(self)

    def __repr__(self):
        return f"{type(self).__name__}({self})"


class Input(Expr):
    """An argument of the graph's module; the first one is the module itself."""

    def owner_of(self, node):
        """The module that the graph is of."""
        graph = self.top_graph
        return graph.owner if graph is not None and node is graph.inputs[0] else None

    def qualname_of(self, node):
        """The path of the module that the graph is of."""
        return self.top_graph.qualname if self.top_graph is not None else node.name

    @classmethod
    def make(cls, graph, name, kind=TensorNode, value=None):
        """A node for an argument `name`."""
        expr = cls(graph)
        expr.result = new_node(expr, name, kind, value)
        graph.inputs.append(expr.result)
        return expr.result


class GetAttr(Expr):
    """Reads an attribute: a tensor or a module of a module, by its path, or a size of a tensor."""

    def __init__(self, top_graph, owner, name, line=""):
        super().__init__(top_graph, (owner,), line=line)
        self.name = name

    def run(self, args, kwargs):
        """The attribute of the value."""
        (owner,) = args
        return attribute_of(owner, self.name) if isinstance(owner, Module) else getattr(
            owner, self.name
        )  # fmt: skip

    def owner_of(self, node):
        """The module that the attribute is."""
        owner = self.args[0].owner if isinstance(self.args[0], ModuleNode) else None
        return attribute_of(owner, self.name, None)

    def qualname_of(self, node):
        """The path of the attribute."""
        return f"{self.args[0].qualname}.{self.name}"


class SetAttr(Expr):
    """Sets an attribute of a module to a tensor."""

    def __init__(self, top_graph, owner, name, value, line=""):
        super().__init__(top_graph, (owner, value), line=line)
        self.name = name

    has_effect = True

    def run(self, args, kwargs):
        """Sets it; None."""
        owner, value = args
        set_attribute(owner, self.name, value)


class CallMethod(Expr):
    """Calls a method of the first argument; `__call__` of a module is the call of that module, by
    the graph number `variant` where it has several.
    """

    def __init__(self, top_graph, method, args, kwargs=None, line="", variant=0):
        super().__init__(top_graph, args, kwargs, line)
        self.method, self.variant = method, variant

    @property
    def has_effect(self):
        """Whether the method changes its tensor, or the module has statistics."""
        return changes_state(self)

    @property
    def graph(self):
        """The graph of the module that is called; None: it is not opened."""
        node = self.args[0]
        owner = node.owner if isinstance(node, ModuleNode) and self.method == "__call__" else None
        graphs = getattr(owner, "_graphs", ())
        return graphs[self.variant] if self.variant < len(graphs) else None

    def run(self, args, kwargs):
        """Gives what the method returns."""
        target, *rest = args
        if self.variant:
            return type(target).variant(target, self.variant)(*rest, **kwargs)
        return getattr(target, self.method)(*rest, **kwargs)


class CallFunction(Expr):
    """Calls a function."""

    def __init__(self, top_graph, func, args, kwargs=None, line=""):
        super().__init__(top_graph, args, kwargs, line)
        self.func = func

    @property
    def has_effect(self):
        """Whether the function changes a tensor or draws random numbers."""
        return changes_state(self)

    def run(self, args, kwargs):
        """Gives what the function returns."""
        return self.func(*args, **kwargs)


class Apply(Expr):
    """Applies an operator, an OpDef, as `core.apply` does."""

    def __init__(self, top_graph, opdef, args, line=""):
        super().__init__(top_graph, args, line=line)
        self.opdef = opdef

    def run(self, args, kwargs):
        """The results, as a list."""
        from ..core import apply

        return apply(self.opdef, *args)


class Constant(Expr):
    """A tensor or a module that belongs to the graph itself; `is_fresh`: a tensor that the code
    makes in each call, so that each run may write to one of its own.
    """

    def __init__(self, top_graph, value, line="", is_fresh=False):
        super().__init__(top_graph, line=line)
        self.value, self.is_fresh = value, is_fresh

    @property
    def is_only_read(self):
        """Whether no expression keeps, writes to or returns it."""
        node = self.result
        return all(map(only_reads, node.users)) and all(
            node is not each for each in self.top_graph.outputs
        )

    def run(self, args, kwargs):
        """The value, or a copy to write to."""
        return self.value.detach() if self.is_fresh else self.value

    def owner_of(self, node):
        """The value, where it is a module."""
        return self.value if isinstance(self.value, Module) else None


def new_node(expr, name, kind, value=None):
    """A node that `expr` makes, with a name that no other node of the graph has."""
    graph = expr.top_graph
    name, number = graph.names.free(name), graph.ids.of_node()
    if kind is ModuleNode:
        return ModuleNode(expr, name, number, type(value) if value is not None else None)
    if kind is ScalarNode:
        return ScalarNode(expr, name, number, value)
    return TensorNode(expr, name, number, value)


def _function_of(body, values):
    return body.function_of(values)


def _is_body(leaf):
    return isinstance(leaf, Body)
