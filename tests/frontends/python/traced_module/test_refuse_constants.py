"""Traces that refuse constants, which only warn without that."""

import math

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm

OUTSIDE = ts.Tensor([1.0, 2.0])
OUTER = M.Linear(2, 2)


class Net(M.Module):
    """Computes what it is given."""

    def __init__(self, function):
        super().__init__()
        self.function, self.linear, self.steps = function, M.Linear(2, 2), 0

    def forward(self, x):
        return self.function(self, x)


def _count(net, x):
    net.steps = net.steps + 1
    return x + 1


CONSTANTS = {
    "item": (lambda net, x: x * x.max().item(), r"item\(\) of a tensor"),
    "numpy": (lambda net, x: x + ts.tensor(x.numpy()), r"numpy\(\) of a tensor"),
    "float": (lambda net, x: x * float(x.sum()), r"__float__\(\) of a tensor"),
    "tensor from outside": (lambda net, x: x + OUTSIDE, "a tensor from outside of the module"),
    "module from outside": (lambda net, x: OUTER(x), "a module from outside of the module"),
    "tensor of numbers": (lambda net, x: x + ts.Tensor([1.0]), "a tensor that is made of numbers"),
    "size": (lambda net, x: x + 1 if x.shape[0] > 1 else x, "a comparison with 3, a size"),
    "size as a number": (lambda net, x: x * int(x.shape[0]), "3, a size"),
    "size of a loop": (lambda net, x: sum(x + i for i in range(x.shape[1])), "2, a size"),
    "square root of a size": (lambda net, x: x / math.sqrt(x.shape[0]), "3, a size"),
    "training": (
        lambda net, x: x * 2 if net.training else x,
        "training=True of a module",
    ),
    "change": (_count, r"a change of Net\.steps"),
}


@pytest.mark.parametrize(("function", "fact"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_is_refused_with_its_line(function, fact):
    net = Net(function)
    refused = "every value must be computed by the graph"
    where = r"a constant \(test_refuse_constants\.py:"
    with (
        tm.refuse_constants(),
        pytest.raises(ValueError, match=f"^trace_module: {refused}, got {fact}, {where}"),
    ):
        tm.trace_module(net, F.ones((3, 2)))
    assert net.steps == 0


@pytest.mark.filterwarnings("ignore:trace_module")
@pytest.mark.parametrize(("function", "fact"), CONSTANTS.values(), ids=CONSTANTS)
def test_it_is_recorded_outside_of_the_context(function, fact):
    with tm.refuse_constants():
        pass
    x = F.ones((3, 2))
    net = Net(function)
    assert np.array_equal(tm.trace_module(net, x)(x).numpy(), net(x).numpy())


def test_what_a_graph_computes_is_taken():
    def _all(net, x):
        size = x.shape[0] * x.shape[1]
        y = net.linear(x).reshape(size) / size
        y = F.dropout(y, 0.5, training=net.training)
        return F.cond(y.sum() > 0, lambda v: v + 1.0, lambda v: v * 2, y)

    with tm.refuse_constants():
        traced = tm.trace_module(Net(_all), F.ones((3, 2)))
    assert traced(F.ones((5, 2))).shape == (10,)


def test_contexts_within_each_other_end_in_order():
    net = Net(CONSTANTS["tensor of numbers"][0])
    with tm.refuse_constants():
        with tm.refuse_constants():
            pass
        with pytest.raises(ValueError, match="^trace_module: every value"):
            tm.trace_module(net, F.ones((3, 2)))
    tm.trace_module(net, F.ones((3, 2)))
