"""Gradients through F.while_loop without max_trips: what trips save grows while the loop runs."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit
from tessera.autodiff import GradManager
from tessera.jit import Spec

from tests.support.helper import as_list, assert_close, bits, default_device, flat, same_bits
from tests.support.networks import tensor

TESS_RUN = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
LIMITS = (0.0, 3.0, 40.0, 1e12, 5.0, 1e4)  # of no trip, some, and more than the first memory holds


def taken(values):
    """The gradients of the values, which have none from now on."""
    grads = [value.grad for value in values]
    for value in values:
        value.grad = None
    return grads


def gradients(values, function):
    """The results of `function(*values)`, and the gradients of the sum of their squares."""
    gm = GradManager().attach(values)
    with gm:
        results = flat(function(*values))
        gm.backward(sum((each * each).sum() for each in results))
    return [*results, *taken(values)]


def growth(x, w, limit):
    return F.while_loop(
        lambda y, _: F.abs(y).sum() < limit,
        lambda y, z: (F.tanh(y * w) + y * 1.5, z + y * w),
        x,
        w * 0.5,
    )


def gradients_of_growth(x, w, limit):
    return gradients([x, w], lambda x, w: growth(x, w, limit))


def data(seed=1):
    return tensor(4, seed=seed), tensor(4, seed=seed + 1)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_as_many_trips_as_there_were(place, symbolic):
    with default_device(place):
        call = jit.trace(gradients_of_growth, symbolic=symbolic)
        for limit in LIMITS:
            args = *data(), tessera.tensor(limit)
            assert same_bits(call(*args), gradients_of_growth(*args))


def test_is_the_loop_with_max_trips():
    def run(x, w, limit, max_trips):
        loop = lambda x: F.while_loop(  # noqa: E731
            lambda y: F.abs(y).sum() < limit,
            lambda y: F.tanh(y * w) + y * 1.5,
            x,
            max_trips=max_trips,
        )
        return gradients([x], loop)

    args = *data(), tessera.tensor(1e6)
    expected = jit.trace(lambda *args: run(*args, 99))(*args)
    assert same_bits(jit.trace(lambda *args: run(*args, None))(*args), expected)


def test_of_a_traced_call():
    """What grew goes from the program to that of its gradient."""
    call, (x, w) = jit.trace(growth), data()
    for limit in map(tessera.tensor, LIMITS):
        expected = gradients([x, w], lambda x, w, at=limit: growth(x, w, at))
        assert same_bits(gradients([x, w], lambda x, w, at=limit: call(x, w, at)), expected)


def second_order(values, function):
    """As gradients(), and the gradients of the sum of the squares of the gradients."""
    outer, inner = GradManager().attach(values), GradManager().attach(values)
    with outer:
        with inner:
            results = flat(function(*values))
            inner.backward(sum((each * each).sum() for each in results))
        first = taken(values)
        outer.backward(sum((each * each).sum() for each in first))
    return [*results, *first, *taken(values)]


@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_second_order(place):
    def run(x, w, limit):
        return second_order([x, w], lambda x, w: growth(x, w, limit)[0] * 0.01)

    with default_device(place):
        call = jit.trace(run)
        for limit in LIMITS:
            args = *data(), tessera.tensor(limit)
            assert same_bits(call(*args), run(*args))


def halve(v, w):
    return F.while_loop(lambda v: F.abs(v).max() > 0.25, lambda v: v * 0.5 + F.tanh(v * w) * 0.1, v)


def while_in_scan(x, w):
    return F.scan(lambda h, y: (halve(h + y, w), h), x, F.stack([x * k for k in (1, 7, 0, 50, 3)]))


def while_in_cond(x, w):
    step = lambda h, y: (F.cond(y.sum() > 0, lambda: halve(h + y, w), lambda: h * y), h)  # noqa: E731
    return F.scan(step, x, F.stack([x * k for k in (1, -7, 9, -1, 50)]))


def scan_in_while(x, w):
    body = lambda h: F.scan(lambda h, k: (h * 1.1 + F.tanh(h * w) * k, None), h, w)[0]  # noqa: E731
    return F.while_loop(lambda h: F.abs(h).sum() < 50, body, x)


def while_in_while(x, w):
    body = lambda n, h: (n + 1, halve(h * 5 + w * n, w))  # noqa: E731
    return F.while_loop(lambda n, _: n < 11, body, F.full((), 0.0), x)[1]


NESTED = [while_in_scan, while_in_cond, scan_in_while, while_in_while]


@pytest.mark.parametrize("function", NESTED)
@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_loops_within_loops(place, function):
    run = lambda x, w: gradients([x, w], function)  # noqa: E731
    with default_device(place):
        call = jit.trace(run)
        for seed in range(3):
            x, w = tensor(3, seed=seed), tensor(3, seed=seed + 9)
            assert same_bits(call(x, w), run(x, w))


@pytest.mark.parametrize("function", NESTED)
@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_second_order_of_loops_within_loops(place, function, monkeypatch):
    """That of loops with max_trips; eager adds in another order there."""
    run = lambda x, w: second_order([x, w], function)  # noqa: E731
    with default_device(place):
        x, w = tensor(3, seed=1), tensor(3, seed=9)
        call = jit.trace(run)
        results = [call(x, w) for _ in range(2)]
        unbounded = F.while_loop
        monkeypatch.setattr(F, "while_loop", lambda *args: unbounded(*args, max_trips=60))
        expected = jit.trace(run)(x, w)
        assert same_bits(results[0], expected) and same_bits(results[1], expected)
        for value, eager in zip(results[1], run(x, w), strict=True):
            assert_close(value, eager.numpy(), rtol=1e-5)


@pytest.mark.parametrize("order", [gradients, second_order])
def test_from_a_file(tmp_path, order):
    """Loaded, from its code, and by tess-run."""

    def run(x, w):
        return tuple(order([x, w], lambda x, w: growth(x, w, 1e6)[0] * 0.01))

    call, args = jit.trace(run, capture_as_const=True), data()
    expected, path = run(*args), str(tmp_path / "p.tess")
    assert same_bits(call(*args), expected)
    call.dump(path, arg_names=["x", "w"])
    for options in ({}, {"allow_code": True}):
        program = jit.load(path, **options)
        assert all(same_bits(as_list(program(*args)), expected) for _ in range(2))
    words, results = [], [tmp_path / f"output{number}.npy" for number in range(len(expected))]
    for name, value in zip("xw", args, strict=True):
        np.save(tmp_path / f"{name}.npy", value.numpy())
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    for each in results:
        words += ["--output", f"{each.stem}={each}"]
    subprocess.run([TESS_RUN, path, *words], check=True, capture_output=True)
    assert bits([np.load(each) for each in results]) == bits(list(expected))


def test_sizes_stay_free(tmp_path):
    def run(x):
        return tuple(gradients([x], lambda x: halve(x, x * 0.5)))

    call = jit.trace(run, capture_as_const=True)
    call(tensor(3, seed=1) * 99)
    call.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: jit.Dim("n", 2, 99)}})
    for size in (2, 3, 50):
        x = tensor(size, seed=size) * 99
        assert same_bits(as_list(jit.load(tmp_path / "p")(x)), list(run(x)))


def test_through_a_part_left_out():
    """What grew goes from one stretch of the function to the next."""

    def run(x, w):
        def loop(x, w):
            y = halve(x * 99, w)
            with jit.exclude_from_trace():
                assert y.numpy().shape == (4,)
            return y * w

        return gradients([x, w], loop)

    call, args = jit.trace(run), data()
    for _ in range(3):
        assert same_bits(call(*args), run(*args))


@pytest.mark.parametrize("order", [gradients, second_order])
@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_beside_sizes_that_data_decides(place, order):
    """The way back belongs to a later stage than the loop."""

    def run(x, w):
        def loop(x, w):
            y = halve(x * 99, w)
            return F.exp(y[y > 0]).sum() * y

        return order([x, w], loop)

    with default_device(place):
        call = jit.trace(run)
        for seed in range(3):
            args = data(seed)
            assert same_bits(call(*args), run(*args))


def test_random_numbers_are_those_of_the_trips():
    def run(x):
        tessera.seed(3)
        body = lambda v: F.dropout(v, 0.5) * 0.9  # noqa: E731
        return gradients([x], lambda x: F.while_loop(lambda v: F.abs(v).sum() > 0.1, body, x))

    call, x = jit.trace(run), tensor(64, seed=1)
    for _ in range(3):
        assert same_bits(call(x), run(x))


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), ()])
def test_of_few_elements(shape):
    def run(x):
        body = lambda n, v: (n + 1, F.tanh(v) * v)  # noqa: E731
        start = F.full((), 0, dtype="int32")
        return gradients([x], lambda x: F.while_loop(lambda n, _: n < 20, body, start, x)[1])

    call, x = jit.trace(run), tensor(*shape, seed=1)
    for _ in range(2):
        assert same_bits(call(x), run(x))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("place", ["cpu0", "sim0"])
def test_memory_that_does_not_suffice(place, symbolic):
    """Is an error, after which the program runs and the memory is free."""

    def run(x, trips):
        body = lambda n, v: (n + 1, F.tanh(v) * v)  # noqa: E731
        loop = lambda x: F.while_loop(lambda n, _: n < trips, body, F.full((), 0.0), x)[1]  # noqa: E731
        return gradients([x], loop)

    with default_device(place):
        x, few = tessera.Tensor(np.ones(1 << 16, "float32")), tessera.tensor(3.0)
        call = jit.trace(run, symbolic=symbolic)
        expected = bits(call(x, few))
        tessera.sync()
        held = device.get_allocated_memory()
        device.set_memory_limit(held + (64 << 20))
        try:
            message = (
                r"while_loop: what trips save for a gradient must find memory, got \d+ trips of "
                rf"\d+ bytes \({place[:-1]}.*: memory must stay within"
            )
            for function in (call, call, jit.trace(run)):
                with pytest.raises(MemoryError, match=message):
                    function(x, tessera.tensor(1e9))
            assert bits(call(x, few)) == expected
        finally:
            device.set_memory_limit(1 << 40)
        tessera.sync()
        assert device.get_allocated_memory() <= held + (4 << 20)


def test_estimate_gives_the_bytes_of_a_trip():
    def run(x, limit):
        loop = lambda x: F.while_loop(lambda v: v.sum() < limit, lambda v: F.exp(v) * v, x)  # noqa: E731
        return gradients([x], loop)

    found = tessera.estimate(run, Spec((1000,)), Spec(()))
    assert found.saved_per_trip == 2 * 4000  # what a trip began with, and its exponential
    assert found.peak < 40_000
    bounded = lambda x: F.while_loop(lambda v: v.sum() < 3, lambda v: v * v, x, max_trips=9)  # noqa: E731
    assert tessera.estimate(lambda x: gradients([x], bounded), Spec((9,))).saved_per_trip == 0
    assert tessera.estimate(lambda x: halve(x, x), Spec((9,))).saved_per_trip == 0


def test_what_grew_is_given_back():
    def run(x, trips):
        body = lambda n, v: (n + 1, F.tanh(v) * v)  # noqa: E731
        loop = lambda x: F.while_loop(lambda n, _: n < trips, body, F.full((), 0.0), x)[1]  # noqa: E731
        return gradients([x], loop)[-1].sum()

    call, x = jit.trace(run, symbolic=True), tessera.Tensor(np.ones(1 << 14, "float32"))
    call(x, tessera.tensor(2.0))
    tessera.sync()
    held = device.get_allocated_memory()
    device.reset_max_memory_stats()
    call(x, tessera.tensor(300.0))
    tessera.sync()
    peak = device.get_max_allocated_memory() - held
    assert 300 * (2 << 16) <= peak <= 3 * 300 * (2 << 16) + (1 << 20)
    assert device.get_allocated_memory() <= held + (1 << 16)


def run_twice(x):
    """A gradient of two gradients, which both read what the trips saved."""
    outer, first, second = (GradManager().attach([x]) for _ in range(3))
    with outer:
        with first, second:
            y = halve(x * 99, x)
            first.backward((y * y).sum())
            second.backward(y.sum())
        grad, x.grad = x.grad, None
        outer.backward((grad * grad).sum())
    second, x.grad = x.grad, None
    return grad, second


def third_order(function):
    def run(x):
        def first(x):
            return second_order([x], function)[-1]

        return gradients([x], first)

    return run


@pytest.mark.parametrize(
    "run",
    [
        run_twice,
        third_order(lambda x: halve(x * 99, x)),
        third_order(lambda x: while_in_scan(x, x)),
    ],
)
def test_what_wants_max_trips(run):
    x = tensor(3, seed=1)
    run(x)  # eager needs none
    with pytest.raises((ValueError, RuntimeError), match=r"while_loop: .*max_trips .*, got "):
        jit.trace(run, symbolic=True)(x)
    with pytest.raises((ValueError, RuntimeError), match=r"while_loop: .*max_trips .*, got "):
        call = jit.trace(run)
        for _ in range(2):
            call(x)
