"""InternalGraph: the calls that a module makes, as data."""

from . import _text
from .body import Body
from .code import compiled
from .copying import copied_graph
from .editing import Editing
from .expr import CallMethod
from .filters import ExprFilter, NodeFilter
from .node import ModuleNode, Node
from .numbering import Ids, Names
from .pytree import leaves_of
from .signature import GraphSignature


class InternalGraph(Editing, Body):
    """The expressions of one module, in the order in which they run.

    `inputs` are the nodes of the module itself and of its arguments, `outputs` those that it
    returns, in the tree `output_tree`. Graphs of the modules that it calls are their own.
    """

    def __init__(self, name, qualname=None, ids=None):
        self.name, self.qualname = name, qualname or name
        self.ids, self.names = ids or Ids(), Names()
        self.inputs, self.signature = [], GraphSignature([])
        self.own_exprs, self.output_tree = [], ()
        self._owner, self._function, self._outer = None, None, None
        self.watched, self.ends = {}, {}  # nodes by id

    # The module.

    @property
    def owner(self):
        """The TracedModule that it belongs to; None: none, as for the body of a loop."""
        return self._owner

    def set_owner(self, module):
        """Makes it a graph of `module`."""
        self._owner = module

    def set_outer(self, graph):
        """Makes it a body within `graph`, with whose nodes it shares the names."""
        self._outer, self.names = graph, graph.names

    @property
    def is_body(self):
        """Whether it is a function within a call, and no module's graph."""
        return self._outer is not None

    @property
    def owner_input(self):
        """The node of that module; None: it is a body."""
        first = self.inputs[0] if self.inputs else None
        is_self = isinstance(first, ModuleNode) and all(
            each.node is not first for each in self.signature.parameters
        )
        return first if is_self else None

    @property
    def title(self):
        """The beginning of its text."""
        return f"{self.qualname}.Graph"

    # Parts.

    @property
    def outputs(self):
        """The nodes that it returns, in order."""
        return [leaf for leaf in leaves_of(self.output_tree) if isinstance(leaf, Node)]

    @property
    def called_graphs(self):
        """The graphs of modules that its expressions call, each once."""
        found = {}
        for expr in self.every_expr(recursive=False):
            graph = expr.graph if isinstance(expr, CallMethod) else None
            if graph is not None:
                found[id(graph)] = graph
        return list(found.values())

    @property
    def captures(self):
        """The nodes around it that it reads, where it is a body."""
        made = {id(node) for node in self.inputs}
        found = {}
        for expr in self.own_exprs:
            found.update((id(node), node) for node in expr.inputs if id(node) not in made)
            made.update(id(node) for node in expr.outputs)
        found.update((id(node), node) for node in self.outputs if id(node) not in made)
        return list(found.values())

    @property
    def has_effect(self):
        """Whether a run does more than to make its outputs."""
        return any(expr.has_effect for expr in self.own_exprs)

    def every_expr(self, recursive=True):
        """Its expressions and those of bodies within them; where `recursive` those of the graphs
        that it calls, too, each graph once.
        """
        for graph in self.all_graphs() if recursive else [self]:
            for expr in graph.own_exprs:
                yield expr
                for body in expr.bodies:
                    yield from body.every_expr(recursive=False)

    def every_node(self, recursive=True):
        """Its nodes, as `every_expr`."""
        for graph in self.all_graphs() if recursive else [self]:
            yield from graph.inputs
            for expr in graph.every_expr(recursive=False):
                for body in expr.bodies:
                    yield from body.inputs
                yield from expr.outputs

    def all_graphs(self):
        """The graph and those that it calls, and these call, each once, callers first."""
        found, todo = {id(self): self}, [self]
        while todo:
            called = [each for each in todo.pop(0).called_graphs if id(each) not in found]
            found.update((id(each), each) for each in called)
            todo += called
        return list(found.values())

    # Queries.

    def exprs(self, recursive=True):
        """An ExprFilter of the expressions."""
        return ExprFilter(lambda: self.every_expr(recursive))

    def nodes(self, recursive=True):
        """A NodeFilter of the nodes."""
        return NodeFilter(lambda: self.every_node(recursive))

    def get_function_by_type(self, func, recursive=True):
        """Calls of the function `func`, an ExprFilter."""
        return self.exprs(recursive).call_function(func)

    def get_method_by_type(self, method, recursive=True):
        """Calls of the method of that name, an ExprFilter."""
        return self.exprs(recursive).call_method(method)

    def get_module_by_type(self, module_cls, recursive=True):
        """Nodes of modules of the class, a NodeFilter. TypeError: it must be a class of modules."""
        from ..module import Module

        if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
            raise TypeError(
                f"get_module_by_type: module_cls must be a class of modules, got {module_cls!r}"
            )
        return self.nodes(recursive).type(module_cls)

    def get_expr_by_id(self, expr_id, recursive=True):
        """Expressions of these numbers, an ExprFilter."""
        return self.exprs(recursive).expr_id(expr_id)

    def get_node_by_id(self, node_id, recursive=True):
        """Nodes of these numbers, a NodeFilter."""
        return self.nodes(recursive).node_id(node_id)

    def get_node_by_name(self, name, ignorecase=True, recursive=True):
        """Nodes of that name, or whose names match it as a glob with ? and *, a NodeFilter."""
        return self.nodes(recursive).name(name, ignorecase)

    def get_dep_exprs(self, nodes, do_sort=True):
        """The expressions of this graph that the nodes depend on, in order; with what changes the
        modules and tensors that these read.
        """
        wanted = {id(node) for node in ([nodes] if isinstance(nodes, Node) else nodes)}
        found = []
        for expr in reversed(self.own_exprs):
            if any(id(node) in wanted for node in expr.outputs) or _changes_any(expr, wanted):
                wanted.update(id(node) for node in expr.inputs)
                found.append(expr)
        return found[::-1] if do_sort else found

    # Running.

    @property
    def function(self):
        """The function that runs it, of its module and the arguments; made when it is needed."""
        if self._function is None:
            self._function = compiled(self)
        return self._function

    def changed(self):
        """Another function runs it from now on."""
        self._function = None
        if self._outer is not None:
            self._outer.changed()

    def interpret(self, *args, **kwargs):
        """Returns what its function does, expression by expression: the arguments are those of the
        module, without the module itself.
        """
        values = {id(self.owner_input): self.owner}
        self.signature.bind(self.name, values, args, kwargs)
        return self._run(values)

    def function_of(self, values):
        """The function that it is as a body, where nodes around it have these values."""

        def _body(*args):
            own = dict(values)
            self.signature.bind(self.name, own, args, {})
            return self._run(own)

        return _body

    def _run(self, values):
        for expr in self.own_exprs:
            found = expr.values_of(values)
            values.update((id(node), v) for node, v in zip(expr.outputs, found, strict=True))
        return self.signature.filled(self.output_tree, values)

    def eval(self, *inputs):
        """The values of `outputs`, as a list, for those of `inputs` without the module's.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> tm.trace_module(M.ReLU(), F.zeros(2)).graph.eval(F.ones(2))[0].tolist()
        [1.0, 1.0]
        """
        nodes = self.inputs[1:]
        if len(inputs) != len(nodes):
            raise ValueError(
                f"eval: there must be a value for each of {len(nodes)} inputs, got {len(inputs)}"
            )
        values = {id(node): value for node, value in zip(nodes, inputs, strict=True)}
        values[id(self.inputs[0])] = self.owner
        self._run(values)
        return [values[id(node)] for node in self.outputs]

    def __str__(self):
        return _text.graph_text(self)

    __repr__ = __str__

    def _repr_html_(self):
        from ..utils.html import of_graph  # for notebooks only

        return of_graph(self)

    def __deepcopy__(self, memo):
        return copied_graph(self, Ids(), memo)


def _changes_any(expr, wanted):
    """Whether a run of it changes what one of these nodes stands for."""
    return expr.has_effect and any(id(node) in wanted for node in expr.inputs)
