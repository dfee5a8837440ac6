"""Passes for sums, products and factors: numbers within the roundings that they state."""

import logging

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.traced_module._passes.operands import limits_of

from tests.frontends.python.traced_module.optimizing import (
    Chain,
    Formula,
    busy,
    called,
    error,
    floats,
    is_fused,
    optimized,
)
from tests.support.helper import bits

FORMS = {
    "x - y": (lambda x, y, c: x - y, ["neg", "__add__"]),
    "F.sub(x, y)": (lambda x, y, c: F.sub(x, y), ["neg", "__add__"]),
    "F.mul(x, 2)": (lambda x, y, c: F.mul(x, 2), ["__mul__"]),
    "F.add(2, x)": (lambda x, y, c: F.add(2, x), ["__add__"]),
    "2 - x": (lambda x, y, c: 2 - x, ["neg", "__add__"]),
    "c - x": (lambda x, y, c: c - x, ["neg", "__add__"]),
    "x - c": (lambda x, y, c: x - c, ["__add__"]),
    "c * x": (lambda x, y, c: c * x, ["__mul__"]),
    "F.add(c, x)": (lambda x, y, c: F.add(c, x), ["__add__"]),
    "x - 0": (lambda x, y, c: x - 0, ["__add__"]),
    "0 - x": (lambda x, y, c: 0 - x, ["neg", "__add__"]),
    "x / y": (lambda x, y, c: x / y, ["__truediv__"]),
    "x / 0": (lambda x, y, c: x / 0, ["__truediv__"]),
    "x * y": (lambda x, y, c: F.mul(x, y), ["__mul__"]),
}
ROUNDED = {
    "x / 3": (lambda x, y, c: x / 3, ["__mul__"]),
    "x / c": (lambda x, y, c: F.div(x, c), ["__mul__"]),
    "3 / x": (lambda x, y, c: 3 / x, ["pow", "__mul__"]),
    "1 / x": (lambda x, y, c: 1 / x, ["pow"]),
    "c / x": (lambda x, y, c: c / x, ["pow", "__mul__"]),
}


@pytest.mark.parametrize("name", [*FORMS, *ROUNDED])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_elementwise_calls_get_one_form(name, dtype):
    function, calls = {**FORMS, **ROUNDED}[name]
    x, y, table = (np.random.RandomState(seed).randn(64) for seed in range(3))
    x[:2], table = (0.0, -0.0), np.abs(table) + 0.5
    x, y, table = (ts.Tensor(each, dtype=dtype) for each in (x, y, table))
    traced = tm.trace_module(Formula(function, table), x, y)
    new = tm.optimize(traced, "NormElemWise")
    assert called(new.graph) == calls
    if name in FORMS:
        assert bits([new(x, y)]) == bits([traced(x, y)])
    found, wanted = (np.asarray(each(x, y), dtype=np.float64) for each in (new, traced))
    with np.errstate(invalid="ignore"):
        close = np.abs(found - wanted) <= 2 * np.finfo(dtype).eps * np.abs(wanted)
    assert np.all(close | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))


def test_calls_of_integers_and_in_place_keep_their_form():
    def _in_place(x, y, table):
        z = F.relu(x)
        z -= 1
        return z, F.sub(x, y, inplace=False)

    ones = F.ones(2)
    traced = tm.trace_module(Formula(_in_place, [1.0]), ones, ones)
    assert called(tm.optimize(traced, "NormElemWise").graph)[:2] == ["relu", "__isub__"]
    traced = tm.trace_module(Formula(lambda x, y, c: 3 - x, [1.0]), ones.astype("int32"), ones)
    assert called(tm.optimize(traced, "NormElemWise").graph) == ["__rsub__"]


# Additions and products.


def test_sums_and_products_with_constants_become_one():
    table = floats(3, seed=1)

    def _run(self, x):
        y = F.neg((x - 1) * self.scale) / 4
        return ((y + self.shift) + 2 + table) * 3

    net = Chain(_run, scale=ts.Parameter([2.0]), shift=ts.Parameter(floats(3, seed=2)))
    with pytest.warns(RuntimeWarning, match="a tensor from outside of the module"):
        new = optimized(net, floats(2, 3), passes="FuseAddMul", most=4)
    names = [expr.method for expr in new.graph.exprs() if expr.inputs]
    assert names == ["__add__", "__mul__", "__add__", "__mul__"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_sums_are_within_the_stated_rounding(dtype):
    x = floats(1000, dtype=dtype)
    traced = tm.trace_module(Chain(lambda self, x: (x + 0.3) - 1.7), x)
    new, eps = tm.optimize(traced, "FuseAddMul"), limits_of(x.dtype)[0]
    found, wanted, size = (np.asarray(each._numbers(), dtype=np.float64)
                           for each in (new(x), traced(x), F.abs(x)))  # fmt: skip
    assert new.graph.exprs().as_count() == 1 and new(x).dtype == x.dtype
    assert np.all(np.abs(found - wanted) <= 2 * eps * (size + 2.0))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_products_and_powers_are_within_the_stated_rounding(dtype):
    x, eps = F.abs(floats(1000, dtype=dtype)) + 0.5, limits_of(ts.tensor([1.0]).astype(dtype).dtype)
    for function, most in [(lambda self, x: (x * 0.3) * 1.7, 2), (lambda self, x: 1 / (1 / x), 8),
                           (lambda self, x: (x**3) ** 2, 8)]:  # fmt: skip
        traced = tm.trace_module(Chain(function), x.astype(dtype))
        new = tm.optimize(traced, "FuseAddMul")
        found, wanted = (np.asarray(each(x.astype(dtype))._numbers(), dtype=np.float64)
                         for each in (new, traced))  # fmt: skip
        assert np.all(np.abs(found - wanted) <= most * eps[0] * np.abs(wanted))
        assert new.graph.exprs().as_count() <= 2


def test_what_adds_nothing_is_the_operand_itself():
    new = optimized(Chain(lambda self, x: F.relu(((x + 1) - 1) * 2 * 0.5)), floats(3),
                    passes="FuseAddMul", most=2)  # fmt: skip
    assert new.graph.exprs().as_unique().args == (new.graph.inputs[1],)


KEPT = {
    "integers": (lambda self, x: (x.astype("int32") + 1) + 2, 3),
    "powers of fractions": (lambda self, x: (x**2) ** 0.5, 2),
    "a shape that grows": (lambda self, x: (x + self.column) + self.column, 3),
    "another reader": (lambda self, x: (y := x + 1) * y + (y + 2), 4),
    "two variables": (lambda self, x: (x + x) + x, 2),
    "a factor that is no number of the dtype": (lambda self, x: (x * 1e30) * 1e30, 2),
    "nothing": (lambda self, x: (x * 0.0) / 0.0, 2),
}


@pytest.mark.parametrize("name", KEPT)
def test_others_are_kept(name):
    function, count = KEPT[name]
    traced = tm.trace_module(Chain(function, column=ts.Parameter([[1.0], [2.0]])), floats(3))
    new = tm.optimize(traced, "FuseAddMul")
    assert new.graph.exprs().as_count() == count
    assert bits([new(floats(3))]) == bits([traced(floats(3))])


# Factors.


class OwnConv(M.Conv2d):
    """A class of a user, which is opened."""


class OwnNorm(M.BatchNorm2d):
    """A class of a user, which is opened."""


class Block(M.Module):
    """Two convolutions with norms, whose factors meet in a sum."""

    def __init__(self, conv, norm):
        super().__init__()
        self.conv, self.bn = conv(3, 3, 1), norm(3)
        self.conv2, self.bn2 = conv(3, 3, 1), norm(3)
        self.scale = ts.Tensor([3.0, 4.0])

    def forward(self, x):
        """A sum of two branches, scaled three times."""
        x1 = F.relu(self.bn(self.conv(x))) * self.scale[0]
        x2 = F.relu(self.bn2(self.conv2(x))) * self.scale[1]
        y = self.scale[0] + F.add(x1 + x2, 4)
        return F.relu(y) * 3


class Blocks(M.Module):
    """A sum of two blocks, scaled once more."""

    def __init__(self, conv, norm):
        super().__init__()
        self.block_0, self.block_1 = Block(conv, norm), Block(conv, norm)

    def forward(self, x):
        """See the class."""
        return F.reshape(self.block_0(x) + self.block_1(x), (-1,)) * 3


@pytest.mark.filterwarnings("ignore:trace_module. training=False of a module")
@pytest.mark.parametrize("conv", [M.Conv2d, OwnConv])
@pytest.mark.parametrize("norm", [M.BatchNorm2d, OwnNorm])
def test_all_factors_go_into_convolutions(conv, norm, caplog):
    x = floats(1, 3, 8, 8)
    net = busy(Blocks(conv, norm))
    for block in (net.block_0, net.block_1):
        block.scale = ts.Tensor([3.0, 4.0])
    flat = tm.trace_module(net, x).flatten()
    with caplog.at_level(logging.WARNING, "tessera"):
        new = tm.optimize(flat, "BackwardFoldScale")
    assert "BackwardFoldScale brings FuseConvBn along" in caplog.text
    assert not new.graph.get_method_by_type("__mul__").as_list() and is_fused(new)
    assert error(new(x), flat(x)) <= 64


def test_negations_and_functions_are_folded():
    layers = {"weight": ts.Parameter(floats(4, 3, 3, 3)), "conv": M.Conv2d(3, 4, 3),
              "other": M.Conv2d(3, 4, 3)}  # fmt: skip

    def _flat(self, x):
        y = F.conv2d(x, self.weight) + self.conv(x)
        return F.neg(F.concat([y, F.avg_pool2d(-self.other(x), 1)], 1)) * 0.5

    new = optimized(Chain(_flat, **layers).eval(), floats(1, 3, 5, 5),
                    passes=["FuseConvBn", "BackwardFoldScale"], most=8)  # fmt: skip
    functions = [expr.func for expr in new.graph.exprs() if hasattr(expr, "func")]
    assert F.neg not in functions and not new.graph.get_method_by_type("__mul__").as_list()
    assert not new.graph.get_method_by_type("__neg__").as_list()
    assert bits([new.conv.weight]) != bits([layers["conv"].weight])


def test_relu_lets_positive_factors_through_alone():
    conv = M.Conv2d(3, 4, 3)
    for factor, count in [(-2, 1), (2, 0)]:
        net = Chain(lambda self, x, by=factor: F.relu(self.conv(x)) * by, conv=conv).eval()
        new = optimized(net, floats(1, 3, 5, 5), passes="BackwardFoldScale", most=8)
        assert new.graph.get_method_by_type("__mul__").as_count() == count


FACTORS_LEFT = {
    "an input": lambda self, x: F.relu(x) * 2,
    "another reader": lambda self, x: F.relu(y := self.conv(x)) * 2 + y,
    "a function that is not linear": lambda self, x: F.exp(self.conv(x)) * 2,
    "several elements": lambda self, x: self.conv(x) * self.scales,
    "zero": lambda self, x: self.conv(x) * 0,
    "a huge number": lambda self, x: self.conv(x) * 1e20,
    "two variables": lambda self, x: (self.conv(x) * self.conv(x)) * 2,
}


@pytest.mark.parametrize("name", FACTORS_LEFT)
def test_other_factors_stay(name):
    net = Chain(FACTORS_LEFT[name], conv=M.Conv2d(3, 4, 3), scales=ts.Parameter(floats(1, 4, 1, 1)))
    x = floats(1, 3, 5, 5)
    traced = tm.trace_module(net.eval(), x)
    new = tm.optimize(traced, "BackwardFoldScale")
    assert bits([new(x)]) == bits([traced(x)])
    assert "__mul__" in str(new.graph)


def test_one_factor_of_all_readers_is_folded_once():
    net = Chain(lambda self, x: ((y := F.relu(self.conv(x))) + 3 + (y + 4)) * 3,
                conv=M.Conv2d(3, 4, 3)).eval()  # fmt: skip
    new = optimized(net, floats(1, 3, 5, 5), passes="BackwardFoldScale", most=8)
    constants = [expr.args[1] for expr in new.graph.get_method_by_type("__add__") if
                 type(expr.args[1]) is int]  # fmt: skip
    assert constants == [9, 12]


# Tensors that are changed in place.


def _alias(x, y, table):
    z = F.relu(x)
    w = (z + 1) + 0
    kept = z
    z += 5
    return (kept + 1) + 2, w


def _in_turn(x, y, table):
    z = F.relu(x)
    w = z + 1
    z += 5
    return w + 2


def _own(x, y, table):
    z = (x * 2) * 0.5
    z += 1
    return z


@pytest.mark.parametrize("function", [_alias, _in_turn, _own])
@pytest.mark.parametrize("name", ["NormElemWise", "FuseAddMul", "BackwardFoldScale"])
def test_what_is_changed_in_place_keeps_its_turn(function, name):
    x = floats(8)
    before = bits([x])
    traced = tm.trace_module(Formula(function, [1.0]).eval(), x, x)
    new = tm.optimize(traced, name)
    for a, b in zip(np.atleast_1d(new(x, x)), np.atleast_1d(traced(x, x)), strict=True):
        assert np.allclose(a, b, rtol=0, atol=1e-6)
    assert bits([x]) == before


def test_an_output_is_no_input():
    x = floats(8)
    new = tm.optimize(tm.trace_module(Formula(lambda x, y, c: x * 2 * 0.5, [1.0]), x, x),
                      "FuseAddMul")  # fmt: skip
    assert new(x, x) is not x
