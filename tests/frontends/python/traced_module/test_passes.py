"""optimize, passes of a user, and the passes for constants."""

import copy

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.traced_module import _passes
from tessera.traced_module._passes.pass_base import _pass_dict
from tessera.traced_module._passes.pattern import is_op, is_var
from tessera.traced_module._passes.utils import replace_expr

from tests.frontends.python.traced_module.optimizing import Formula, called
from tests.support.helper import bits

EXACT = ["AttrToConstant", "FixInputShape", "FoldConstant"]


class Net(M.Module):
    """A bit of everything."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = M.Conv2d(1, 2, 3, padding=1), M.BatchNorm2d(2)
        self.scale, self.shift = ts.Parameter([2.0]), ts.Parameter([[3.0]])
        self.steps = ts.Tensor([0.0])

    def forward(self, x):
        """Sizes, constants, and a buffer that changes."""
        self.steps = self.steps + 1
        y = F.relu(self.bn(self.conv(x))) * F.exp(self.scale)
        y = F.reshape(y, (x.shape[0] * 2, y.size // (x.shape[0] * 2)))
        return y * F.abs(self.shift) - self.steps


@pytest.fixture
def net():
    """The module, traced, and an input."""
    x = ts.Tensor(np.random.RandomState(0).randn(2, 1, 4, 4).astype(np.float32))
    return tm.trace_module(Net().eval(), x), x


@pytest.fixture
def registered():
    """Takes back what a test registers."""
    before = dict(_pass_dict)
    yield
    _pass_dict.clear()
    _pass_dict.update(before)


def test_names_and_modules_are_checked(net):
    with pytest.raises(TypeError, match="optimize: module must be a TracedModule, got Net"):
        tm.optimize(Net())
    with pytest.raises(TypeError, match="FuseAddMul: module must be a TracedModule, got Net"):
        _passes.fuse_pass.FuseAddMul()(Net())
    with pytest.raises(TypeError, match="optimize: enabled_pass must be names of passes, got"):
        tm.optimize(net[0], [_passes.fuse_pass.FuseConvBn])
    with pytest.raises(ValueError, match="optimize: a pass must be one that register_pass knows"):
        tm.optimize(net[0], "FuseBnConv")


@pytest.mark.parametrize("name", EXACT)
def test_passes_for_constants_keep_bits(net, name):
    traced, x = net
    wanted = bits([traced(x), traced(x)])  # the buffer moves on
    for path, value in dict(traced.named_buffers()).items():
        if path == "steps":
            value.set_value([0.0])
    new = tm.optimize(traced, name)
    assert str(new.graph) != str(traced.graph)
    assert bits([new(x), new(x)]) == wanted


def test_what_forward_changes_stays_an_attribute(net):
    new = tm.optimize(net[0], "AttrToConstant")
    names = [expr.name for expr in new.graph.exprs() if hasattr(expr, "name")]
    assert names.count("steps") == 2 and "scale" not in names
    assert "scale" in dict(net[0].named_parameters())
    assert "scale" not in dict(new.named_parameters()) and "steps" in vars(new)


def test_sizes_become_numbers(net):
    traced, x = net
    new = tm.optimize(traced, "FixInputShape")
    assert not [node for node in new.graph.nodes() if node.type_name == "int"]
    assert new(x).shape == traced(x).shape == (4, 16)
    more = F.concat([x, x])
    assert traced(more).shape == (8, 16)
    with pytest.raises(ValueError, match="reshape"):
        new.graph.interpret(F.zeros((3, 1, 4, 4)))
    traced.graph.reset_inputs(more)
    assert tm.optimize(traced, "FixInputShape")(more).shape == (8, 16)


def test_sizes_in_bodies_and_modules_become_numbers():
    class Inner(M.Module):
        """A module that is given a size."""

        def forward(self, x, size):
            return F.reshape(x, (size, -1))

    class Outer(M.Module):
        """A module with a loop over a size."""

        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            rows = x.shape[0]
            y, _ = F.scan(lambda state, _: (state + rows, None), x, length=2)
            return self.inner(y, rows)

    traced = tm.trace_module(Outer(), F.ones((2, 3)))
    new = tm.optimize(traced, "FixInputShape")
    assert "getattr(x" not in str(new.graph)
    assert bits([new(F.ones((2, 3)))]) == bits([traced(F.ones((2, 3)))])


def test_results_of_constants_are_computed_once(net):
    new = tm.optimize(net[0], "FoldConstant")
    assert not new.graph.get_function_by_type(F.exp).as_list()
    assert not new.graph.get_function_by_type(F.abs).as_list()


def test_several_results_are_folded_and_random_numbers_are_not():
    class Several(M.Module):
        """A constant with two results, and one that is drawn."""

        def __init__(self):
            super().__init__()
            self.table = ts.Parameter([3.0, 1.0, 2.0])

        def forward(self, x):
            values, places = F.topk(self.table, 2)
            return x * values + places, F.dropout(self.table, 0.5)

    traced = tm.trace_module(Several(), F.ones(2))
    new = tm.optimize(traced, "FoldConstant")
    assert not new.graph.get_function_by_type(F.topk).as_list()
    assert new.graph.get_function_by_type(F.dropout).as_list()
    assert bits([new(F.ones(2))[0]]) == bits([traced(F.ones(2))[0]])


# Passes of a user.


def _square_pass(name="Square", base=_passes.BackwardPass, **attributes):
    class Square(base):
        """Makes a product of a square."""

        def run_transform(self, expr):
            if not _passes.PatternMatcher().match(is_op(F.square)(is_var()), expr):
                return expr
            (node,) = expr.args
            with expr.top_graph.insert_exprs():
                new = node * node
            return replace_expr(expr, new)

    Square.name = name
    for key, value in attributes.items():
        setattr(Square, key, value)
    return _passes.register_pass(name)(Square)


class Squares(M.Module):
    """Squares of squares."""

    def forward(self, x):
        """x^8."""
        return F.square(F.square(F.square(x)))


@pytest.mark.parametrize("base", [_passes.BackwardPass, _passes.ForwardPass])
def test_a_pass_of_a_user_runs(registered, base):
    made = _square_pass(base=base, run_once=False)
    traced = tm.trace_module(Squares(), F.ones(2))
    new = tm.optimize(traced, "Square")
    assert called(new.graph) == ["__mul__"] * 3 and called(traced.graph) == ["square"] * 3
    assert [expr.outputs[0].name for expr in new.graph.exprs()] == [
        expr.outputs[0].name for expr in traced.graph.exprs()
    ]
    assert called(made()(traced).graph) == ["__mul__"] * 3 and repr(made()) == "Square"


def test_orders_of_visits(registered):
    seen = []
    for base in (_passes.ForwardPass, _passes.BackwardPass):
        made = type("Seeing", (base,), {"name": "Seeing", "run_transform": lambda self, expr: (
            seen.append(expr.outputs[0].name), expr)[1]})  # fmt: skip
        made()(tm.trace_module(Squares(), F.ones(2)))
    names = ["square_out", "square_out_1", "square_out_2"]
    assert seen == names + names[::-1]


def test_a_pass_that_raises_leaves_the_module(registered, net):
    class Failing(_passes.ForwardPass):
        """Fails behind a change."""

        name = "Failing"

        def run_transform(self, expr):
            if getattr(expr, "func", None) is F.relu:
                replace_expr(expr, expr.args[0], takes_name=False)
            if getattr(expr, "method", None) == "__call__":
                expr.args[0].owner.training = True
                for tensor in expr.args[0].owner.tensors():
                    tensor.set_value(F.zeros(tensor.shape))
            if getattr(expr, "func", None) is F.abs:
                raise KeyError("abs")
            return expr

    _passes.register_pass("Failing")(Failing)
    traced, _ = net
    before = bits(list(traced.tensors())), str(traced.graph), traced.conv.training
    for run in (lambda: tm.optimize(traced, "Failing"), lambda: Failing()(traced)):
        with pytest.raises(KeyError, match="abs"):
            run()
        assert (bits(list(traced.tensors())), str(traced.graph), traced.conv.training) == before


def test_a_pass_that_never_ends_is_an_error(registered):
    class Endless(_passes.ForwardPass):
        """Negates the output again and again."""

        name, run_once = "Endless", False

        def before_visit_graph(self, graph):
            self.is_done = False

        def run_transform(self, expr):
            if self.is_done or expr.outputs[0] is not expr.top_graph.outputs[0]:
                return expr
            self.is_done = True
            with expr.top_graph.insert_exprs():
                new = F.neg(expr.args[0])
            return replace_expr(expr, new)

    _passes.register_pass("Endless")(Endless)
    with pytest.raises(RuntimeError, match="Endless: sweeps must come to an end, got 100 that"):
        tm.optimize(tm.trace_module(Squares(), F.ones(2)), "Endless")


def test_passes_are_left_out_by_a_context(net, caplog):
    context = _passes.PassContext("FoldConstant", {"FuseConvBn": 1})
    new = _passes.norm_pass.NormElemWise()(net[0], context)
    assert str(new.graph) == str(copy.deepcopy(net[0]).graph)
    assert "NormElemWise is left out, because FoldConstant is disabled" in caplog.text
    assert context.config == {"FuseConvBn": 1}
    assert _passes.get_default_pass_context().pass_enabled("FoldConstant")


# The check of results.


def test_results_are_compared_with_those_before(registered):
    class Wrong(_passes.ForwardPass):
        """Takes away every relu."""

        name = "Wrong"

        def run_transform(self, expr):
            is_relu = getattr(expr, "func", None) is F.relu
            return replace_expr(expr, expr.args[0], takes_name=False) if is_relu else expr

    _passes.register_pass("Wrong")(Wrong)
    traced = tm.trace_module(Formula(lambda x, y, c: F.relu(x) + y, [1.0]), F.ones(20), F.ones(20))
    with pytest.raises(ValueError, match="optimize: the results, number 0 must be as of the mod"):
        tm.optimize(traced, "Wrong")
    tm.disable_default_checker()
    try:
        assert tm.optimize(traced, "Wrong").graph.exprs().as_count() == 1
    finally:
        tm.disable_default_checker(False)
    traced.graph.inputs[1].shape = None
    assert tm.optimize(traced, "Wrong").graph.exprs().as_count() == 1  # nothing to compare


def test_a_rounding_beyond_the_stated_one_is_refused(registered):
    class Inexact(_passes.ForwardPass):
        """Adds a rounding error of a few units."""

        name = "Inexact"

        def run_transform(self, expr):
            if getattr(expr, "func", None) is not F.exp:
                return expr
            with expr.top_graph.insert_exprs():
                new = F.exp2(expr.args[0] * 1.44269504) if hasattr(F, "exp2") else (
                    F.pow(2.718281828, expr.args[0])
                )  # fmt: skip
            return replace_expr(expr, new)

    traced = tm.trace_module(Formula(lambda x, y, c: F.exp(x), [1.0]), F.ones(99), F.ones(1))
    for roundings in (0, 16):
        Inexact.roundings = roundings
        _passes.register_pass("Inexact")(Inexact)
        if roundings:
            tm.optimize(traced, "Inexact")
        else:
            with pytest.raises(ValueError, match="optimize: the results, number 0 must be as"):
                tm.optimize(traced, "Inexact")


def test_random_numbers_and_buffers_are_as_before_the_check(net):
    traced, x = net
    ts.seed(3)
    wanted = ts.random.normal(size=(2,)).tolist()
    before = bits(list(traced.tensors()))
    ts.seed(3)
    new = tm.optimize(traced, "FoldConstant")
    assert ts.random.normal(size=(2,)).tolist() == wanted
    assert bits(list(traced.tensors())) == before
    assert bits([new.steps]) == bits([traced.steps])


def test_keyword_arguments_and_containers_are_made_for_the_check():
    class Given(M.Module):
        """A module that is given things in many ways."""

        def forward(self, pair, /, flag, *rest, scale, **more):
            return pair[0] * scale + rest[0] + more["last"] + pair[1]["a"] * (2 if flag else 3)

    one = F.ones(2)
    args = ((one, {"a": one}), True, one * 3)
    traced = tm.trace_module(Given(), *args, scale=one * 2, last=one)
    new = tm.optimize(traced, ["FuseAddMul", "FixInputShape"])
    assert bits([new(*args, scale=one, last=one)]) == bits([traced(*args, scale=one, last=one)])


# Edits that passes make.


def test_a_body_that_returns_a_replaced_node_returns_the_new_one():
    def _branch(x, y, table):
        z = F.relu(x)
        return F.cond(x.sum() > 0, lambda a: z, lambda a: a, y)

    traced = tm.trace_module(Formula(_branch, [1.0]), F.ones(2), F.ones(2))
    (node,) = traced.graph.get_function_by_type(F.relu).as_unique().outputs
    with traced.graph.insert_exprs():
        new = node * 3
    traced.graph.replace_node({node: new})
    assert traced(F.ones(2), F.ones(2)).tolist() == [3.0, 3.0]


def test_a_reader_behind_the_new_node_reads_it_even_if_it_has_an_effect():
    traced = tm.trace_module(Formula(lambda x, y, c: _wrapped(x, F.relu(y)), [1.0]), F.ones(2),
                             F.ones(2))  # fmt: skip
    (node,) = traced.graph.get_function_by_type(F.relu).as_unique().outputs
    traced.graph.replace_node({node: traced.graph.inputs[1]})
    assert traced.graph.compile().exprs().as_count() == 1
    assert traced(F.ones(2), F.zeros(2)).tolist() == [2.0, 2.0]


@tm.wrap
def _wrapped(x, y):
    """Some function of a user, which may change its arguments."""
    return x + y
