"""Quantized and low-bit tensors where channels stay aside, and in loops, in every mode."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, jit
from tessera.autodiff import GradManager

from tests.frontends.python.dtype.quantized import ALL, CHANNELS, KINDS, LOW_BIT, numbers, same
from tests.support.helper import flat, loaded

EVERY = {**ALL, **LOW_BIT}


def in_every_mode(function, *arguments):
    """The results, eager; those of a trace and of a file are the same."""
    eager = flat(function(*arguments))
    traced = jit.trace(lambda *args: tuple(flat(function(*args))), capture_as_const=True)
    program = [traced(*arguments), traced(*arguments), loaded(traced, len(arguments))(*arguments)]
    for results in program:
        for got, want in zip(flat(results), eager, strict=True):
            same(got, want)
    return eager


# Moves along other axes than that of the channels: (of a tensor of 2 x 3 x 4, axis afterwards).
INDEX = np.array([[[0, 1, 1, 0]] * 3])
MOVES = {
    "flip": (lambda x: x[::-1, :, ::-1], 1),
    "roll": (lambda x: F.roll(x, 1, 0), 1),
    "roll behind": (lambda x: F.roll(x, -3, -1), 1),
    "stack before": (lambda x: F.stack([x, x], 1), 2),
    "stack behind": (lambda x: F.stack([x, x[::-1]], -1), 1),
    "split": (lambda x: F.split(x, [1, 3], 2), 1),
    "split before": (lambda x: F.split(x, 2, 0), 1),
    "concat": (lambda x: F.concat([x, x[:1]], 0), 1),
    "repeat": (lambda x: F.repeat(x, 3, 2), 1),
    "tile": (lambda x: F.tile(x, (2, 1, 2)), 1),
    "gather": (lambda x: F.gather(x, 0, tessera.tensor(INDEX)), 1),
    "scatter": (lambda x: F.scatter(x, 0, tessera.tensor(INDEX), x[:1]), 1),
    "index": (lambda x: x[np.array([1, 0, 1, -1])], 1),
    "index by two axes": (lambda x: x[np.array([[1], [0]])], 2),
    "index behind": (lambda x: x[:, :, np.array([3, 3])], 1),
    "index around": (lambda x: x[np.array([1, 0]), :, np.array([3, 3])], 1),
    "index set": (lambda x: _written(x, np.array([1, 0]), x[:1]), 1),
    "slice set": (lambda x: _written(x, slice(1, 2), x[:1]), 1),
    "mask": (lambda x: x[tessera.tensor([True, False])], 1),
    "one hot": (lambda x: F.indexing_one_hot(x, F.ones((3, 4), dtype="int32"), 0), 0),
    "one hot behind": (lambda x: F.indexing_one_hot(x, F.ones((2, 3), dtype="int32"), 2), 1),
    "where": (lambda x: F.where(x.astype("bool"), x, x[::-1]), 1),
    "scan": (lambda x: F.scan(lambda h, y: (y, h), x[0], x)[1], 1),
    "scan reversed": (lambda x: F.scan(lambda h, y: (y, h), x[0], x, reverse=True)[0], 0),
}  # fmt: skip


def _written(x, index, value):
    target = F.copy(x)
    target[index] = value
    return target


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("move", MOVES)
def test_channels_stay_aside(move, name):
    function, axis = MOVES[move]
    q = tessera.tensor(numbers(2, 3, 4), dtype=CHANNELS[name])
    results = in_every_mode(function, q)
    for got, want in zip(results, flat(function(q.astype("float32"))), strict=True):
        assert _core.quantization(got.dtype)[3] == axis
        np.testing.assert_array_equal(got.astype("float32").numpy(), want.numpy())


@pytest.mark.parametrize("name", {**KINDS, **LOW_BIT})
@pytest.mark.parametrize("move", MOVES)
def test_one_scale_moves_anywhere(move, name):
    function, _ = MOVES[move]
    q = tessera.tensor(numbers(2, 3, 4)).astype(EVERY[name])
    results = in_every_mode(function, q)
    for got, want in zip(results, flat(function(q.astype("float32"))), strict=True):
        np.testing.assert_array_equal(got.astype("float32").numpy(), want.numpy())


# Loops.


def carried(q, x):
    """A queue of the last rows, and all of them in the order in which they went in."""
    return F.scan(lambda rows, y: (F.concat([rows[1:], y[None]], 0), (rows[0], y)), q, x)


def chosen(q, x):
    """The rows of x where the first number of q is above 0."""
    first = q.astype("float32").reshape(-1)[0]
    return F.cond(first > 0, lambda: (q, x[: q.shape[0]]), lambda: (x[: q.shape[0]], q))


def turned(q, x):
    """q rolled as often as a count says."""
    count = F.full((), 0) + (x.astype("float32").sum() > 0).astype("int32") + 1
    return F.while_loop(
        lambda n, rows: n < 3, lambda n, rows: (n + 1, F.roll(rows, 1, 0)), count, q
    )


@pytest.mark.parametrize("function", [carried, chosen, turned])
@pytest.mark.parametrize("name", EVERY)
def test_loops_carry_them(name, function):
    q = tessera.tensor(numbers(2, 3)).astype(EVERY[name])
    x = tessera.tensor(numbers(4, 3, seed=1)).astype(EVERY[name])
    for first, second in ((q, x), (x[:2], x), (tessera.tensor(-numbers(2, 3)).astype(q.dtype), x)):
        results = in_every_mode(function, first, second)
        wide = flat(function(first.astype("float32"), second.astype("float32")))
        for got, want in zip(results, wide, strict=True):
            np.testing.assert_array_equal(got.astype("float32").numpy(), want.numpy())


@pytest.mark.parametrize("name", EVERY)
def test_a_gradient_goes_past_them(name):
    xs = tessera.tensor(numbers(4, 3) / 8).astype(EVERY[name])
    w = tessera.Parameter(np.ones(3, np.float32))

    def _step(carried, x):
        return (carried[0] * 0.5 + x.astype("float32") * w, x), carried

    def _gradient(w, xs):
        w.grad = None
        with GradManager().attach([w]) as manager:
            (last, row), (states, rows) = F.scan(_step, (w * 1, xs[1]), xs)
            manager.backward((last * last).sum() + states.sum())
        return w.grad, row, rows

    eager, traced = _gradient(w, xs), jit.trace(_gradient)
    for _ in range(2):
        for got, want in zip(traced(w, xs), eager, strict=True):
            same(got, want)


@pytest.mark.parametrize("name", EVERY)
def test_no_trips_stack_nothing(name):
    q = tessera.tensor(numbers(2, 3)).astype(EVERY[name])
    last, rows = in_every_mode(lambda q: F.scan(lambda h, y: (h, h), q, F.zeros((0, 1))), q)
    same(last, q)
    assert rows.shape == (0, 2, 3) and str(rows._dtype_key)[:5] == str(q._dtype_key)[:5]


def test_a_step_keeps_the_scale():
    q = tessera.tensor(numbers(2, 3), dtype=KINDS["qint8"])
    other = tessera.tensor(numbers(2, 3), dtype=KINDS["quint8"])
    for call in (lambda: F.scan(lambda h, _: (other, h), q, None, 2),
                 lambda: F.while_loop(lambda h: True, lambda h: other, q)):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match="carried value|bool tensor"):
            call()
