"""What traces keep, in bytes, and arguments that the caller gives up."""

import gc

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, device, jit
from tessera.autodiff import GradManager

from tests.support.helper import same_bits
from tests.support.networks import tensor


@pytest.fixture
def bounded():
    """Sets the limit; the old one is back at the end."""
    gc.collect()
    before, limit = _core.trace_bytes(), config.get_trace_limit()
    yield lambda size: config.set_trace_limit(before + size)
    config.set_trace_limit(limit)


def test_signatures_are_bounded_in_bytes(bounded):
    def f(x):
        return x @ x @ x + 1

    traced = jit.trace(f)
    small, large = tensor(2, 2), tensor(256, 256)
    for x in (small, small, large, large):
        traced(x)
    before = _core.trace_bytes()
    assert len(traced._variants) == 2
    largest = max(kept[0].held_bytes() for kept in traced._variants.values())
    assert largest > 256 * 256 * 4  # a temporary in the arena
    traced(small)
    with pytest.warns(RuntimeWarning, match="forgets signatures used least recently: see config"):
        bounded(0)
        traced(tensor(3, 3))
    assert _core.trace_bytes() < before and len(traced._variants) == 1
    # What was forgotten is recorded anew.
    for _ in range(3):
        assert same_bits(traced(large), large @ large @ large + 1)


def test_the_least_recently_used_goes(bounded):
    traced = jit.trace(lambda x: x + 1)
    shapes = [tensor(n) for n in (1, 2, 3)]
    for x in shapes:
        traced(x)
        traced(x)
    traced(shapes[0])
    with pytest.warns(RuntimeWarning, match="forgets signatures"):
        config.set_trace_limit(_core.trace_bytes() - 1)
    assert {key[1][1] for key in traced._variants} == {(1,), (3,)}


def test_a_signature_keeps_the_variants_used_last():
    factor, x, variants = [0.0], tensor(2), {}
    traced = jit.trace(lambda x: x * factor[0])
    for factor[0] in (1.0, 2.0, 3.0, 4.0, 1.0, 5.0):
        assert same_bits(traced(x), x * factor[0])
        variants.setdefault(factor[0], traced._last)
    assert sum(map(len, traced._variants.values())) == 4
    for factor[0], is_kept in ((1.0, True), (5.0, True), (2.0, False)):
        assert same_bits(traced(x), x * factor[0])
        assert (traced._last is variants[factor[0]]) == is_kept


def test_many_signatures_need_no_limit_of_their_number():
    traced = jit.trace(lambda x: x + 1)
    for n in range(40):
        assert traced(tensor(n + 1)).shape == (n + 1,)
    assert len(traced._variants) == 40


def test_a_trace_that_goes_gives_its_bytes_back():
    gc.collect()
    before = _core.trace_bytes()
    traced = jit.trace(lambda x: x @ x + 1)
    traced(tensor(8, 8))
    traced(tensor(8, 8))
    assert _core.trace_bytes() > before
    del traced
    gc.collect()
    assert _core.trace_bytes() == before


@pytest.mark.filterwarnings("ignore:trace. .* forgets signatures")
def test_gradients_and_parts_count_too(bounded):
    traced, x = jit.trace(lambda x: F.exp(x @ x)), tensor(64, 64)
    gc.collect()
    before, sizes = _core.trace_bytes(), []
    for _ in range(3):
        with GradManager().attach(x) as manager:
            manager.backward(traced(x).sum())
        (variants,) = traced._variants.values()
        sizes.append(variants[0].held_bytes())
        assert _core.trace_bytes() - before == sizes[-1]
    assert sizes[0] < sizes[1] == sizes[2]

    @jit.trace
    def parts(x):
        y = x @ x
        with jit.exclude_from_trace():
            y.item()
        return y + 1

    before = _core.trace_bytes()
    for _ in range(3):
        parts(tensor(1, 1))
    assert _core.trace_bytes() > before
    config.set_trace_limit(0)
    for _ in range(2):
        assert parts(tensor(1, 1)).shape == (1, 1)


def test_limits_that_are_none():
    with pytest.raises(ValueError, match="set_trace_limit: bytes must be at least 0, got -1"):
        config.set_trace_limit(-1)


def step(x, y):
    return x * 2 + y


def test_a_result_takes_over_a_donated_argument():
    traced = jit.trace(step, donate_argnums=0)
    for seed in range(4):
        x, y = tensor(64, 64, seed=seed), tensor(64, 64, seed=9)
        expected, result = step(x, y), None
        tessera.sync()
        before = device.get_allocated_memory()
        result = traced(x, y)
        tessera.sync()
        grown = device.get_allocated_memory() - before
        assert same_bits(result, expected) and same_bits(y, tensor(64, 64, seed=9))
        assert grown == 0 or seed < 2, seed  # the second call makes the program


def test_without_donation_a_result_has_memory_of_its_own():
    traced = jit.trace(step)
    for seed in range(4):
        x, y, result = tensor(64, 64, seed=seed), tensor(64, 64, seed=9), None
        tessera.sync()
        before = device.get_allocated_memory()
        result = traced(x, y)
        tessera.sync()
        assert device.get_allocated_memory() - before >= result.size * 4


@pytest.mark.parametrize("options", [{}, {"symbolic": True}, {"check": True}])
def test_a_use_after_donation_is_an_error(options):
    traced = jit.trace(step, donate_argnums=(0,), **options)
    for _ in range(4):
        x, y = tensor(2, 3), tensor(2, 3)
        traced(x, y)
        text = r"step: a tensor donated to the call must not be used again, got a use of f32\[2, 3"
        for use in (lambda x, y: x, lambda x, y: x + 1, traced):
            with pytest.raises(ValueError, match=text):
                use(x, y).numpy()
        assert x.shape == (2, 3)
        x._reset(tensor(2, 3))  # a new value may be used
        assert same_bits(x, y)


def test_values_that_others_hold_stay():
    traced = jit.trace(step, donate_argnums=0)
    y = tensor(3)
    for seed in range(4):
        x = tensor(3, seed=seed)
        look, part = x.detach(), x[:2]
        traced(x, y)
        assert same_bits(look, tensor(3, seed=seed)) and same_bits(part, tensor(3, seed=seed)[:2])


def test_donated_containers_captured_tensors_and_results_that_are_arguments():
    weight = tensor(3)

    @jit.trace(donate_argnums=1)
    def f(a, state):
        return state["x"], state["x"] * 2 + a, weight + state["y"]

    for _ in range(4):
        state = {"x": tensor(3, seed=1), "y": tensor(3, seed=2)}
        same, double, added = f(tensor(3), state)
        assert same_bits(same, tensor(3, seed=1))
        assert same_bits(double, tensor(3, seed=1) * 2 + tensor(3))
        assert same_bits(added, weight + tensor(3, seed=2))
        with pytest.raises(ValueError, match="f: a tensor donated"):
            state["y"].numpy()
    g = jit.trace(lambda x: x + weight, donate_argnums=0)
    g(tensor(3))
    g(tensor(3))
    assert same_bits(g(weight.detach()), tensor(3) + tensor(3)) and same_bits(weight, tensor(3))


def test_donation_that_cannot_be():
    x, y = tensor(2), tensor(2)
    with pytest.raises(ValueError, match="trace: a donated argument must be given once, got tens"):
        jit.trace(step, donate_argnums=0)(x, x)
    text = r"trace: donate_argnums must be positions of arguments, got \(2,\) for 2 arguments"
    with pytest.raises(ValueError, match=text):
        jit.trace(step, donate_argnums=2)(x, y)
    assert same_bits(x, y)


def test_donation_keeps_what_the_gradient_reads():
    traced = jit.trace(lambda x, w: (x * w).sum(), donate_argnums=0)
    weight = tessera.Parameter(np.ones(3, np.float32))
    manager = GradManager().attach(weight)
    for seed in range(4):
        x = tensor(3, seed=seed)
        with manager:
            y = traced(x, weight)
            manager.backward(y)
        assert same_bits(weight.grad, tensor(3, seed=seed))
        weight.grad = None
