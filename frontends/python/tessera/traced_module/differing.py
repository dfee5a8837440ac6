"""Where a graph computes something else than its module: expression by expression."""

import functools

from ..module import Module
from ..random import RNG, default_rng
from ..tensor import Tensor
from . import effects
from .checking import TracedModuleChecker
from .expr import CallMethod, GetAttr
from .functions import is_closed
from .node import ModuleNode, Node, ScalarNode
from .pytree import leaves_of
from .tracing import Tracer
from .unchanged import Unchanged


class CheckedTracer(Tracer):
    """Runs each expression again while it is recorded; see `enable_expr_checker`."""

    def __init__(self, module, name, refuses_constants=False):
        super().__init__(module, name, refuses_constants)
        self._values = {}  # all of them, which expressions may read later
        self._checker = TracedModuleChecker()

    def finish(self, expr, result, name):
        """ValueError: an expression must compute again what its call gave."""
        found = super().finish(expr, result, name)
        if not isinstance(expr, GetAttr) and not self._is_unsteady(expr):
            self._check(expr, result)
        return found

    def _is_unsteady(self, expr):
        """Whether it may give something else when it runs again, or has been checked already."""
        if not (isinstance(expr, CallMethod) and expr.method == "__call__"):
            return expr.has_effect
        module = self._value(expr.args[0])
        if not isinstance(module, Module) or not is_closed(module):
            return True  # its graph has been checked
        return effects.has_state(module) or any(
            isinstance(value, RNG) for each in module.modules() for value in vars(each).values()
        )

    def _check(self, expr, result):
        values = {id(node): self._value(node) for node in expr.inputs}
        state = default_rng.state_dict()
        try:
            found = expr.values_of(values)
        except Exception as error:
            raise ValueError(
                f"trace_module: '%{expr.id}: {expr}' must run again, got {type(error).__name__}: "
                f"{error}"
            ) from error
        if default_rng.state_dict() != state:
            default_rng.load_state_dict(state)  # it draws
            return
        nodes = zip(leaves_of(expr.result), leaves_of(result), strict=True)
        wanted = [value for node, value in nodes if isinstance(node, Node)]
        self._checker.check_expr(expr, found, wanted)

    def _value(self, node):
        if isinstance(node, ScalarNode):
            return node.value
        known = self._values.get(id(node))
        return self.scope.item_of(node) if known is None else known.value


class _Keeping(Tracer):
    """Keeps the results of calls by the ids of their nodes."""

    def __init__(self, module, name):
        super().__init__(module, name)
        self.kept = {}

    def finish(self, expr, result, name):
        """Keeps them as they are now; later calls may change them."""
        found = super().finish(expr, result, name)
        for node, value in zip(leaves_of(expr.result), leaves_of(result), strict=True):
            if isinstance(node, Node) and not isinstance(node, ModuleNode):
                is_tensor = isinstance(value, Tensor)
                self.kept[id(node)] = value.detach() if is_tensor else value
        return found


def find_difference(build, module, args, kwargs):
    """Raises at the first expression whose results are not those of the module.

    The module is recorded once more; `build` makes its TracedModule of the graphs by ids. A graph
    that is called several times is compared in its first call.

    ValueError: each expression must compute what the module did.
    """
    tracer = _Keeping(module, type(module).__name__)
    tracer.trace(args, kwargs)
    traced = build(tracer.graphs)
    for each in traced.modules():
        for graph in getattr(each, "_graphs", ()):
            for expr in graph.own_exprs:
                _watch(graph, expr, tracer.kept)
            graph.changed()
    with Unchanged(traced):
        traced(*args, **kwargs)


def _watch(graph, expr, kept):
    for number, node in enumerate(expr.outputs):
        if id(node) in kept:
            graph.watched[id(node)] = functools.partial(_compare, expr, number, node, kept)


def _compare(expr, number, node, kept, value):
    if id(node) in kept:
        wanted = kept.pop(id(node))
        TracedModuleChecker().check_expr(expr, [value], [wanted], number)
