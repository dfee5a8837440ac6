"""Patterns, and how they are found."""

import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.core import apply
from tessera.core.ops import builtin
from tessera.traced_module._passes.matcher import PatternMatcher
from tessera.traced_module._passes.pattern import (
    ApplyDefPattern,
    FunctionPattern,
    ModulePattern,
    TensorMethodPattern,
    VarPattern,
    any_node,
    is_const,
    is_op,
    is_var,
)


class Chain(M.Module):
    """A module of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        """Calls it."""
        return self.function(*args)


def traced(function, *args):
    """The function's graph within its module."""
    return tm.trace_module(Chain(function), *(args or (F.ones((2, 3)),)))


def matches(pattern, net):
    """Whether the pattern describes the expression that makes the first output."""
    return PatternMatcher().match(pattern, net.graph.outputs[0].expr)


def test_targets_have_their_patterns():
    kinds = [type(is_op(target)) for target in (M.Linear, F.relu, F.conv2d, "mean", builtin.Add)]
    assert kinds == [ModulePattern, FunctionPattern, FunctionPattern, TensorMethodPattern,
                     ApplyDefPattern]  # fmt: skip
    with pytest.raises(TypeError, match="is_op: target must be a class of modules or operators, a"):
        is_op(3)
    with pytest.raises(TypeError, match=r"\|: operands must be patterns, got 3"):
        is_op(F.relu) | 3


def test_functions_match_by_identity_and_parameters():
    net = traced(lambda x: F.leaky_relu(x, 0.2))
    assert matches(is_op(F.leaky_relu), net)
    assert matches(is_op(F.leaky_relu).has_params(negative_slope=0.2), net)
    assert not matches(is_op(F.leaky_relu).has_params(negative_slope=0.1), net)
    assert not matches(is_op(F.leaky_relu).has_params(unknown=0.2), net)
    assert not matches(is_op(F.relu), net)
    assert matches(is_op(F.leaky_relu).has_params(negative_slope=0.01), traced(F.leaky_relu))


def test_modules_match_by_class_and_attributes():
    net = tm.trace_module(M.Sequential(M.Conv2d(1, 2, 3)), F.ones((1, 1, 4, 4)))
    assert matches(is_op(M.Conv2d), net)
    assert matches(is_op(M.Conv2d).has_attr(out_channels=2, kernel_size=(3, 3)), net)
    assert not matches(is_op(M.Conv2d).has_attr(out_channels=3), net)
    assert not matches(is_op(M.Conv1d), net)
    assert matches(is_op(M.Module)(is_var()), net)
    assert not matches(is_op(M.Module)(is_var(), is_var()), net)


def test_methods_and_operators_match_by_their_names():
    assert matches(is_op("mean"), traced(lambda x: x.mean()))
    assert not matches(is_op("__call__"), traced(lambda x: x.mean()))
    cases = [
        (lambda p: p + "*", lambda x: x + 1),
        (lambda p: 1 + p, lambda x: 1 + x),
        (lambda p: p - "*", lambda x: x - 1),
        (lambda p: 1 - p, lambda x: 1 - x),
        (lambda p: p * "*", lambda x: x * 2),
        (lambda p: 2 * p, lambda x: 2 * x),
        (lambda p: p / "*", lambda x: x / 2),
        (lambda p: 2 / p, lambda x: 2 / x),
        (lambda p: p ** "*", lambda x: x**2),
        (lambda p: -p, lambda x: -x),
        (lambda p: p[0], lambda x: x[0]),
        (lambda p: p @ p, lambda x: x @ x),
    ]
    for number, (pattern, _) in enumerate(cases):
        args = (F.ones((2, 2)),)
        found = [matches(pattern(is_var().check_users(False)), traced(function, *args))
                 for _, function in cases]  # fmt: skip
        assert [i for i, hit in enumerate(found) if hit] == [number]


def test_operators_in_place_have_patterns_of_their_own():
    def _add(x):
        y = F.relu(x)
        y += 1
        return y

    net, pattern = traced(_add), is_op(F.relu)
    pattern += 1
    assert matches(pattern, net)
    assert not matches(is_op(F.relu) + 1, net)


def test_applied_operators_match_by_class():
    net = traced(lambda x: apply(builtin.Add(), x, x)[0])
    assert matches(is_op(builtin.Add), net)
    assert not matches(is_op(builtin.Mul), net)


def test_constants_are_no_variables():
    table = ts.Tensor([1.0])
    with pytest.warns(RuntimeWarning, match="a tensor from outside of the module is a constant"):
        net = traced(lambda x: x * table)
    assert matches(is_var() * is_const(), net)
    assert not matches(is_var() * is_var(), net)
    assert matches(any_node() * any_node(), net)
    assert not matches(is_var() * "*", net)  # a number is no input


def test_one_pattern_in_two_places_is_one_expression():
    twice, apart = traced(lambda x: _double(F.exp(x))), traced(lambda x: F.exp(x) + F.exp(x))
    exp = is_op(F.exp)
    assert matches(exp + exp, twice) and not matches(exp + exp, apart)
    assert matches(is_op(F.exp) + is_op(F.exp), apart)


def _double(x):
    return x + x


def test_alternatives_are_tried_until_all_fits():
    net = traced(lambda x: F.exp(F.relu(x)) + F.relu(x))
    first, second = is_op(F.exp), is_op(F.exp)(is_op(F.relu))
    matcher = PatternMatcher()
    assert matcher.match((first | second) + is_op(F.relu), net.graph.outputs[0].expr)
    assert first in matcher.matched_exprs and second not in matcher.matched_exprs
    shared = is_op(F.relu)
    kept = (is_op(F.exp) | is_op(F.exp)(shared)) + shared
    assert matches(kept, net)  # the left alternative does not bind `shared`
    assert matcher.match(is_op(F.exp)(shared) | shared, net.graph.outputs[0].expr) is False
    assert (matcher.matched_exprs, matcher.matched_patterns) == ({}, [])


def test_matched_expressions_are_by_pattern():
    net = tm.trace_module(M.Sequential(M.Linear(2, 2), M.ReLU()), F.zeros((1, 2)))
    linear, relu, matcher = is_op(M.Linear), is_op(M.ReLU), PatternMatcher()
    whole = relu(linear)
    assert matcher.match(whole, net.graph.outputs[0].expr)
    assert matcher.matched_patterns == [relu, linear, whole]
    assert matcher.matched_exprs[whole] is matcher.matched_exprs[relu] is net.graph.outputs[0].expr
    assert matcher.matched_exprs[linear].args[0].owner is vars(net)["0"]


def test_other_readers_are_refused_where_they_count():
    def _read(x):
        y = F.relu(x)
        return F.exp(y), y + 1

    inner = is_op(F.relu)
    assert not matches(is_op(F.exp)(inner), traced(_read))
    assert matches(is_op(F.exp)(inner.check_users(False)), traced(_read))
    assert not matches(is_op(F.exp)(is_op(F.relu)), traced(lambda x: [F.exp(y := F.relu(x)), y]))
    either = (is_op(F.relu) | is_op(F.neg))(is_var()).check_users(False)
    assert matches(is_op(F.exp)(either), traced(_read))


def test_arguments_must_be_all_unless_told_otherwise():
    net = traced(lambda x, y: F.concat([F.relu(x), y]), F.ones(2), F.ones(2))
    relu = is_op(F.relu)
    assert not matches(is_op(F.concat)(relu), net)
    assert matches(is_op(F.concat)(relu).not_all_args(), net)
    assert not matches(is_op(F.concat)(relu, is_var(), is_var()).not_all_args(), net)


def test_one_of_several_outputs_is_told_apart():
    net = traced(lambda x: F.relu(F.topk(x, 2)[0]))
    both = is_op(F.topk).check_users(False)
    assert matches(is_op(F.relu)(both.get_output(0)), net)
    assert not matches(is_op(F.relu)(both.get_output(1)), net)
    assert not matches(is_op(F.relu)(both.get_output(5)), net)


def test_matches_that_overlap_count_once_and_the_first_wins():
    net = traced(lambda x: F.relu(F.relu(F.relu(F.relu(F.relu(x))))))
    exprs = net.graph.exprs().as_list()
    inner, outer = is_op(F.relu), is_op(F.relu)
    found = PatternMatcher().find(outer(inner(is_var())), net.graph)
    assert [(each[inner], each[outer]) for each in found] == [
        (exprs[0], exprs[1]),
        (exprs[2], exprs[3]),
    ]
    assert PatternMatcher().find(is_op(F.exp), net.graph) == []


def test_what_surrounds_a_match_may_belong_to_several():
    net = traced(lambda x: (F.exp(x), F.exp(x), x + 1))
    found = PatternMatcher().find(is_op(F.exp)(is_var().check_users(False)), net.graph)
    assert len(found) == 2


def test_patterns_of_a_user_say_what_they_accept():
    class Wide(VarPattern):
        """A call whose result has more than two columns."""

        def accepts(self, expr):
            return expr.outputs[0].shape[-1] > 2

    assert matches(is_op(F.relu)(Wide()), traced(F.relu, F.ones((2, 3))))
    assert not matches(is_op(F.relu)(Wide()), traced(F.relu, F.ones((2, 2))))
    assert repr(is_op(F.relu)(is_op(M.ReLU)) | is_op("sum").get_output(0) * any_node()) == (
        "(relu(ReLU)|__mul__(sum.get_output(0), any))"
    )
    assert repr([is_op(builtin.Add), is_const()]) == "[Add, const]"
