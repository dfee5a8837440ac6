"""TracedModule: a module as a graph of its calls."""

import contextlib
import copy
import functools

from .. import effects
from ..module import Module
from ..tensor import Tensor
from . import _current
from .building import Builder, flattened
from .checking import TracedModuleChecker, checks_exprs, checks_outputs
from .copying import copied_graph
from .differing import CheckedTracer, find_difference
from .exporting import Exports
from .internal_graph import InternalGraph
from .numbering import Ids
from .pytree import map_leaves
from .tracing import Tracer
from .unchanged import Unchanged

__all__ = ["InternalGraph", "TracedModule", "trace_module"]


class TracedModule(Exports, Module):
    """A module whose forward is a graph, which `trace_module` makes.

    It has the parameters, buffers and children of the module that was traced, under their names,
    and needs none of its classes but those of the package. `graph` is what it computes,
    `class_name` the class that it was traced from, by name. A module that was called in several
    ways has several `graphs`, in the order in which they were recorded.
    """

    def __init__(self, class_name):
        super().__init__()
        # Names of attributes of modules that are traced come beside these.
        self._class_name, self._graphs, self._is_outermost = class_name, [], False
        self._watch_node_value = {}
        self._scope = class_name

    @property
    def class_name(self):
        """The name of the class that it was traced from."""
        return self._class_name

    @property
    def graphs(self):
        """All graphs, in the order in which they were recorded."""
        return self._graphs

    @property
    def is_outermost(self):
        """Whether it is the module that `trace_module` gave."""
        return self._is_outermost

    @property
    def watch_node_value(self):
        """The values of nodes in the last run: see set_watch_points."""
        return self._watch_node_value

    @property
    def graph(self):
        """The InternalGraph. RuntimeError: the module must have been called while it was traced."""
        if not self.graphs:
            raise RuntimeError(
                f"{self.class_name}: it was not called while the module around it was traced, so "
                f"that it has no graph (a method other than forward was, or none)"
            )
        return self.graphs[0]

    def forward(self, *inputs, **kwargs):
        """The values that the graph computes."""
        if not self._graphs:
            return self.graph
        return self._graphs[0].function(self, *inputs, **kwargs)

    def variant(self, number):
        """The function that graph `number` is, of the arguments of forward."""
        if number == 0:
            return self
        return functools.partial(self._graphs[number].function, self)

    def flatten(self):
        """A TracedModule of one graph, which has no graphs below; its tensors and closed modules
        are those of this one.

        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> net = tm.trace_module(M.Sequential(M.Sequential(M.ReLU())), F.zeros(2))
        >>> print(net.flatten().graph)
        Sequential.Graph (self, inp) {
                %3:     _0_0 = getattr(self, "0.0") -> (ReLU)
                %4:     _0_out = _0_0(inp, )
                return _0_out
        }
        """
        closed = [each for each in self.modules() if not any(map(_is_traced, each.modules()))]
        kept = {id(each): each for each in [*self.tensors(), *closed]}
        new = copy.deepcopy(self, kept)
        new._graphs = [flattened(new.graph)]
        for module in new.modules():
            if isinstance(module, TracedModule) and module is not new:
                module._graphs = []
        return new

    def __deepcopy__(self, memo):
        made = memo[id(self)] = TracedModule(self.class_name)
        own = {key: value for key, value in vars(self).items() if key != "_graphs"}
        vars(made).update(copy.deepcopy(own, memo))
        ids = memo.setdefault("graph ids", Ids())
        for graph in self.graphs:
            TracedModule.add_graph(made, copied_graph(graph, ids, memo))
        return made

    def _records(self):
        """Bytes and arrays of a file of the module: see writing.records_of."""
        from .writing import records_of  # few need it

        return records_of(self)

    def __reduce__(self):
        records, arrays = self._records()
        return load_records, (records, [value for _, value in arrays])

    def add_graph(self, graph):
        """Takes a graph as one of its own."""
        graph.set_owner(self)
        self.graphs.append(graph)

    # Watching.

    def set_watch_points(self, nodes):
        """Keeps the values of nodes, here or below, of each run: `watch_node_value[node]`."""
        self.clear_watch_points()
        for node in nodes if isinstance(nodes, (list, tuple)) else [nodes]:
            self._set_point(
                "watched", node, functools.partial(self.watch_node_value.__setitem__, node)
            )

    def clear_watch_points(self):
        """Ends what `set_watch_points` began."""
        self.watch_node_value.clear()
        self._clear_points("watched")

    def set_end_points(self, nodes):
        """Has a call end where these nodes, here or below, have their values, and return those: one
        value for one node, else a list.
        """
        self.clear_end_points()
        is_one = not isinstance(nodes, (list, tuple))
        ends = _Ends([nodes] if is_one else list(nodes), is_one)
        for node in ends.nodes:
            self._set_point("ends", node, functools.partial(ends.reach, node))
        vars(self)["forward"] = functools.partial(ends.run, self.forward)

    def clear_end_points(self):
        """Ends what `set_end_points` began."""
        self._clear_points("ends")
        vars(self).pop("forward", None)

    def _set_point(self, what, node, note):
        graph = node.top_graph
        graphs = [each for module in self.modules() for each in getattr(module, "_graphs", ())]
        if not any(graph is each for each in graphs) or graph.position_of(node) is None:
            raise ValueError(
                f"{self.class_name}: a node to look at must be of the module's graphs, got "
                f"{node.qualname}"
            )
        getattr(graph, what)[id(node)] = note
        graph.changed()

    def _clear_points(self, what):
        for module in self.modules():
            for graph in getattr(module, "_graphs", ()):
                getattr(graph, what).clear()
                graph.changed()

    def __repr__(self):
        return super().__repr__().replace("TracedModule(", f"{self.class_name}(", 1)


def load_records(records, arrays):
    """The TracedModule of the records of a file, or of a pickle; see reading.module_of."""
    from .reading import module_of  # few need it

    return module_of(records, arrays, TracedModule)


def _is_traced(module):
    return isinstance(module, TracedModule)


class _Reached(Exception):  # noqa: N818  # it ends a run, and is no error
    """All values are known."""


class _Ends:
    """The nodes at which a call ends, and their values in the call that runs."""

    def __init__(self, nodes, is_one):
        self.nodes, self._is_one, self._values = nodes, is_one, {}

    def reach(self, node, value):
        """The node has its value."""
        self._values[id(node)] = value
        if len(self._values) == len({id(each) for each in self.nodes}):
            raise _Reached

    def run(self, forward, *args, **kwargs):
        """The values of the nodes in a call of `forward`."""
        self._values = {}
        with contextlib.suppress(_Reached):
            forward(*args, **kwargs)
        found = [self._values.get(id(node)) for node in self.nodes]
        self._values = {}
        return found[0] if self._is_one else found


def trace_module(mod, *args, **kwargs):
    """The module `mod` as a graph of the calls that `mod(*args, **kwargs)` makes.

    Calls of functions, of methods and operators of tensors and of modules become expressions, and
    so do reads of the module's attributes. Modules of the package stay closed, those of the user
    have graphs of their own. Sizes are computed again in each call; another number that is read of
    a tensor is a constant from then on, and so is whatever Python decides by it, which a warning
    tells with the user's line. `F.cond`, `F.scan` and `F.while_loop` keep their functions as
    graphs. The module, its tensors and the random numbers are as before.

    Args:
        mod: a module
        args, kwargs: what forward takes; what is no tensor is the same in each call of the result

    Returns:
        a TracedModule with the tensors, and the closed modules, of `mod`

    Raises:
        TypeError: mod must be a module, arguments of calls must be of known types
        RuntimeError: Python's control flow must not depend on the values of tensors; tensors must
            stay in the module that made them; a thread traces one module at a time
        RecursionError: a module must not call itself
        ValueError: the graph must compute what the module did, which is checked

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> class Net(M.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.linear = M.Linear(4, 5)
        ...         self.param = ts.Parameter([1.0])
        ...     def forward(self, x):
        ...         x = F.relu(x + ts.Tensor([1.0]))
        ...         return self.linear(x + self.param)
        >>> print(tm.trace_module(Net(), F.zeros((3, 4))).graph)
        Net.Graph (self, x) {
                %2:     const_tensor = Constant(<class 'tessera.Tensor'>) -> (Tensor)
                %3:     add_out = x.__add__(const_tensor, )
                %4:     relu_out = nn.relu(add_out, )
                %5:     linear = getattr(self, "linear") -> (Linear)
                %6:     param = getattr(self, "param") -> (Tensor)
                %7:     add_out_1 = relu_out.__add__(param, )
                %8:     linear_out = linear(add_out_1, )
                return linear_out
        }
    """
    if not isinstance(mod, Module):
        raise TypeError(f"trace_module: mod must be a module, got {mod!r}")
    if effects.is_tracing():
        raise RuntimeError("trace_module: it must not be called in a traced function, got one")
    own = map_leaves(_own, (args, kwargs))
    kind = CheckedTracer if checks_exprs() else Tracer
    tracer = kind(mod, type(mod).__name__, _current.refuses_constants())
    expected = tracer.trace(*map_leaves(_own, own))
    traced = _built(mod, tracer.graphs)
    if checks_outputs():
        _check(mod, traced, own, expected)
    return traced


def _built(mod, graphs):
    traced = Builder(TracedModule, graphs).build(mod)
    traced._is_outermost = True
    return traced


def _check(mod, traced, own, expected):
    """ValueError: the graph must compute what the module did; it tells the first difference."""
    try:
        with Unchanged(traced):
            args, kwargs = map_leaves(_own, own)
            found = traced(*args, **kwargs)
        TracedModuleChecker().check_net_outputs(found, expected)
    except Exception:
        find_difference(functools.partial(_built, mod), mod, *own)
        raise


def _own(leaf):
    """A tensor that a call may change instead of the user's."""
    return leaf.detach() if isinstance(leaf, Tensor) else leaf
