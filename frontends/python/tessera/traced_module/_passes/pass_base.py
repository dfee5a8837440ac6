"""Passes: classes that change the graphs of a TracedModule, expression by expression."""

import copy
from collections import OrderedDict
from functools import partial

from ...logger import get_logger
from ..traced_module import TracedModule
from .utils import Whole, register_obj

_logger = get_logger(__name__)
_MOST_SWEEPS = 100

_pass_dict = OrderedDict()
register_pass = partial(register_obj, _dict=_pass_dict)


def get_registered_pass(pass_name):
    """The class of the pass of that name. ValueError: it must be registered.

    >>> from tessera.traced_module._passes.pass_base import get_registered_pass
    >>> get_registered_pass("FuseConvBn").run_once
    True
    """
    if pass_name not in _pass_dict:
        raise ValueError(
            f"optimize: a pass must be one that register_pass knows, {', '.join(_pass_dict)}, got "
            f"{pass_name!r}"
        )
    return _pass_dict[pass_name]


class PassContext:
    """Which passes are left out, and settings of passes by their names.

    >>> from tessera.traced_module._passes.pass_base import PassContext
    >>> PassContext(["FuseAddMul"]).pass_enabled("FuseAddMul")
    False
    """

    def __init__(self, disabled_pass=(), pass_config=None):
        self._disabled, self.config = set(), dict(pass_config or {})
        self.add_disabled_pass(disabled_pass)

    def add_disabled_pass(self, passes):
        """Leaves out one pass more, or several, by their names."""
        self._disabled.update([passes] if isinstance(passes, str) else passes or ())

    def pass_enabled(self, pas):
        """Whether the pass, or that of the name, runs."""
        return (pas.name if isinstance(pas, BasePass) else pas) not in self._disabled


_default_context = PassContext()


def get_default_pass_context():
    """The PassContext that counts where none is given."""
    return _default_context


class BasePass:
    """Base of passes: `ForwardPass` goes through a graph from its first expression to its last one,
    `BackwardPass` from the last to the first.

    A subclass has a `name` and says in `run_transform` how an expression changes. `required_pass`
    names passes that run before it. With `run_once` False it runs again until nothing changes.
    `whole` has all graphs of the module, which the pass changes one after the other.

    `roundings` is how many roundings of the largest element a result may differ by; where it
    `needs_inference` a module in training is refused.
    """

    name = ""
    run_once = True
    required_pass = ()
    roundings = 0
    needs_inference = False

    def __call__(self, mod, pass_ctx=None):
        """A copy of the TracedModule `mod`, changed by the pass; `mod` stays, also on an error."""
        if not isinstance(mod, TracedModule):
            raise TypeError(f"{self.name}: module must be a TracedModule, got {mod!r}")
        return self.apply_optimization(copy.deepcopy(mod), pass_ctx)

    def apply_optimization(self, mod, pass_ctx=None):
        """Changes `mod` itself, and returns it.

        ValueError: it must be in inference where the pass needs that. RuntimeError: sweeps must
        come to an end.
        """
        context = pass_ctx or get_default_pass_context()
        for name in (*self.required_pass, self.name):
            if not context.pass_enabled(name):
                _logger.warning("%s is left out, because %s is disabled", self.name, name)
                return mod
        self._check_mode(mod)
        for name in self.required_pass:
            get_registered_pass(name)().apply_optimization(mod, context)
        for _ in range(_MOST_SWEEPS):
            self.whole = Whole(mod)
            changes = [self.visit_graph(graph) for graph in self.whole.graphs]
            if self.run_once or not any(changes):
                return mod
        raise RuntimeError(
            f"{self.name}: sweeps must come to an end, got {_MOST_SWEEPS} that change the graph"
        )

    def _check_mode(self, mod):
        found = [path for path, each in mod.named_modules() if each.training]
        if self.needs_inference and found:
            raise ValueError(
                f"{self.name}: modules must be in inference, as after eval(), got training of "
                f"{found[0] or 'the module itself'!r}"
            )

    def visit_graph(self, graph):
        """Gives each expression of the graph to run_transform; whether one has changed.

        An expression that run_transform returns instead is looked at next; those that have left the
        graph are not looked at any more.
        """
        self.before_visit_graph(graph)
        has_changed, seen = False, set()
        todo = self.in_order(graph.own_exprs)[::-1]
        kept = list(todo)  # ids stay their expressions' own
        while todo:
            expr = todo.pop()
            if expr.top_graph is not graph or id(expr) in seen:
                continue
            new = self.run_transform(expr)
            if new is expr:
                seen.add(id(expr))
            else:
                has_changed = True
                kept.append(new)
                todo.append(new)
        return has_changed

    def in_order(self, exprs):
        """The expressions in the order of the visit, as a list."""
        raise NotImplementedError

    def before_visit_graph(self, graph):
        """Looks at a graph as a whole."""

    def run_transform(self, expr):
        """Changes the graph around `expr`; returns `expr`, or the expression in its place."""
        return expr

    def __repr__(self):
        return self.name


class ForwardPass(BasePass):
    """A pass from the first expression to the last one."""

    def in_order(self, exprs):
        """See BasePass."""
        return list(exprs)


class BackwardPass(BasePass):
    """A pass from the last expression to the first one."""

    def in_order(self, exprs):
        """See BasePass."""
        return list(exprs)[::-1]


def passes_before(names):
    """The classes of the passes `names` and of those that they require."""
    for name in names:
        found = get_registered_pass(name)
        yield found
        yield from passes_before(found.required_pass)
