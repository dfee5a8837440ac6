"""F.cond and F.while_loop: what Python's own statements give, eager, traced and loaded."""

import signal

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import as_list, bits, flat, programs, same_bits
from tests.support.networks import scaled_windows, tensor, windows

TRUE, FALSE = tessera.Tensor(np.bool_(True)), tessera.Tensor(np.bool_(False))


def choose(pred, x, y):
    return F.cond(pred, lambda x, y: (x * 2, y), lambda x, y: (x + y, F.exp(y)), x, y)


def test_takes_one_branch():
    data = tensor(2, 3, seed=1), tensor(2, 3, seed=2)
    call = jit.trace(choose)
    for pred in (TRUE, FALSE, TRUE, FALSE):
        assert same_bits(call(pred, *data), choose(pred, *data))


def test_results_are_variables_of_their_own():
    """A change in place does not reach what a branch gave back as it was."""

    def run(x):
        y = F.cond(TRUE, lambda: x, lambda: x * 2)
        y[0] = 7
        return x * 1, y

    x = tensor(3)
    expected = run(x)
    assert expected[0].tolist() == x.tolist() != expected[1].tolist()
    assert same_bits(jit.trace(run)(x), expected)


def test_gradient_of_the_branch_that_was_taken():
    def run(pred, w, x):
        gm = GradManager().attach([w, x])
        with gm:
            y = F.cond(pred, lambda: F.tanh(w * x) * w, lambda: (x + w) * x)
            gm.backward((y * w).sum())
        grads = [w.grad, x.grad]
        w.grad = x.grad = None
        return [y, *grads]

    data = tensor(4, seed=1), tensor(4, seed=2)
    call = jit.trace(run)
    for pred in (TRUE, FALSE, TRUE, FALSE):
        assert same_bits(call(pred, *data), run(pred, *data))


def test_the_other_branch_has_no_effect():
    """It draws no random numbers and changes no variable."""

    def make():
        tessera.seed(5)
        count = tessera.Tensor(np.zeros((), "int32"))

        def add(x):
            count._reset(count + 1)
            return F.dropout(x, 0.5)

        return lambda pred, x: F.cond(pred, add, lambda x: x, x), count

    preds, x = (TRUE, FALSE, FALSE, TRUE, TRUE), tensor(64, seed=1)
    call, count = make()
    expected = [(bits(call(pred, x)), bits(count)) for pred in preds]
    function, count = make()
    call = jit.trace(function)
    assert [(bits(call(pred, x)), bits(count)) for pred in preds] == expected


def test_within_a_loop():
    def run(h, xs):
        def step(h, x):
            h = F.cond((x > 0).sum() > 1, lambda h, x: h + x, lambda h, x: h * 0.5, h, x)
            return h, h.sum()

        return flat(F.scan(step, h, xs))

    data = tensor(3, seed=1), tensor(9, 3, seed=2)
    call = jit.trace(run)
    for _ in range(2):
        assert same_bits(call(*data), run(*data))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("pred", "message"),
    [
        (tessera.Tensor(np.ones(2, bool)), r"cond: pred must have rank 0, got bool\[2\]"),
        (tessera.Tensor(1.0), r"cond: pred must be a bool tensor, got f32\[\]"),
        (True, "cond: pred must be a bool tensor, got True"),
    ],
)
def test_refuses_predicates(pred, message, traced):
    def run(x):
        return F.cond(pred, lambda: x, lambda: x)

    with pytest.raises((ValueError, TypeError), match=message):
        (jit.trace(run) if traced else run)(tensor(3))


def test_refuses_branches_that_differ():
    def shapes(x):
        return F.cond(TRUE, lambda: x, lambda: x[:1])

    def containers(x):
        return F.cond(TRUE, lambda: x, lambda: (x, x))

    with pytest.raises(ValueError, match="cond: both branches must return the same dtypes and sh"):
        jit.trace(shapes)(tensor(3))
    with pytest.raises(TypeError, match="cond: both branches must return the same containers"):
        jit.trace(containers)(tensor(3))
    assert same_bits(
        jit.trace(choose)(TRUE, tensor(3), tensor(3)), choose(TRUE, tensor(3), tensor(3))
    )


def collatz(n, max_trips=None):
    def body(n, steps):
        even = F.equal(n % 2, 0)
        return F.cond(even, lambda n: n // 2, lambda n: n * 3 + 1, n), steps + 1

    zero = F.full((), 0, dtype="int32")
    return F.while_loop(lambda n, _: n > 1, body, n, zero, max_trips=max_trips)


@pytest.mark.parametrize("max_trips", [None, 0, 5, 1000])
def test_goes_on_while_the_condition_holds(max_trips):
    call = jit.trace(lambda n: collatz(n, max_trips))
    for number in (1, 6, 27, 97):
        n = tessera.Tensor(np.int32(number))
        assert same_bits(call(n), collatz(n, max_trips))


def beam_search(scores, width=2):
    """The best paths through steps of scores, until the last step."""

    def more(step, _best, _paths):
        return step < scores.shape[0]

    def extend(step, best, paths):
        total = F.reshape(best, (width, 1)) + scores[step]
        flat_total = F.flatten(total)
        best, chosen = F.topk(flat_total, width, descending=True)
        paths = paths[chosen // scores.shape[-1]]
        paths[:, step] = (chosen % scores.shape[-1]).astype("int32")
        return step + 1, best, paths

    start = (
        F.full((), 0, dtype="int32"),
        F.zeros(width),
        F.full((width, scores.shape[0]), 0, dtype="int32"),
    )
    return F.while_loop(more, extend, *start)[1:]


def test_beam_search_runs_from_a_file(tmp_path):
    scores = tensor(6, 2, 5, seed=3)
    expected = beam_search(scores)
    call = jit.trace(beam_search, capture_as_const=True)
    for _ in range(2):
        assert same_bits(call(scores), expected)
    path = str(tmp_path / "beam.tess")
    call.dump(path, arg_names=["scores"])
    for options in ({}, {"allow_code": True}):
        assert same_bits(as_list(jit.load(path, **options)(scores)), expected)


def test_refuses_loops():
    x = tensor(3)
    for run in (
        lambda: F.while_loop(lambda x: x > 0, lambda x: x, x),
        jit.trace(lambda: F.while_loop(lambda x: x > 0, lambda x: x, x)),
    ):
        with pytest.raises(ValueError, match=r"while_loop: the result of cond must have rank 0"):
            run()
    for body, error in ((lambda x: x[:1], ValueError), (lambda x: (x, x), TypeError)):
        with pytest.raises(error, match="while_loop: body must return"):
            jit.trace(lambda b=body: F.while_loop(lambda x: x.sum() > -99, b, x))()
    with pytest.raises(ValueError, match="while_loop: max_trips must be at least 0, got -1"):
        F.while_loop(lambda x: x.sum() > 0, lambda x: x, x, max_trips=-1)


def growth(x, w, limit, max_trips):
    """Its trips follow from data."""
    more = lambda y, _: y.sum() < limit  # noqa: E731
    step = lambda y, z: (F.tanh(y * w) + y * 1.5, z + y * w)  # noqa: E731
    return F.while_loop(more, step, x, w * 0.5, max_trips=max_trips)


def gradients_of_growth(x, w, limit, max_trips=20):
    gm = GradManager().attach([x, w])
    with gm:
        y, z = growth(x, w, limit, max_trips)
        gm.backward((y * z + w).sum())
    grads = [x.grad, w.grad]
    x.grad = w.grad = None
    return [y, z, *grads]


LIMITS = (0.0, 3.0, 5.0, 1e9, 100.0, -1e9)


def test_gradient_through_as_many_trips_as_there_were():
    """None, some, and all that max_trips allows."""
    call = jit.trace(gradients_of_growth)
    x, w = tensor(4, seed=1), tensor(4, seed=2)
    for limit in map(tessera.Tensor, LIMITS):
        assert same_bits(call(x, w, limit), gradients_of_growth(x, w, limit))


def test_gradient_of_a_traced_call_with_a_loop():
    call, x, w = jit.trace(growth), tensor(4, seed=1), tensor(4, seed=2)

    def run(function, limit):
        gm = GradManager().attach([x, w])
        with gm:
            y, z = function(x, w, limit, 20)
            gm.backward((y * z).sum())
        grads, x.grad, w.grad = [x.grad, w.grad], None, None
        return grads

    for limit in map(tessera.Tensor, LIMITS):
        assert same_bits(run(call, limit), run(growth, limit))


def test_gradient_of_a_gradient_through_a_loop():
    def run(x, limit):
        outer, inner = GradManager().attach([x]), GradManager().attach([x])
        with outer:
            with inner:
                more = lambda y: y.sum() < limit  # noqa: E731
                y = F.while_loop(more, lambda y: F.exp(y * 0.25) * y, x, max_trips=9)
                inner.backward((y * y).sum())
            first, x.grad = x.grad, None
            outer.backward((first * first).sum())
        second, x.grad = x.grad, None
        return first, second

    call, x = jit.trace(run), F.abs(tensor(4, seed=1))
    for limit in map(tessera.Tensor, LIMITS):
        assert same_bits(call(x, limit), run(x, limit))


def test_gradient_through_a_loop_within_loops():
    def step(h, x):
        halve = lambda v: F.while_loop(  # noqa: E731
            lambda v: F.abs(v).max() > 0.5, lambda v: v * 0.5, v, max_trips=5
        )
        return F.cond(x.sum() > 0, lambda: halve(h + x), lambda: h * x), h

    def run(h, xs):
        gm = GradManager().attach([h, xs])
        with gm:
            last, all_of_them = F.scan(step, h, xs)
            gm.backward((last * last).sum() + all_of_them.sum())
        grads, h.grad, xs.grad = [h.grad, xs.grad], None, None
        return [last, all_of_them, *grads]

    call = jit.trace(run)
    for seed in range(4):
        data = tensor(3, seed=seed), tensor(6, 3, seed=seed + 9)
        assert same_bits(call(*data), run(*data))


@pytest.mark.parametrize("counts", [False, True])
def test_sizes_within_branches_and_loops_stay_free(tmp_path, counts):
    """Those of results, of what a branch takes from outside, and the length of a loop."""

    def run(x):
        ones = lambda: F.ones(x.shape) * x.shape[0]  # noqa: E731
        y = F.cond(x.sum() > 0, ones, lambda: F.concat([x[1:], x[:1]]))
        if counts:
            y, _ = F.scan(lambda h, _: (h * 0.5 + x, None), y, None, x.shape[0])
        return y

    call, kept = jit.trace(run), jit.trace(run, capture_as_const=True)
    for n in (3, 3, 4, 7, 2):
        for sign in (1, -1):
            x = F.abs(tensor(n, 2, seed=n)) * sign
            assert same_bits(call(x), run(x))
    assert programs(call) <= 2
    kept(tensor(3, 2, seed=1))
    kept.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: jit.Dim("n", 2, 99)}})
    for x in (tensor(5, 2, seed=1), F.abs(tensor(9, 2, seed=2))):
        assert same_bits(jit.load(tmp_path / "p")(x), run(x))


def scaled_in_a_loop(w):
    v = windows(w)

    def step(c, x):
        return F.cond(x > 0.5, lambda: c * 0.5 + v.size, lambda: c - x), c.sum()

    return F.scan(step, v, tessera.tensor([1.0, 0.0, 1.0]))


@pytest.mark.parametrize("function", [scaled_windows, scaled_in_a_loop])
def test_a_size_with_too_many_parts_is_a_number_within_a_branch(function):
    """The recording around cannot say it: what the body had of it was no number at all."""
    call, random = jit.trace(function), np.random.RandomState(0)
    for size in (8, 8, 8, 9, 9, 10):
        w = tessera.Tensor(random.uniform(0.5, 1, (size, size, 3, 3)).astype(np.float32))
        assert same_bits(call(w), function(w))


@pytest.mark.parametrize("symbolic", [False, True])
def test_ctrl_c_ends_a_loop(symbolic):
    """Recorded while it runs, and as a program."""

    def interrupt(*_):
        raise KeyboardInterrupt

    call = jit.trace(
        lambda n: F.while_loop(lambda n: n.sum() >= 0, lambda n: n * 1, n), symbolic=symbolic
    )
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            call(tensor(1) * 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert call(tensor(1) * 0 - 1).tolist() == [-1.0]
