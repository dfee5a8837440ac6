"""Gradients of what a loop reads: zeros where no trip depends on it, equal bits in every mode."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera import autodiff
from tessera.autodiff import GradManager
from tessera.jit import trace

ROWS = {
    "one": np.ones((1, 3)),
    "two": np.array([[-1.0, 2, 3], [-4, -5, 6]]),
    "zeros": np.array([[0.0, -0.0, 1], [-0.0, 0.0, -2], [3, 0.0, -0.0]]),
}


def before(w, x):
    """The carried values before each row: of one row that is the start."""
    return F.scan(lambda h, row: (F.tanh(h * w + row), h), F.zeros((3,)), x)[1]


def halved(w, x):
    """A branch that half of the trips take."""

    def step(h, row):
        return F.cond(F.sum(row) > 0, lambda: h + row, lambda: h * 0.5), h * w

    return F.scan(step, F.zeros((3,)), x)[0]


def unread_rows(w, x):
    return F.scan(lambda h, row: (h * w, h), F.ones((3,)), x)[0]


def unread_start(w, x):
    return F.scan(lambda h, row: (row * w, row), w * 2.0, x)[1]


def negative_zeros(w, x):
    return F.scan(lambda h, row: (h + row * (w * -0.0), h), w * 0.0, x)[0]


def read_outside(w, x):
    h, y = F.scan(lambda h, row: (h * w + row, row), w, x)
    return h * w + F.sum(y * w)


def until(w, x):
    return F.while_loop(lambda h: F.sum(h) < 20.0, lambda h: h + h * w + x[0], w + 1.0)


def never(w, x):
    return F.while_loop(lambda h: F.sum(h) > 1e6, lambda h: h * w + x[0], w * 2.0, max_trips=3)


def chosen(w, x):
    return F.cond(F.sum(x) > -100.0, lambda: F.sum(x, axis=0) * 2.0, lambda: w * F.sum(x, axis=0))


def within(w, x):
    def step(h, row):
        inner, _ = F.scan(lambda g, e: (g * w + e, None), h, F.reshape(row, (3, 1)) * F.ones((3,)))
        return inner * 0.5, h

    return F.scan(step, F.zeros((3,)), x)[1]


def again(w, x):
    step = autodiff.checkpoint(lambda h, row: F.tanh(h * w + row))
    return F.scan(lambda h, row: (step(h, row), h), F.zeros((3,)), x)[1]


LOOPS = (
    before,
    halved,
    unread_rows,
    unread_start,
    negative_zeros,
    read_outside,
    until,
    within,
    again,
)


def gradients(function, w, x):
    gm = GradManager().attach([w, x])
    with gm:
        y = function(w, x)
        gm.backward(F.sum(y * F.cos(y)))
    found = [w.grad, x.grad]
    w.grad = x.grad = None
    return [None if each is None else each.numpy().tobytes() for each in found]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_every_mode_has_the_same_bits(loop, rows):
    w, x = ts.Parameter([0.5, -0.25, 0.0]), ts.tensor(ROWS[rows].astype("float32"))
    expected = gradients(loop, w, x)
    assert None not in expected
    traced, step = trace(loop), trace(lambda w, x: gradients_of(loop, w, x))
    for _ in range(3):
        assert gradients(traced, w, x) == expected
        assert [each.numpy().tobytes() for each in step(w, x)] == expected


def gradients_of(loop, w, x):
    """A step whose gradients are taken in the trace."""
    gm = GradManager().attach([w, x])
    with gm:
        y = loop(w, x)
        gm.backward(F.sum(y * F.cos(y)))
    found = w.grad, x.grad
    w.grad = x.grad = None
    return found


def test_untouched_gradients_are_zeros():
    w, x = ts.Parameter([0.5, -0.25, 0.0]), ts.tensor(ROWS["one"].astype("float32"))
    assert gradients(before, w, x) == [
        np.zeros(3, "float32").tobytes(),
        np.zeros((1, 3), "float32").tobytes(),
    ]
    assert not np.signbit(np.frombuffer(gradients(unread_rows, w, x)[1], "float32")).any()


@pytest.mark.parametrize("loop", [never, chosen], ids=lambda loop: loop.__name__)
def test_what_no_trip_reads_has_zeros_in_a_trace_alone(loop):
    """A program has both branches, Python's loop the one that is taken."""
    w, x = ts.Parameter([0.5, -0.25, 0.0]), ts.tensor(ROWS["two"].astype("float32"))
    eager, traced = gradients(loop, w, x), gradients(trace(loop), w, x)
    zeros = [np.zeros(3, "float32").tobytes(), np.zeros((2, 3), "float32").tobytes()]
    for own, other, none in zip(eager, traced, zeros, strict=True):
        assert own == other or (own is None and other == none)


def test_second_gradients():
    w, x = ts.Parameter([0.5, -0.25, 0.75]), ts.tensor(ROWS["two"].astype("float32"))

    def first(w, x):
        return autodiff.grad(lambda w: F.sum(before(w, x) ** 3))(w)

    expected = gradients(first, w, x)
    assert gradients(trace(first), w, x) == expected
