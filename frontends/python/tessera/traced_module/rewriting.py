"""Parts of graphs that are found by a function, and replaced by what another one does."""

import inspect
import itertools
from collections import namedtuple

from .. import _core
from ..functional import zeros
from ..module import Module
from .copying import copied
from .expr import CallMethod, Constant, GetAttr, SetAttr
from .matching import Matcher
from .node import Node, TensorNode
from .operators import MUTATING
from .pytree import leaves_of
from .tracing import Tracer

_MOST = 4096  # trials of shapes for the parameters of a pattern
_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Match = namedtuple("Match", "graph inputs outputs exprs replacements")
Match.__doc__ = """One place that was replaced: its graph, the nodes that stood for the parameters,
the nodes and expressions that are gone, and the nodes that stand for the results now."""


def replace_pattern(graph, pattern, replacement, examples=None):
    """Replaces each place of a graph, and of the graphs that it calls, that does what the function
    `pattern` does by the calls of the function `replacement`.

    A place is a set of expressions that are the calls of `pattern`: of the same functions and
    methods, with equal constants, in any order that gives the same values; operands do not change
    places. A parameter stands for any tensor. Results within a place have no other readers. Places
    are found in the order of the graph, and do not overlap. Nothing within bodies is replaced, nor
    a method that works in place.

    Args:
        graph: an InternalGraph
        pattern, replacement: functions of as many tensors, which give as many; further
            parameters with defaults are left out
        examples: tensors or Specs that `pattern` can be called with; without them shapes of the
            graph's nodes are tried

    Returns:
        a list of Match(graph, inputs, outputs, exprs, replacements)

    Raises:
        TypeError: pattern and replacement must be functions of positional parameters
        ValueError: both must have as many parameters and results; the pattern must compute
            something of each parameter. Then nothing is replaced

    Example:
        >>> import tessera.functional as F
        >>> import tessera.module as M
        >>> import tessera.traced_module as tm
        >>> class Net(M.Module):
        ...     def forward(self, x):
        ...         return F.exp(F.relu(x) * 2) + 1
        >>> net = tm.trace_module(Net(), F.zeros(2))
        >>> matches = tm.replace_pattern(net.graph, lambda a: F.relu(a) * 2, lambda a: F.abs(a) + a)
        >>> print(net.graph)
        Net.Graph (self, x) {
                %6:     abs_out = elemwise.abs(x, )
                %7:     add_out_1 = abs_out.__add__(x, )
                %4:     exp_out = elemwise.exp(add_out_1, )
                %5:     add_out = exp_out.__add__(1, )
                return add_out
        }
    """
    names, others = _parameters("pattern", pattern), _parameters("replacement", replacement)
    if len(names) != len(others):
        raise ValueError(
            f"replace_pattern: both functions must have as many parameters, got {len(names)} of "
            f"the pattern and {len(others)} of the replacement"
        )
    wanted = _traced(pattern, names, _examples(graph, len(names), examples))
    found = []
    for each in graph.all_graphs():
        found += [(each, place) for place in _places(each, Matcher(wanted))]
    return _replaced(found, replacement, others, len(wanted.outputs))


# The pattern.


def _parameters(what, function):
    """The names of the parameters of a function."""
    if not callable(function):
        raise TypeError(f"replace_pattern: {what} must be a function, got {function!r}")
    parameters = [each for each in inspect.signature(function).parameters.values()
                  if each.default is each.empty]  # fmt: skip
    if any(each.kind not in _KINDS for each in parameters):
        raise TypeError(
            f"replace_pattern: {what} must be a function of positional parameters, got "
            f"{inspect.signature(function)}"
        )
    return [each.name for each in parameters]


class _PatternTracer(Tracer):
    """Records a pattern; constants belong to it."""

    def tell_constant(self, fact):
        """A constant is one that the graph must have, too."""


def _examples(graph, count, examples):
    """Tuples of tensors without values to call the pattern with."""
    if examples is not None:
        specs = [(tuple(each.shape), str(each.dtype)) for each in examples]
        if len(specs) != count:
            raise ValueError(
                f"replace_pattern: there must be an example for each of {count} parameters, got "
                f"{len(specs)}"
            )
        trials = [specs]
    else:
        nodes = (node for node in graph.every_node() if isinstance(node, TensorNode))
        known = dict.fromkeys((node.shape, str(node.dtype)) for node in nodes if node.shape)
        trials = itertools.islice(itertools.product(known, repeat=count), _MOST)
    for trial in trials:
        yield list(itertools.starmap(_valueless, trial))


def _valueless(shape, dtype):
    return _core.valueless_tensor(list(shape), str(dtype))


def _record(module, tensors):
    """The graph of a call."""
    tracer = _PatternTracer(module, "pattern")
    tracer.trace(tensors, {})
    return tracer.graphs[id(module)][0]


def _traced(pattern, names, trials):
    """The graph of the pattern. ValueError: it must be one that computes."""
    module, first = _as_module(pattern, names), None
    for tensors in trials:
        try:
            graph = _record(module, tensors).compile()
        except Exception as error:
            first = first or error
        else:
            _check_pattern(graph)
            return graph
    raise ValueError(
        f"replace_pattern: the pattern must run with the shapes of some nodes of the graph, got "
        f"{type(first).__name__}: {first}"
    ) from first


def _as_module(function, names):
    def _forward(self, *args):
        return function(*args)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("self_", *names)]
    _forward.__signature__ = inspect.Signature(parameters)
    return type("Pattern", (Module,), {"forward": _forward})()


def _check_pattern(graph):
    inputs = graph.inputs[1:]
    outputs = leaves_of(graph.output_tree)
    is_computed = [isinstance(leaf, TensorNode) and leaf not in inputs for leaf in outputs]
    if not outputs or not all(is_computed):
        raise ValueError(
            f"replace_pattern: the pattern must compute all that it returns, got "
            f"{[str(leaf) for leaf in outputs]}"
        )
    unread = [node.name for node in inputs if not node.users]
    if unread:
        raise ValueError(
            f"replace_pattern: the pattern must read each parameter, got {unread} that it does not"
        )


# The places.


def _places(graph, matcher):
    """The places of a graph that do not overlap, in its order."""
    used = set()
    for place in matcher.places(graph):
        exprs = [expr for expr in place.exprs if not _may_stay(expr)]
        if used.isdisjoint(map(id, exprs)) and _is_replaceable(graph, place):
            used.update(map(id, exprs))
            yield place


def _may_stay(expr):
    """Whether it may have other readers."""
    return isinstance(expr, (Constant, GetAttr))


def _is_replaceable(graph, place):
    """Whether nobody else reads what is within, and nothing changes between its expressions."""
    own, outputs = {id(expr) for expr in place.exprs}, {id(node) for node in place.outputs}
    returned = {id(node) for node in graph.outputs}
    for expr in place.exprs:
        if _changes(expr):
            return False
        for node in expr.outputs if not _may_stay(expr) else ():
            is_read = id(node) in returned or any(id(user) not in own for user in node.users)
            if is_read and id(node) not in outputs:
                return False
    positions = [i for i, expr in enumerate(graph.own_exprs) if id(expr) in own]
    between = graph.own_exprs[positions[0] : positions[-1]]
    readers = {id(user) for node in place.outputs for user in node.users}
    return not any(
        id(expr) not in own and (_changes(expr) or id(expr) in readers) for expr in between
    )


def _changes(expr):
    """Whether a run changes a tensor that others may read."""
    if isinstance(expr, SetAttr):
        return True
    if isinstance(expr, CallMethod) and expr.method != "__call__":
        return expr.method in MUTATING or bool(expr.kwargs.get("inplace"))
    return bool(expr.kwargs.get("inplace"))


def _replaced(found, replacement, names, count):
    """The Matches of all places, once each has its new expressions."""
    current, made = {}, []  # new nodes by the ids of old ones
    module = _as_module(replacement, names)
    try:
        for graph, place in found:
            inputs = [current.get(id(node), node) for node in place.inputs]
            exprs, results = _calls(module, graph, inputs)
            _check_results(results, count)
            last = max(_position(graph, expr) for expr in place.exprs)
            graph.insert_at(last + 1, exprs)
            made.append((graph, place, inputs, exprs, results))
            current.update((id(old), new) for old, new in zip(place.outputs, results, strict=True))
    except BaseException:
        for graph, _, _, exprs, _ in reversed(made):
            _remove(graph, exprs)
        raise
    return [_finish(*each) for each in made]


def _calls(module, graph, inputs):
    """(new expressions for `graph`, the nodes of the results) of a call with these nodes."""
    try:
        recorded = _record(module, [_valueless(node.shape, node.dtype) for node in inputs])
    except ValueError:  # loops and branches run with values
        recorded = _record(module, [zeros(node.shape, dtype=str(node.dtype)) for node in inputs])
    nodes = dict(zip(map(id, recorded.inputs[1:]), inputs, strict=True))
    exprs = [copied(expr, graph, nodes) for expr in recorded.own_exprs]
    return exprs, [nodes.get(id(leaf), leaf) for leaf in leaves_of(recorded.output_tree)]


def _position(graph, expr):
    return next(i for i, each in enumerate(graph.own_exprs) if each is expr)


def _check_results(results, count):
    if len(results) != count or not all(isinstance(each, Node) for each in results):
        raise ValueError(
            f"replace_pattern: the replacement must give as many tensors as the pattern, {count}, "
            f"got {[str(each) for each in results]}"
        )


def _finish(graph, place, inputs, exprs, results):
    """Has readers read the new nodes, and drops the old expressions."""
    for expr in exprs:
        if not _may_stay(expr):
            expr.modes = (*place.modes, *expr.modes)
    graph.replace_node(dict(zip(place.outputs, results, strict=True)))
    _remove(graph, [expr for expr in place.exprs if not _may_stay(expr)])
    graph.drop_unread()
    graph.check_order()
    return Match(graph, inputs, place.outputs, place.exprs, results)


def _remove(graph, exprs):
    gone = {id(expr) for expr in exprs}
    graph.own_exprs = [expr for expr in graph.own_exprs if id(expr) not in gone]
    for expr in exprs:
        expr.set_arguments((), {})
        expr.top_graph = None
    graph.changed()
