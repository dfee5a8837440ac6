"""PatternMatcher: finds in graphs what patterns describe."""

from collections import OrderedDict
from dataclasses import dataclass, field

from .pattern import (
    AnyPattern,
    CallPattern,
    ConstantPattern,
    GetOutputPattern,
    ModulePattern,
    OrPattern,
    VarPattern,
)

_OPEN = (AnyPattern, ConstantPattern, VarPattern)  # they describe surroundings


class PatternMatcher:
    """Compares expressions with patterns.

    After `match` has found something, `matched_exprs` has the expression of each pattern within the
    pattern, and `matched_patterns` these patterns, those of inputs first.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> import tessera.traced_module as tm
    >>> from tessera.traced_module._passes.matcher import PatternMatcher
    >>> from tessera.traced_module._passes.pattern import is_op
    >>> net = tm.trace_module(M.Sequential(M.Linear(2, 2), M.ReLU()), F.zeros((1, 2)))
    >>> linear, matcher = is_op(M.Linear), PatternMatcher()
    >>> matcher.match(is_op(M.ReLU)(linear), net.graph.outputs[0].expr)
    True
    >>> print(matcher.matched_exprs[linear])
    _0_out = _0(inp, )
    """

    def __init__(self):
        self.matched_patterns, self.matched_exprs = [], OrderedDict()

    def match(self, pattern, expr):
        """Whether `pattern` describes `expr`.

        All alternatives are tried, the left side of `|` first. Other readers are looked for at each
        pattern that asks for it but the outermost.
        """
        self.matched_exprs = OrderedDict()
        for found in _found(pattern, expr, _Match()):
            if found.is_read_within(expr):
                self.matched_exprs = OrderedDict(found.exprs)
                break
        self.matched_patterns = list(self.matched_exprs)
        return bool(self.matched_exprs)

    def find(self, pattern, graph):
        """The matches of `pattern` in `graph`, as a list of `matched_exprs`.

        They are in the order of the expressions that match it. An expression belongs to one match
        at most: of two that overlap the first one counts. What is_var, is_const and any_node
        describe may belong to several.
        """
        matches, used = [], set()
        for expr in graph.own_exprs:
            for found in _found(pattern, expr, _Match()):
                own = found.own_ids()
                if found.is_read_within(expr) and not own & used:
                    matches.append(OrderedDict(found.exprs))
                    used |= own
                    break
        self.matched_exprs = matches[-1] if matches else OrderedDict()
        self.matched_patterns = list(self.matched_exprs)
        return matches


@dataclass(frozen=True)
class _Match:
    """Facts that are known so far: expressions of patterns, and readers of expressions, by id."""

    exprs: dict = field(default_factory=dict)
    readers: dict = field(default_factory=dict)

    def with_expr(self, pattern, expr):
        """The match with one more pattern."""
        return _Match({**self.exprs, pattern: expr}, self.readers)

    def with_reader(self, expr, reader):
        """The match in which `reader` reads `expr`."""
        known = self.readers.get(id(expr), frozenset())
        return _Match(self.exprs, {**self.readers, id(expr): known | {id(reader)}})

    def is_read_within(self, root):
        """Whether no other expression reads what the patterns want to themselves."""
        return all(
            expr is root or not pattern.checks_users or self._has_no_other_reader(expr)
            for pattern, expr in self.exprs.items()
        )

    def _has_no_other_reader(self, expr):
        readers, graph = self.readers.get(id(expr), ()), expr.top_graph
        made = {id(node) for node in expr.outputs}
        is_returned = graph is not None and any(id(node) in made for node in graph.outputs)
        return not is_returned and all(
            id(user) in readers for node in expr.outputs for user in node.users
        )

    def own_ids(self):
        """The ids of the expressions that are the match's own."""
        return {id(expr) for pattern, expr in self.exprs.items() if not isinstance(pattern, _OPEN)
                and not _is_open(pattern)}  # fmt: skip


def _is_open(pattern):
    return isinstance(pattern, _OPEN) or (
        isinstance(pattern, OrPattern) and any(map(_is_open, pattern.parts))
    )


def _found(pattern, expr, match):
    """Each match, with what `match` knows, in which `pattern` describes `expr`."""
    known = match.exprs.get(pattern)
    if known is not None:
        if known is expr:
            yield match
        return
    if isinstance(pattern, OrPattern):
        for part in pattern.parts:
            yield from (each.with_expr(pattern, expr) for each in _found(part, expr, match))
    elif isinstance(pattern, CallPattern):
        for each in _found(pattern.op, expr, match):
            yield from (every.with_expr(pattern, expr) for every in _inputs(pattern, expr, each))
    elif isinstance(pattern, GetOutputPattern):
        yield from (each.with_expr(pattern, expr) for each in _found(pattern.op, expr, match))
    elif pattern.accepts(expr):
        yield match.with_expr(pattern, expr)


def _inputs(pattern, expr, match):
    """Each match in which the inputs of `expr` are those that the call `pattern` describes."""
    is_module = any(
        isinstance(each, ModulePattern) and known is expr for each, known in match.exprs.items()
    )
    nodes, wanted = expr.inputs[1:] if is_module else expr.inputs, pattern.args
    if len(nodes) < len(wanted) or (pattern.matches_all_args and len(nodes) > len(wanted)):
        return
    found = [match]
    for node, part in zip(nodes, wanted, strict=False):
        found = [after for before in found for after in _input(part, node, expr, before)]
    yield from found


def _input(pattern, node, reader, match):
    outputs = node.expr.outputs
    index = pattern.index if isinstance(pattern, GetOutputPattern) else None
    if index is not None and not (index < len(outputs) and outputs[index] is node):
        return
    yield from _found(pattern, node.expr, match.with_reader(node.expr, reader))
