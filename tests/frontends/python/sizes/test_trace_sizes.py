"""Traced calls that differ in sizes: one program with free dimensions serves all but the first."""

import functools
import math

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import bits, default_device, gradient_programs, programs, same_bits
from tests.support.workloads import LIMIT, WORKLOADS, infer, train

SHARED = {
    "elementwise": lambda x: F.exp(x) * 2 + x,
    "rows": lambda x: F.softmax(x, axis=1),
    "columns": lambda x: F.sum(x, axis=0),
    "everything": lambda x: F.mean(x * x),
    "a view": lambda x: F.transpose(x, (1, 0))[:, 1:],
    "a product": lambda x: F.matmul(x, F.transpose(x, (1, 0))),
    "joined": lambda x: F.concat([x, x * 2], axis=0),
    "a border": lambda x: F.pad(x, ((1, 2), (0, 0))),
    "flat": lambda x: F.flatten(x),
    "a size as a number": lambda x: x / x.shape[0],
}
FIXED = {
    "the root of a size": lambda x: x / math.sqrt(x.shape[0]),
    "a size decides": lambda x: x + 1 if x.shape[0] > 5 else x - 1,
    "rows in Python": lambda x: sum(list(x)),
    "parts": lambda x: F.concat(F.split(x, x.shape[0], 0)[::-1], 0),
}


def rows(*shape):
    random = np.random.RandomState(sum(shape))
    return tessera.Tensor(random.randn(*shape).astype(np.float32))


@pytest.mark.parametrize("what", SHARED)
def test_other_sizes_share_a_program(what):
    traced = jit.trace(SHARED[what])
    for count in [4, 4, 3, 7, 2, 7, 16, 33, 4, 3]:
        x = rows(count, 4)
        assert same_bits(traced(x), SHARED[what](x))
    assert programs(traced) == 2
    assert "serves other sizes" in traced.explain()


@pytest.mark.parametrize("what", FIXED)
def test_a_function_that_depends_on_a_size_has_a_program_for_each(what):
    traced = jit.trace(FIXED[what])
    for count in [4, 4, 3, 7, 3, 7]:
        x = rows(count, 4)
        assert same_bits(traced(x), FIXED[what](x))
    assert programs(traced) == 3
    assert "serves these sizes only: " in traced.explain()


def test_what_differs_is_told():
    traced = jit.trace(FIXED["the root of a size"])
    for count in (4, 3):
        traced(rows(count, 4))
    assert "test_trace_sizes.py" in traced.explain()
    assert "truediv" in traced.explain() or "div(" in traced.explain()


@pytest.mark.parametrize("small", [0, 1])
def test_sizes_below_2_have_programs_of_their_own(small):
    traced = jit.trace(SHARED["elementwise"])
    for count in [4, 4, small, small, 5, 5, small]:
        x = rows(count, 4)
        assert same_bits(traced(x), SHARED["elementwise"](x))
    assert programs(traced) == 3


def test_every_axis_that_changes_is_free():
    traced = jit.trace(lambda x: F.exp(x).sum(axis=0))
    for shape in [(4, 4), (4, 4), (4, 5), (6, 5), (7, 9), (11, 3)]:
        assert same_bits(traced(rows(*shape)), F.exp(rows(*shape)).sum(axis=0))
    assert programs(traced) == 3  # the first, one for a second axis, one for both


def test_an_error_of_a_size_is_that_of_the_call():
    weight = rows(4, 3)
    traced = jit.trace(lambda x: F.matmul(x, weight))
    for count in (2, 2, 3):
        traced(rows(count, 4))
    with pytest.raises(ValueError, match="matmul"):
        traced(rows(3, 5))
    assert same_bits(traced(rows(9, 4)), F.matmul(rows(9, 4), weight))


def test_variables_are_updated_once():
    total = tessera.Tensor([0.0])
    seen = []

    def add(x):
        seen.append(x.shape)
        total._reset(total + x.sum())
        return x * 2

    traced = jit.trace(add)
    expected = 0.0
    for count in [2, 2, 3, 4, 3, 5]:
        x = rows(count)
        assert same_bits(traced(x), x * 2)
        expected += float(x.sum().item())
        assert total.item() == pytest.approx(expected, abs=1e-4)
    assert programs(traced) == 2


def test_python_state_is_looked_at_for_each_size():
    config = {"scale": 2.0}
    traced = jit.trace(lambda x: x * config["scale"])
    for count in (2, 2, 3):
        assert same_bits(traced(rows(count)), rows(count) * 2.0)
    config["scale"] = 3.0
    for count in (2, 3, 4, 4):
        assert same_bits(traced(rows(count)), rows(count) * 3.0)


def test_a_gradient_in_which_no_size_stands_is_shared():
    traced = jit.trace(lambda x: F.exp(x) * x)
    for count in [4, 4, 3, 3, 7, 7, 2]:
        grads = []
        for function in (traced.function, traced):
            x = rows(count, 4)
            with GradManager().attach(x) as manager:
                manager.backward((function(x) ** 2).sum())
            grads.append(x.grad)
        assert same_bits(*grads)
    assert programs(traced) == gradient_programs(traced) == 2


def test_a_whole_step_at_many_sizes():
    weight = tessera.Parameter(np.ones((4, 1), np.float32))
    manager = GradManager().attach([weight])

    def step(x):
        with manager:
            loss = (F.matmul(x, weight) ** 2).mean()
            manager.backward(loss)
        weight._reset(weight - 0.1 * weight.grad)
        weight.grad = None
        return loss

    traced = jit.trace(step)
    start = weight.numpy()
    counts = [4, 4, 3, 6, 5, 6, 12]
    got = [traced(rows(count, 4)).item() for count in counts]
    end = weight.numpy()
    weight._reset(tessera.Tensor(start))
    assert got == [step(rows(count, 4)).item() for count in counts]
    assert same_bits(end, weight.numpy())
    assert programs(traced) == 2


def test_donated_arguments_of_other_sizes():
    traced = jit.trace(lambda x, y: (x + 1, y * 2), donate_argnums=(0,))
    for count in [4, 4, 3, 5]:
        x, y = rows(count, 4), rows(4, count)
        expected = [x.numpy() + 1, y.numpy() * 2]
        assert same_bits(traced(x, y), expected)
    assert programs(traced) == 2


@functools.cache
def eagerly(name, way):
    """What a workload gives where nothing is traced, on the host."""
    return bits(WAYS[way](name, lambda function: function)[0])


WAYS = {
    "step": lambda name, wrap: train(name, wrap, True),
    "network": lambda name, wrap: train(name, wrap, False),
    "inference": infer,
}


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_compiles_twice(name, way, device):
    with default_device(device):
        results, traced = WAYS[way](name, jit.trace)
    assert {each.device for each in results} == {device}
    assert bits(results) == eagerly(name, way)
    assert programs(traced) == LIMIT
    assert gradient_programs(traced) == (LIMIT if way == "network" else 0)
