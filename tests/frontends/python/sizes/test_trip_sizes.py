"""Sizes that data decides in trips of loops: the bits of Python's loops, eager, traced, loaded."""

import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.jit import Dim

from tests.support.helper import default_device, programs, same_bits


def _few(state, x):
    chosen = x[x > 0]
    return state * 0.5 + chosen.sum(), F.exp(x[x > state * 0.1] * 0.5).sum()


def _sized(state, x):
    chosen = x[x > 0]
    count = chosen.shape[0]
    weights = F.arange(count) + F.broadcast_to(state, (count,))
    return state * 0.5 + (chosen * weights).sum() * 0.1, F.full((2,), 1.0) * count


def _shaped(state, x):
    row = F.reshape(x[x > 0], (1, -1))
    return state + F.matmul(row, row.T).sum() * 0.1, F.concat([row[0], x], 0).std()


def _dropped(state, x):
    return state * 0.5 + F.dropout(x[x > 0], 0.5).sum(), state


def _nested(state, x):
    inner, ys = F.scan(lambda s, y: (s + x[x > y].sum() * y, s * 0.1), state, x)
    return inner * 0.1 + ys[ys > 0.1].sum(), ys


def _around(state, x):
    """The loop within uses a size of this one's trip."""
    chosen = x[x > 0]
    count = chosen.shape[0]

    def inner(s, y):
        return s * 0.5 + F.ones((count,)).sum() * y, F.broadcast_to(s, chosen.shape).sum()

    last, ys = F.scan(inner, state, x)
    return last * 0.1, ys


def _while(x, limit=None):
    def body(n, s):
        return n + 1, s * 0.9 + s[s > n * 0.1].sum() * 0.01

    return F.while_loop(lambda n, s: n < 3, body, F.full((), 0.0), x, max_trips=limit)[1]


def _branch(x):
    def orelse(x):
        return x * F.ones(x[x < 0].shape).sum()

    return F.cond(x.sum() > 0, lambda x: x * x[x > 0].sum(), orelse, x)


LOOPS = {
    "a scan": lambda x: F.scan(_few, x.sum(), x),
    "backwards": lambda x: F.scan(_few, x.sum(), x, reverse=True),
    "sizes": lambda x: F.scan(_sized, x.sum(), x),
    "views": lambda x: F.scan(_shaped, x.sum(), x),
    "of a length": lambda x: F.scan(lambda s, _: (s * 0.5 + x[x > s].mean(), s), x.sum(), None, 4),
    "loops in loops": lambda x: F.scan(_nested, x.sum(), x),
    "sizes of the loop around": lambda x: F.scan(_around, x.sum(), x),
    "sizes from outside": lambda x: F.scan(
        lambda s, y: (s + F.ones((x.shape[0],)).sum() * y.sum(), y[y > 0].sum() * x.shape[0]),
        x.sum(),
        x,
    ),
    "a constant repeated": lambda x: F.scan(
        lambda s, y: (s + (y[y > 0] * F.broadcast_to(x.sum(), y[y > 0].shape)).sum(), s),
        x.mean(),
        x,
    ),
    "dropout": lambda x: F.scan(_dropped, x.sum(), x),
    "while": lambda x: _while(x[0] if x.shape[0] else x.sum(0)),
    "while, bounded": lambda x: _while(x.sum(0), 5),
    "a branch": lambda x: _branch(x.sum(0)),
    "behind another": lambda x: F.scan(_few, F.scan(_sized, x.sum(), x)[0], x[x[:, 0] > -0.5]),
}


def rows(count, seed):
    values = np.random.RandomState(seed).randn(count, 6).astype(np.float32)
    return tessera.Tensor(values if seed % 5 else -abs(values))  # without any, sometimes


def _gradient(function, x):
    gm = GradManager().attach([x])
    with gm:
        results = function(x)
        results = results if isinstance(results, tuple) else (results,)
        gm.backward(sum(F.sum(y * y) for y in results))
    grad, x.grad = x.grad, None
    return *results, grad


def _assert_like_eager(function, counts=(4, 4, 4, 7, 7, 1, 4)):
    traced = jit.trace(function)
    for seed, count in enumerate(counts):
        results = []
        for call in (function, traced):
            tessera.random.seed(seed)
            results.append(call(rows(count, seed)))
        assert same_bits(*results)
    return traced


@pytest.mark.parametrize("what", LOOPS)
def test_a_trace_has_one_program_for_all_data(what):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = _assert_like_eager(LOOPS[what])
    assert programs(traced) <= 3  # the first size, a free one, one row


@pytest.mark.parametrize("what", LOOPS)
def test_gradients(what):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _assert_like_eager(lambda x: _gradient(LOOPS[what], x))


@pytest.mark.parametrize("what", ["a scan", "sizes", "loops in loops", "while, bounded"])
def test_gradients_of_gradients(what):
    """What a trip makes again has two gradients, whose sum is that of one rounded apart."""

    def twice(x):
        return _gradient(lambda x: _gradient(LOOPS[what], x)[-1], x)

    traced = jit.trace(twice)
    for seed in range(3):
        (first, second), (own, again) = twice(rows(3, seed)), traced(rows(3, seed))
        assert same_bits(first, own)
        np.testing.assert_allclose(again.numpy(), second.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("what", [each for each in LOOPS if each != "dropout"])
def test_a_file_serves_all_data(what, tmp_path):
    traced = jit.trace(LOOPS[what], capture_as_const=True)
    traced(rows(4, 1))
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 2, 64)}})
    program = jit.load(tmp_path / "p")
    for seed, count in enumerate((4, 7, 2, 64)):
        assert same_bits(program(rows(count, seed)), LOOPS[what](rows(count, seed)))


def _zero(seed):
    return rows(300, seed)[0, 0] * 0


@pytest.mark.parametrize("what", [each for each in LOOPS if each != "dropout"])
def test_the_emulated_accelerator_gives_the_bits(what):
    expected = [_gradient(LOOPS[what], rows(4, seed)) for seed in range(3)]
    with default_device("sim0"):
        traced = jit.trace(lambda x: _gradient(LOOPS[what], x))
        for seed in range(3):
            results = traced(rows(4, seed))
            assert same_bits(results, expected[seed]) and results[0].device == "sim0"


def test_trips_are_not_written_down_one_by_one():
    traced = jit.trace(lambda x: F.scan(_few, x[0, 0] * 0, x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(3):
            assert same_bits(traced(rows(300, seed)), F.scan(_few, _zero(seed), rows(300, seed)))
    assert programs(traced) == 1


def test_no_trips():
    function, traced = LOOPS["a scan"], jit.trace(LOOPS["a scan"])
    for _ in range(3):
        assert same_bits(traced(F.zeros((0, 6))), function(F.zeros((0, 6))))


def _looks(state, x):
    return (state + 1 if x[x > 0].shape[0] > 3 else state), x


LOOKING = {
    "scan": lambda x: F.scan(_looks, x.sum(), x),
    "while_loop": lambda x: F.while_loop(lambda s: s < 9, lambda s: _looks(s, x)[0] + 2, x.mean()),
    "cond": lambda x: F.cond(x.sum() > 0, lambda: x * len(x[x > 0]), lambda: x),
    "a branch of some size": lambda x: F.cond(x.sum() > 0, lambda: x[x > 0], lambda: x[x < 0]),
}


@pytest.mark.parametrize("what", LOOKING)
def test_what_looks_at_a_size_runs_eagerly(what, tmp_path):
    traced = jit.trace(LOOKING[what], capture_as_const=True)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because it looks at a size"):
        for seed in range(1, 4):
            assert same_bits(traced(rows(4, seed)), LOOKING[what](rows(4, seed)))
    with pytest.raises(ValueError, match="must be a program, got one that runs eagerly"):
        traced.dump(tmp_path / "p")


@pytest.mark.parametrize("what", ["scan", "while_loop", "cond"])
def test_an_interrupt_of_what_looks_at_a_size_ends_the_call(what):
    """It is not taken for a reason to run trip by trip."""
    calls = []

    def interrupted(x):
        calls.append(len(x[x > 0]))
        raise KeyboardInterrupt

    loops = {
        "scan": lambda x: F.scan(lambda _, row: interrupted(row), x.sum(), x),
        "while_loop": lambda x: F.while_loop(lambda x: x.sum() > -99, interrupted, x),
        "cond": lambda x: F.cond(x.sum() > -99, lambda: interrupted(x), lambda: x),
    }
    with pytest.raises(KeyboardInterrupt):
        jit.trace(loops[what])(rows(4, 1))
    assert len(calls) == 1


def test_trips_must_stack_the_same_shape():
    def step(state, x):
        return state, x[x > 0]

    alike, other = tessera.Tensor([[1.0, -2], [-3, 4]]), tessera.Tensor([[1.0, 2], [-3, 4]])
    traced = jit.trace(lambda x: F.scan(step, x.sum(), x)[1])
    for call in (traced, lambda x: F.scan(step, x.sum(), x)[1]):
        assert call(alike).tolist() == [[1.0], [4.0]]
        with pytest.raises(ValueError, match="stack: inputs must|scan: step must return each y"):
            call(other)
        assert call(alike).tolist() == [[1.0], [4.0]]


def test_a_size_from_around_a_loop_may_be_a_number_within_it():
    """Around it an expression, since the mask makes the axis one; a generator of its own takes it
    for the count of its numbers."""
    mask = np.arange(6) == 2

    def run(x):
        scaled = F.relu(x) + 0.5
        x[mask] = 0.25
        (size,) = scaled.shape
        first = F.full((), 0, dtype="int64")
        count = F.while_loop(
            lambda n, c: n < 3, lambda n, c: (n + 1, c + size), F.full((), 0.0), first
        )
        return count[1], tessera.random.gamma(scaled, 1.0)

    call = jit.trace(run)
    for _ in range(3):
        rows = []
        for each in (call, run):
            tessera.seed(4)
            rows.append(each(tessera.tensor(np.arange(6, dtype="float32"))))
        assert all(same_bits(a, b) for a, b in zip(*rows, strict=True))
        assert rows[0][0].item() == 18
