"""F.scan: the bits of Python's loop, eager, traced, loaded, forwards and backwards."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import bits, default_device, flat, same_bits
from tests.support.networks import tensor

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6


def total(h, x):
    return h + x, h * x


def cell(seed=0):
    tessera.seed(seed)
    net = M.LSTMCell(INPUT, HIDDEN)

    def step(carried, x):
        carried = net(x, carried)
        return carried, carried[0]

    return net, step


def start():
    return tensor(BATCH, HIDDEN, seed=8), tensor(BATCH, HIDDEN, seed=9)


def by_python(step, carried, xs):
    """The loop that a user would write."""
    ys = []
    for x in xs:
        carried, y = step(carried, x)
        ys.append(y)
    return carried, F.stack(ys)


def test_lstm_forwards():
    _, step = cell()
    xs = tensor(STEPS, BATCH, INPUT, seed=1)
    expected = flat(by_python(step, start(), list(xs)))
    assert same_bits(flat(F.scan(step, start(), xs)), expected)
    traced = jit.trace(lambda h, c, xs: F.scan(step, (h, c), xs))
    for _ in range(3):
        assert same_bits(flat(traced(*start(), xs)), expected)


def gradients(net, loop, xs, weight):
    """The results and every gradient of a loss over them."""
    gm = GradManager().attach([*net.parameters(), xs])
    with gm:
        carried, ys = loop(xs)
        loss = (ys * weight).sum() + (carried[0] * carried[1]).sum()
        gm.backward(loss)
    grads = [each.grad for each in (*net.parameters(), xs)]
    for each in (*net.parameters(), xs):
        each.grad = None
    return [*flat((carried, ys)), *grads]


def test_lstm_backwards():
    net, step = cell()
    xs, weight = tensor(STEPS, BATCH, INPUT, seed=1), tensor(STEPS, BATCH, HIDDEN, seed=2)
    leaves = tessera.Tensor(xs.numpy())
    expected = gradients(
        net, lambda x: by_python(step, start(), [x[i] for i in range(STEPS)]), leaves, weight
    )
    got = gradients(net, lambda x: F.scan(step, start(), x), xs, weight)
    assert same_bits(got[:-1], expected[:-1])
    np.testing.assert_array_equal(got[-1].numpy(), expected[-1].numpy())  # -0.0 apart
    call = jit.trace(lambda x, w: gradients(net, lambda x: F.scan(step, start(), x), x, w))
    for _ in range(3):
        assert same_bits(call(xs, weight), got)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradient_is_that_of_the_loop(dtype, reverse):
    """Weights read outside too, several readers of one value, a result without gradient."""

    def run(w, h, xs):
        gm = GradManager().attach([w, h, xs])
        with gm:

            def step(carried, x):
                a, b = carried
                a = F.tanh(a * w + x * b)
                return (a, b * a + a), (a * w, a)

            (a, b), (y, z) = F.scan(step, (h * w, h), xs, reverse=reverse)
            loss = (y * y).sum() + (b * w).sum()
            gm.backward(loss)
        grads = [each.grad for each in (w, h, xs)]
        for each in (w, h, xs):
            each.grad = None
        return [a, b, y, z, *grads]

    data = [
        tessera.Tensor(tensor(*s, seed=i).numpy(), dtype=dtype)
        for i, s in enumerate([(4,), (4,), (3, 4)])
    ]
    expected = run(*data)
    call = jit.trace(run)
    for _ in range(3):
        assert same_bits(call(*data), expected)


def test_second_order():
    def run(w, xs):
        outer, inner = GradManager().attach([w]), GradManager().attach([w])
        with outer:
            with inner:
                carried, ys = F.scan(lambda h, x: (F.sin(h * w + x), h * w), w, xs)
                inner.backward((carried * carried).sum() + ys.sum())
            grad, w.grad = w.grad, None
            outer.backward((grad * grad).sum())
        second, w.grad = w.grad, None
        return [grad, second]

    data = tensor(3, seed=1), tensor(4, 3, seed=2)
    expected = run(*data)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(*data), expected)


def test_what_a_step_changes_is_carried():
    """A running statistic, and random numbers."""

    def make():
        tessera.seed(3)
        count, norm = tessera.Tensor(np.zeros((), "int32")), M.BatchNorm1d(4).train()

        def step(h, x):
            count._reset(count + 1)
            h = F.dropout(norm(h + x), 0.5)
            return h, h * count

        return step, [count, norm.running_mean, norm.running_var]

    h, xs = tensor(5, 4, seed=1), tensor(3, 5, 4, seed=2)
    step, state = make()
    expected = [flat(F.scan(step, h, xs)) + [each.detach() for each in state] for _ in range(3)]
    step, state = make()
    call = jit.trace(lambda h, xs: F.scan(step, h, xs))
    for each in expected:
        assert same_bits(flat(call(h, xs)) + state, each)


def test_loops_in_loops():
    def run(h, xs):
        def outer(h, x):
            k, ys = F.scan(lambda k, y: (k * 0.5 + y, k + h), h, x)
            return k, (ys, F.scan(lambda k, _: (k * k, k), k, length=2)[0])

        return flat(F.scan(outer, h, xs))

    h, xs = tensor(3, seed=1), tensor(4, 2, 3, seed=2)
    expected = run(h, xs)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(h, xs), expected)


@pytest.mark.parametrize("trips", [0, 1, 7])
def test_trips(trips):
    h, xs = tensor(3, seed=1), tensor(trips, 3, seed=2)
    for reverse in (False, True):

        def run(h, xs, reverse=reverse):
            return flat(F.scan(total, h, xs, reverse=reverse))

        expected = run(h, xs)
        assert expected[1].shape == (trips, 3)
        call = jit.trace(run)
        for _ in range(2):
            assert same_bits(call(h, xs), expected)


def test_what_comes_out_as_it_went_in():
    """Arguments, constants, views and one value twice."""

    def run(a, b, xs):
        def step(carried, x):
            a, b, c = carried
            return (b, a, c), (x, b, F.reshape(xs[0], (3, 1)), c, x)

        return flat(F.scan(step, (a, b, a + b), xs))

    data = tensor(3, seed=1), tensor(3, seed=2), tensor(5, 3, seed=3)
    expected = run(*data)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(*data), expected)


def test_dumped_and_loaded(tmp_path):
    net, step = cell()

    def run(h, c, xs):
        return flat(F.scan(step, (h, c), xs, reverse=True))

    xs = tensor(STEPS, BATCH, INPUT, seed=1)
    call = jit.trace(run, capture_as_const=True)
    expected = call(*start(), xs)
    path = str(tmp_path / "scan.tess")
    call.dump(path, arg_names=["h", "c", "xs"], dims={"xs": {0: jit.Dim("steps", min=0)}})
    for options in ({}, {"allow_code": True}):
        program = jit.load(path, **options)
        assert same_bits(program(*start(), xs), expected)
        longer = tensor(STEPS * 2, BATCH, INPUT, seed=4)
        assert same_bits(program(*start(), longer), run(*start(), longer))


def test_memory_is_that_of_a_trip():
    """A longer loop takes no more, but for its arguments and results."""

    def run(h, xs):
        return F.scan(lambda h, x: (F.tanh(F.matmul(h, F.exp(x))), None), h, xs)[0]

    peaks = [
        jit.estimate(run, jit.Spec((64, 64)), jit.Spec((trips, 64, 64))).arena for trips in (2, 50)
    ]
    assert peaks[0] == peaks[1] > 0


# Values that the gradient of a trip reads: four gates, the tanh of c, and h and c before it; and
# the gradients of the sums in the gates, of which those of the weights are made.
SAVED = {"forwards": 0, "backwards": 11}


@pytest.mark.parametrize("device", ["cpu0", "sim0"])
@pytest.mark.parametrize("what", SAVED)
def test_memory_is_that_of_a_trip_and_what_is_saved(what, device):
    """The results that `step` stacks for nobody take none."""
    size, batch = 64, 32
    with default_device(device):
        net, h = M.LSTMCell(size, size), F.zeros((batch, size))
        gm = GradManager().attach(net.parameters())

    def step(carried, x):
        carried = net(x, carried)
        return carried, carried[0]

    def run(xs):
        with gm:
            (last, cell), _ = F.scan(step, (h, h * 1), xs)
            if what == "backwards":
                gm.backward((last * cell).sum())
        return last * cell

    def arena(trips):
        with default_device(device):
            return jit.estimate(run, jit.Spec((trips, batch, size))).arena

    assert arena(50) - arena(10) == 40 * SAVED[what] * batch * size * 4


def test_cache_is_written_in_place():
    """A key/value cache is not copied for each token."""

    def run(cache, at, xs):
        def step(carried, x):
            cache, at = carried
            cache[at] = x
            return (cache, at + 1), cache[0]

        return flat(F.scan(step, (cache, at), xs))

    data = tensor(100, 64, seed=1), tessera.Tensor(np.int32(3)), tensor(5, 64, seed=2)
    expected, before = run(*data), bits(data)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(*data), expected)
    assert bits(data) == before
    assert jit.estimate(run, *data).arena < 64 * 4 * 4  # nothing of the size of the cache


BAD = [
    (lambda h, x: (h[:1], x), "step must return each carried value with the dtype and shape"),
    (lambda h, x: ((h, h), x), "step must return carried values in the containers"),
    (lambda h, x: h, "step must return carried values and y, got Tensor"),
    (lambda h, x: (h, 3), "y must be made of tensors, got 3"),
]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("step", "message"), BAD)
def test_refuses_steps(step, message, traced):
    def run(h, xs):
        return F.scan(step, h, xs)

    call = jit.trace(run) if traced else run
    with pytest.raises((ValueError, TypeError), match=f"scan: {message}"):
        call(tensor(3), tensor(2, 3))
    good = jit.trace(lambda h, xs: F.scan(total, h, xs)) if traced else lambda *a: F.scan(total, *a)
    assert same_bits(
        flat(good(tensor(3), tensor(2, 3))), flat(F.scan(total, tensor(3), tensor(2, 3)))
    )


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("xs", "length", "message"),
    [
        ((tensor(2, 3), tensor(4, 3)), None, "xs must have one size of axis 0, got f32"),
        (tensor(2, 3), 5, "length must be the size of axis 0 of all xs, got 5"),
        (None, None, "length must be given where there are no xs, got none"),
        (None, -1, "length must be at least 0, got -1"),
        (tessera.Tensor(1.0), None, "xs must have an axis for the trips, got f32"),
        (3, None, "xs must be made of tensors, got 3"),
    ],
)
def test_refuses_trips(xs, length, message, traced):
    def run(h):
        return F.scan(lambda h, _: (h, None), h, xs, length)

    call = jit.trace(run) if traced else run
    with pytest.raises((ValueError, TypeError), match=f"scan: {message}"):
        call(tensor(3))


def test_an_error_of_the_step_is_the_users():
    def step(h, x):
        raise KeyError("mine")

    for call in (F.scan, jit.trace(lambda step, h, xs: F.scan(step, h, xs))):
        with pytest.raises(KeyError, match="mine"):
            call(step, tensor(3), tensor(2, 3))


def test_bits_do_not_depend_on_fusion():
    def run(h, xs):
        return flat(F.scan(lambda h, x: (F.softmax(h * x + 1, -1), h.sum()), h, xs))

    data = tensor(2, 3, seed=1), tensor(4, 2, 3, seed=2)
    assert bits(jit.trace(run, without_fusion=True)(*data)) == bits(run(*data))


def test_python_steps_share_their_kernels():
    """A loop that is no scan has more operators, not more kernels."""
    counters = ("kernels_compiled", "kernels_from_memory", "kernels_from_disk")

    def kernels(steps):
        _, step = cell()
        xs = tensor(steps, BATCH, INPUT, seed=1)
        call = jit.trace(lambda xs: by_python(step, start(), [xs[i] for i in range(steps)])[1])
        call(xs)
        before = tessera.cache_stats()
        call(xs)
        after = tessera.cache_stats()
        return sum(after[name] - before[name] for name in counters)

    assert kernels(60) <= kernels(3) + 5
