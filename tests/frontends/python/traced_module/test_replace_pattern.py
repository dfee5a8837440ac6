"""Parts of graphs that are found by a function, and replaced by what another one does."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.jit import Spec
from tessera.traced_module.expr import CallMethod

from tests.support.helper import bits


class Net(M.Module):
    """Computes what it is given."""

    def __init__(self, function):
        super().__init__()
        self.function, self.linear = function, M.Linear(3, 3)

    def forward(self, x):
        return self.function(self, x)


def data(rows=2):
    return ts.tensor(np.random.RandomState(0).randn(rows, 3).astype("float32"))


def trace(function):
    return tm.trace_module(Net(function), data())


def calls(traced):
    """The names of what each expression calls, in order."""
    found = []
    for expr in traced.graph.exprs():
        func = getattr(expr, "func", None)
        method = getattr(expr, "method", None)
        found += [func.__name__] if func is not None else [method] if method else []
    return found


def replaced(function, pattern, replacement, count, same=True, **options):
    """The traced module, where that many places were replaced; `same` values come out."""
    traced, x = trace(function), data()
    before = traced(x)
    matches = tm.replace_pattern(traced.graph, pattern, replacement, **options)
    assert len(matches) == count
    for graph in traced.graph.all_graphs():
        graph.check_order()
    if same:
        np.testing.assert_allclose(traced(x).numpy(), before.numpy(), rtol=1e-5, atol=1e-6)
    assert bits([traced.graph.interpret(x)]) == bits([traced(x)])
    return traced, matches


def test_a_place_is_replaced_and_told():
    traced, (match,) = replaced(
        lambda net, x: net.linear(F.relu(x * 2.0) + 1.0),
        lambda a: F.relu(a * 2.0),
        lambda a: F.maximum(a + a, 0.0),
        1,
    )
    assert calls(traced) == ["__add__", "maximum", "__add__", "__call__"]
    assert match.graph is traced.graph and match.inputs == [traced.graph.inputs[1]]
    assert [node.name for node in match.outputs] == ["relu_out"]
    assert [str(expr.result) for expr in match.exprs] == ["mul_out", "relu_out"]
    assert match.replacements[0].expr in traced.graph.own_exprs
    assert match.replacements[0].shape == (2, 3)


def test_places_are_found_in_order_and_do_not_overlap():
    """Two of three calls in a row are one place, from the front."""
    traced, matches = replaced(
        lambda net, x: F.exp(-F.abs(F.abs(F.abs(x)))),
        lambda a: F.abs(F.abs(a)),
        lambda a: F.abs(a),
        1,
    )
    assert calls(traced) == ["abs", "abs", "__neg__", "exp"]
    assert matches[0].inputs == [traced.graph.inputs[1]]
    traced, matches = replaced(
        lambda net, x: F.abs(F.abs(F.abs(F.abs(x)))), lambda a: F.abs(F.abs(a)), F.abs, 2
    )
    assert calls(traced) == ["abs", "abs"]
    assert matches[1].inputs == matches[0].replacements


def test_operands_do_not_change_places():
    def _function(net, x):
        return net.linear(x) + F.relu(x)

    replaced(_function, lambda a, b: F.relu(a) + b, lambda a, b: a, 0)
    replaced(_function, lambda a, b: b + F.relu(a), lambda a, b: b + F.maximum(a, 0.0), 1)


@pytest.mark.parametrize(
    ("constant", "count"), [(2, 1), (2.0, 0), (3, 0)], ids=["equal", "float", "other"]
)
def test_constants_must_be_equal(constant, count):
    replaced(lambda net, x: x * 2, lambda a: a * constant, lambda a: a + a, count)


def test_keywords_containers_and_arrays_are_compared():
    def _function(net, x):
        return F.concat([x, x * 2], axis=1) + F.softmax(F.concat([x, x], axis=1), axis=1)

    replaced(_function, lambda a, b: F.concat([a, b], axis=0), lambda a, b: a, 0)
    _, matches = replaced(
        _function, lambda a, b: F.concat([a, b], axis=1), lambda a, b: F.concat((a, b), 1), 2
    )
    assert matches[1].inputs[0] is matches[1].inputs[1]  # one node may stand for both


def test_one_parameter_is_one_node():
    replaced(lambda net, x: x * (x + 1), lambda a: a * a, lambda a: a**2, 0)
    replaced(lambda net, x: x * x, lambda a: a * a, lambda a: a**2.0, 1)


SCALE = ts.Tensor([2.0, 3.0, 4.0])


@pytest.mark.filterwarnings("ignore:trace_module")
def test_tensors_from_outside_match_equal_ones():
    other = ts.Tensor([2.0, 3.0, 4.0])
    replaced(lambda net, x: x * SCALE, lambda a: a * other, lambda a: a * other, 1)
    replaced(lambda net, x: x * SCALE, lambda a: a * (other + 0), lambda a: a, 0)
    wrong = ts.Tensor([2.0, 3.0, 5.0])
    replaced(lambda net, x: x * SCALE, lambda a: a * wrong, lambda a: a, 0)


def test_results_within_a_place_have_no_other_readers():
    def _function(net, x):
        y = F.relu(x)
        return F.exp(y) + y

    replaced(_function, lambda a: F.exp(F.relu(a)), lambda a: a, 0)
    replaced(_function, lambda a: F.relu(a), lambda a: F.maximum(a, 0.0), 1)

    def _kept(net, x):
        y = F.relu(x)
        return F.cond(x.sum() > 0, lambda v: v + y, lambda v: v - y, F.exp(y))

    replaced(_kept, lambda a: F.exp(F.relu(a)), lambda a: a, 0)


def test_patterns_with_several_results():
    def _function(net, x):
        sin, cos = F.sin(x), F.cos(x)
        return F.exp(F.relu(x)) * sin + cos

    traced, (match,) = replaced(
        _function, lambda a: (F.sin(a), F.cos(a)), lambda a: (F.sin(a), F.cos(a + 0.0)), 1
    )
    assert [node.name for node in match.outputs] == ["sin_out", "cos_out"]

    def _between(net, x):  # reads the first result before the second one is there
        y = F.sin(x) * 2
        return y + F.cos(y * 0 + x)

    replaced(_between, lambda a, b: (F.sin(a), F.cos(b)), lambda a, b: (a, b), 0)


def test_sizes_and_getitem_are_calls():
    traced, _ = replaced(
        lambda net, x: F.relu(x).reshape(x.shape[0], -1)[:, 1:],
        lambda a, b: F.relu(a).reshape(b.shape[0], -1),
        lambda a, b: F.relu(a.reshape(b.shape[0], -1)),
        1,
    )
    assert calls(traced) == ["reshape", "relu", "__getitem__"]
    assert traced(data(5)).shape == (5, 2)


class Block(M.Module):
    """A part that is called twice."""

    def forward(self, x):
        return F.sigmoid(x) * x


def test_graphs_that_are_called_are_searched():
    class Outer(M.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Block(), M.Sequential(Block(), M.ReLU())

        def forward(self, x):
            return self.first(self.first(x)) + self.second(F.sigmoid(x) * x)

    traced, x = tm.trace_module(Outer(), data()), data()
    before = traced(x)
    matches = tm.replace_pattern(traced.graph, lambda a: F.sigmoid(a) * a, F.silu)
    assert [match.graph.qualname for match in matches] == [
        "Outer",
        "Outer.first",
        "Outer.second.0",
    ]
    np.testing.assert_allclose(traced(x).numpy(), before.numpy(), rtol=1e-5)
    assert traced.graph.get_function_by_type(F.sigmoid).as_count() == 0


def test_methods_in_place_are_never_matched():
    def _in_place(net, x):
        y = x * 1
        y += 1
        return F.exp(y)

    def _pattern(a):
        a += 1
        return F.exp(a)

    replaced(_in_place, _pattern, lambda a: a, 0)

    def _between(net, x):
        y = x * 1
        z = F.exp(y)
        y[0] = 5.0
        return z * y

    replaced(_between, lambda a: F.exp(a) * a, lambda a: a, 0)
    replaced(_between, F.exp, lambda a: F.exp(a + 0.0), 1)


def test_a_replacement_may_have_branches():
    def _replacement(a):
        return F.cond(a.sum() > 100.0, lambda v: v * 0, lambda v: F.maximum(v, 0.0), a)

    traced, _ = replaced(lambda net, x: F.relu(x) + 1, F.relu, _replacement, 1)
    assert traced(data() * 1000).tolist() == (data() * 0 + 1).tolist()


def test_random_calls_are_matched_and_dropped():
    traced, _ = replaced(
        lambda net, x: F.dropout(x, 0.5) + 1, lambda a: F.dropout(a, 0.5), lambda a: a, 1, False
    )
    assert calls(traced) == ["__add__"]
    assert bits([traced(data())]) == bits([data() + 1])


def test_contexts_stay_around():
    def _function(net, x):
        with ts.no_grad():
            y = F.relu(x)
        return y + F.relu(x)

    traced, _ = replaced(_function, F.relu, lambda a: F.maximum(a, 0.0), 2)
    modes = [[mode.name for mode in expr.modes] for expr in traced.graph.own_exprs]
    assert modes == [["no_grad"], [], []]

    def _inner(a):
        with ts.no_grad():
            return F.relu(a)

    replaced(_function, _inner, lambda a: F.maximum(a, 0.0), 1)


def test_examples_are_given_where_no_node_has_such_a_shape():
    def _function(net, x):
        return x.transpose(1, 0).reshape(-1)

    def _pattern(a):
        assert a.shape == (7, 9)
        return a.transpose(1, 0)

    with pytest.raises(ValueError, match=r"^replace_pattern: the pattern must run with the shapes "
                       r"of some nodes of the graph, got AssertionError"):  # fmt: skip
        tm.replace_pattern(trace(_function).graph, _pattern, lambda a: a)
    replaced(_function, _pattern, lambda a: F.transpose(a, (1, 0)), 1, examples=[Spec((7, 9))])
    with pytest.raises(ValueError, match=r"^replace_pattern: there must be an example for each of "
                       r"1 parameters, got 2$"):  # fmt: skip
        tm.replace_pattern(trace(_function).graph, _pattern, F.relu, [Spec((1,)), Spec((1,))])


REFUSED = {
    "number of parameters": (
        lambda a: F.relu(a), lambda a, b: a, ValueError,
        "both functions must have as many parameters, got 1 of the pattern and 2 of the repl",
    ),
    "no function": (3, F.relu, TypeError, "pattern must be a function, got 3"),
    "no function instead": (F.relu, 3, TypeError, "replacement must be a function, got 3"),
    "many parameters": (
        lambda *a: F.relu(a[0]), F.relu, TypeError,
        r"pattern must be a function of positional parameters, got \(\*a\)",
    ),
    "nothing": (
        lambda a: a, F.relu, ValueError, r"the pattern must compute all that it returns, got \['a'",
    ),
    "an input": (
        lambda a: (a, F.relu(a)), F.relu, ValueError, "the pattern must compute all that it",
    ),
    "no tensor": (lambda a: None, F.relu, ValueError, "the pattern must compute all that it"),
    "unread": (
        lambda a, b: F.relu(a), lambda a, b: a, ValueError,
        r"the pattern must read each parameter, got \['b'\] that it does not",
    ),
    "other results": (
        F.relu, lambda a: (a, a), ValueError,
        r"the replacement must give as many tensors as the pattern, 1, got \['x', 'x'\]",
    ),
    "results of no graph": (F.relu, lambda a: 3, ValueError, r"the replacement must give as many"),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "new", "error", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(pattern, new, error, why):
    traced = trace(lambda net, x: F.exp(F.relu(x)) + F.relu(x * 2))
    before = str(traced.graph)
    with pytest.raises(error, match=f"^replace_pattern: {why}"):
        tm.replace_pattern(traced.graph, pattern, new)
    assert str(traced.graph) == before


def test_a_replacement_that_fails_at_its_second_place_changes_nothing():
    traced = trace(lambda net, x: F.exp(F.relu(x)) + F.relu(F.concat([x, x])).sum())
    before, seen = str(traced.graph), []

    def _replacement(a):
        seen.append(a.shape)
        return F.relu(a.reshape(2, 3))

    with pytest.raises(ValueError, match="^reshape: number of elements"):
        tm.replace_pattern(traced.graph, F.relu, _replacement)
    assert seen[:2] == [(2, 3), (4, 3)] and str(traced.graph) == before
    assert all(not isinstance(user, CallMethod) or user.top_graph
               for node in traced.graph.nodes() for user in node.users)  # fmt: skip
