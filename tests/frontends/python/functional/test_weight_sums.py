"""Gradients of weights that every step of a scan multiplies by: the bits of Python's loop."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, flat, numeric_gradient, same_bits
from tests.support.networks import tensor

BATCH, SIZE = 3, 16


def taken(values):
    grads = [value.grad for value in values]
    for value in values:
        value.grad = None
    return grads


def gradients(loop, *values):
    """Results of a loop, and gradients of the sum of their squares."""
    gm = GradManager().attach(values)
    with gm:
        results = flat(loop(*values))
        gm.backward(sum((each * each).sum() for each in results))
    return [*results, *taken(values)]


def once(h, x, w, _):
    return F.tanh(F.matmul(h, w) + x)


def transposed(h, x, w, b):
    return F.tanh(F.linear(h, w, b) * x)


def of_elements(h, x, w, _):
    """Both factors are elements of xs."""
    return h * 0.5 + F.matmul(x, w)


def twice(h, x, w, _):
    """Products of a trip that add to one sum round between each other."""
    return F.tanh(F.matmul(F.tanh(F.matmul(h, w)), w) + x)


def both_ways(h, x, w, _):
    return F.tanh(F.matmul(h, w) + F.matmul(x, w.T))


def vector(h, x, w, _):
    """A row without an axis for the batch."""
    return F.tanh(F.matmul(h[0], w) + x[0]) + h * 0.1


STEPS = (once, transposed, of_elements, twice, both_ways, vector)


def looped(step, trips, reverse=False, uses_outside=False):
    def loop(w, b, h, xs):
        h, ys = F.scan(lambda h, x: (step(h, x, w, b), h), h, xs[:trips], reverse=reverse)
        return (F.matmul(h, w), ys) if uses_outside else (h, ys)

    return loop


def data(dtype="float32", batch=BATCH, trips=7):
    shapes = (SIZE, SIZE), (SIZE,), (batch, SIZE), (trips, batch, SIZE)
    scaled = [tensor(*shape, seed=i).numpy() * 0.3 for i, shape in enumerate(shapes)]
    return [tessera.Tensor(each, dtype=dtype) for each in scaled]


def check(loop, *values):
    expected = gradients(loop, *values)
    call = jit.trace(lambda *values: gradients(loop, *values))
    for _ in range(3):
        assert same_bits(call(*values), expected)
    of_call = jit.trace(loop)
    for _ in range(2):
        assert same_bits(gradients(of_call, *values), expected)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("reverse", [False, True])
def test_every_mode_has_the_same_bits(step, reverse):
    check(looped(step, 7, reverse), *data())


@pytest.mark.parametrize("trips", [1, 2])
@pytest.mark.parametrize("step", [once, of_elements], ids=lambda step: step.__name__)
def test_few_trips(step, trips):
    check(looped(step, trips), *data())


def test_no_trip():
    values = data()
    loop = looped(once, 0)
    *_, grad, _, _, _ = jit.trace(lambda *values: gradients(loop, *values))(*values)
    assert not grad.numpy().any() and not np.signbit(grad.numpy()).any()


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_dtypes(dtype):
    check(looped(once, 7), *data(dtype))


@pytest.mark.parametrize("reverse", [False, True])
def test_weights_read_outside(reverse):
    check(looped(once, 7, reverse, uses_outside=True), *data())


@pytest.mark.parametrize("batch", [1, 8, 9, 300])
def test_rows(batch):
    """A product of so many rows goes behind the loop, or stays in it."""
    check(looped(once, 4), *data(batch=batch, trips=4))


def test_loop_in_a_loop():
    def loop(w, b, h, xs):
        def outer(h, x):
            k, _ = F.scan(lambda k, _: (once(k, x, w, b), None), h, length=3)
            return k, k

        return F.scan(outer, h, xs)

    check(loop, *data())


@pytest.mark.parametrize("step", [once, of_elements], ids=lambda step: step.__name__)
def test_second_order(step):
    loop = looped(step, 5)

    def run(*values):
        outer, inner = GradManager().attach(values), GradManager().attach(values)
        with outer:
            with inner:
                h, ys = loop(*values)
                inner.backward((h * h).sum() + ys.sum())
            first = taken(values)
            outer.backward(sum((each * each).sum() for each in first if each is not None))
        return [each for each in (*first, *taken(values)) if each is not None]

    values = data()
    expected = run(*values)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(*values), expected)


def test_is_the_derivative():
    arrays = [each.numpy() for each in data("float64")]
    loop = looped(transposed, 7)

    def loss(*arrays):
        results = flat(loop(*(tessera.Tensor(each, dtype="float64") for each in arrays)))
        return sum((each * each).sum() for each in results).item()

    values = [tessera.Tensor(each, dtype="float64") for each in arrays]
    found = jit.trace(lambda *values: gradients(loop, *values))(*values)[2]
    assert_close(found, numeric_gradient(loss, arrays, 0), rtol=1e-6, atol=1e-6)
