"""Sizes that data decides, anywhere in a traced function, its gradient and its file."""

import math
import re
import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812
from tessera.jit import Dim

from tests.support.helper import num_threads, programs, same_bits

FUNCTIONS = {
    "a sum": lambda x: x[x > 0].sum() * 2,
    "elementwise": lambda x: F.exp(x[x > 0]) + 1,
    "positions": lambda x: F.non_zero(x > 0).astype("float32") * 2,
    "joined": lambda x: F.concat([x[x > 0], x[x < 0]], 0),
    "of a mask's elements": lambda x: x[x > 0][F.exp(x[x > 0]) > 2] * 3,
    "sorted": lambda x: F.sort(x[x > 0])[0],
    "a view": lambda x: F.reshape(x[x > 0], (1, -1)),
    "a product": lambda x: F.matmul(F.reshape(x[x > 0], (1, -1)), F.reshape(x[x > 0], (-1, 1))),
    "ones": lambda x: F.ones(x[x > 0].shape) + x[x > 0],
    "a range": lambda x: F.arange(x[x > 0].shape[0]) * x[x > 0],
    "a count": lambda x: x.sum() / (x[x > 0].shape[0] + 1),
    "only a count": lambda x: F.full((2,), 1.0) * x[x > 0].shape[0],
    "a slice": lambda x: x[x > 0][1:-1] + 1,
    "the first half": lambda x: x[x > 0][: x[x > 0].shape[0] // 2] * 2,
    "taken": lambda x: F.cond_take(x > 0, x)[0] * 2,
    "beside others": lambda x: (x * 2, x[x > 0] + 1, x.sum()),
    "rows": lambda x: F.softmax(x[x[:, 0] > -0.5], axis=1),
    "rows by index": lambda x: x[F.non_zero(x[:, 0] > -0.5).flatten()] * 2,
    "moments": lambda x: x[x > 0].mean() + x[x > 0].std(),
    "a shape of it": lambda x: F.full((x[x > 0].shape[0], 2), 3.0).sum(0),
    "a loop beside it": lambda x: F.scan(_step, x[0], x)[1] * x[x > 0].sum(),
    "a loop behind it": lambda x: F.scan(_step, x[0] * x[x > 0].sum(), x)[0] + 1,
    "a branch behind it": lambda x: F.cond(
        x[x > 0].sum() > 2, lambda y: y * 2, lambda y: y - 1, F.exp(x).sum(0)
    ),
    "in each trip": lambda x: F.scan(_few, x.sum(), x.transpose(1, 0)),
    "a number beside its origin": lambda x: _scaled(F.softmax(x, 1)),
    "written by a mask": lambda x: _clipped(x[x > 0] * 1),
    "rows written by a mask": lambda x: _clipped(x[x[:, 0] > -0.5] * 2),
    "a gradient of few": lambda x: _gradient(
        x, lambda x: F.concat([x[x > 1.5] * 2, x[:1, 0]], 0).mean() + x[x > 1].sum()
    ),
    "an axis removed beside it": lambda x: x[x > 0].mean() + F.squeeze(x.sum(keepdims=True)),
    "backwards": lambda x: x[x > 0][::-1] + 1,
    "backwards from the end": lambda x: apply(B.Slice([4], [-9], [-1]), x[x > 0])[0] * 2,
    "all but one": lambda x: _sized(x[x > 0][: x[x > 0].shape[0] - 1]),
    "in two": lambda x: F.split(F.concat([x[x > 0], x[0]]) * 2, 2),
    "in one row": lambda x: apply(B.Reshape([1, -1]), x[x > 0])[0] * 2,
    "gated": lambda x: F.glu(F.concat([x[x > 0]] * 2, 0), 0),
    "dropped": lambda x: F.dropout(x[x > 0] * 2, 0.5),
}
REFUSED = {
    "a branch": lambda x: x + 1 if x[x > 0].shape[0] > 3 else x - 1,
    "a length": lambda x: x * len(x[x > 0]),
    "a root": lambda x: x * x[x > 0].shape[0] ** 0.5,
}


def _step(state, x):
    return state * 0.5 + x, state - x


def _few(state, x):
    return state + x[x > 0].sum(), F.exp(x[x > state]).sum()


def _scaled(x):
    return x * (x[x > 0.2].shape[0] + 1)


def _sized(x):
    return x * (x.size + 1)


def _clipped(x):
    x[x > 0.5] = 0.5
    return x


def _gradient(x, function):
    gm = GradManager().attach([x])
    with gm:
        y = function(x)
        gm.backward(y)
    grad, x.grad = x.grad, None
    return y, grad


def rows(count, seed):
    values = np.random.RandomState(seed).randn(count, 5).astype(np.float32)
    return tessera.Tensor(values if seed % 5 else -abs(values))  # without any, sometimes


COUNTS = [4, 4, 4, 4, 7, 7, 1, 4, 4]


@pytest.mark.parametrize("what", FUNCTIONS)
def test_a_trace_serves_all_data(what):
    traced = jit.trace(FUNCTIONS[what])
    for seed, count in enumerate(COUNTS):
        results = []
        for function in (traced, FUNCTIONS[what]):
            tessera.random.seed(seed)
            results.append(function(rows(count, seed + 3)))
        assert same_bits(*results)
    assert programs(traced) == 2


@pytest.mark.parametrize("what", FUNCTIONS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_serves_all_data(what, threads, tmp_path):
    function = jit.trace(FUNCTIONS[what], capture_as_const=True)
    function(rows(4, 3))
    function.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 64)}})
    program = jit.load(tmp_path / "p", allow_code=threads == 3)
    with num_threads(threads):
        for seed, count in enumerate(COUNTS):
            if what != "dropped":  # the file has a state of its own
                assert same_bits(program(rows(count, seed)), FUNCTIONS[what](rows(count, seed)))
            else:
                assert program(rows(count, seed)).shape == FUNCTIONS[what](rows(count, seed)).shape


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_must_hold_for_all_data(what, tmp_path):
    function = jit.trace(REFUSED[what], capture_as_const=True)
    function(rows(4, 3))
    refused = "dump: <lambda> must (hold for all sizes that depend|be a program, got one that runs)"
    with pytest.raises(ValueError, match=refused):
        function.dump(tmp_path / "p", arg_names=["x"])
    assert not (tmp_path / "p").exists()


def test_a_file_is_not_written_that_could_not_be_opened(tmp_path):
    """A composite that needs a size takes none that data decides, whatever is compiled."""
    angles = F.zeros(())
    traced = jit.trace(
        lambda x: F.rotary_embedding(F.concat([x[x > 0]] * 2, 0), angles, angles),
        capture_as_const=True,
    )
    traced(rows(4, 3))
    refusal = r"rotary_embedding: size of the last axis must be known, got f32\[\?\] \(?at test_d"
    for targets in ((), ("host",)):
        with pytest.raises(ValueError, match=refusal):
            traced.dump(tmp_path / "p", arg_names=["x"], targets=targets)
        assert not (tmp_path / "p").exists()


def test_a_whole_step():
    weight = tessera.Parameter(np.ones((5, 3), np.float32))
    manager = GradManager().attach([weight])

    def _step(x):
        with manager:
            chosen = x[x[:, 0] > -0.5]
            scores = F.matmul(chosen, weight)
            loss = (scores**2).mean() + F.concat([scores, scores * 2], 0)[1:].sum() / x.shape[0]
            manager.backward(loss)
        weight._reset(weight - 0.01 * weight.grad)
        weight.grad = None
        return loss

    start, losses = weight.numpy(), []
    traced = jit.trace(_step)
    for function in (_step, traced):
        weight._reset(tessera.Tensor(start))
        losses.append([function(rows(8, seed)).item() for seed in (1, 2, 3, 4, 6, 7)])
        losses.append(weight.numpy().tolist())
    assert losses[:2] == losses[2:]
    assert traced.program() is not None


def test_a_call_within_a_tape_runs_eagerly():
    traced = jit.trace(lambda x: x[x > 0] ** 2)
    for seed in (1, 2, 3):
        grads = []
        for function in (traced, traced.function):
            x = rows(4, seed)
            with GradManager().attach(x) as manager:
                manager.backward(function(x).sum())
            grads.append(x.grad)
        assert same_bits(*grads)


def boxes(scores, places):
    """A detector's head: the places of the best scores above a threshold."""
    kept = F.non_zero(F.flatten(scores > 0.25)).flatten()
    order = F.argsort(F.flatten(scores)[kept], descending=True)
    return places[kept][order], F.flatten(scores)[kept][order]


def test_a_detector_head(tmp_path):
    function = jit.trace(boxes, capture_as_const=True)
    draw = np.random.RandomState(3)

    def _inputs(count):
        return [
            tessera.Tensor(draw.rand(count).astype(np.float32)),
            tessera.Tensor(draw.rand(count, 4).astype(np.float32)),
        ]

    function(*_inputs(9))
    n = Dim("n", 1, 1000)
    dims = {"scores": {0: n}, "places": {0: n}}
    function.dump(tmp_path / "p", arg_names=["scores", "places"], dims=dims)
    program = jit.load(tmp_path / "p")
    for count in (1, 9, 300):
        inputs = _inputs(count)
        assert same_bits(program(*inputs), boxes(*inputs))


def test_what_no_graph_can_say_runs_eagerly():
    traced = jit.trace(lambda x: F.squeeze(x[x > 0]) * 2)  # of one element: without an axis
    with pytest.warns(RuntimeWarning, match="runs eagerly, because .* squeeze: dimensions must"):
        for numbers in ([1.0, 2.0], [3.0, 4.0], [5.0, -1.0]):
            x = tessera.Tensor(numbers)
            assert same_bits(traced(x), F.squeeze(x[x > 0]) * 2)


def _third(x):
    chosen = x[x > 0]
    return chosen[2] * (chosen * F.arange(3.0)).sum()


EQUAL = {  # a function whose sizes must be those that they were, what other ones give
    "parts": (
        lambda x: F.concat([x[x > 0], x[x < 0]], 0) - x,
        r"sub: .* x f32\[2\] and y f32\[4\]",
    ),
    "a weight": (
        lambda x: F.layer_norm(F.ones((2, 3)), (3,), True, x[x > 0], x[x > 0]),
        r"layer_norm: sizes must match, ",
    ),
    "an element": (_third, r"slice: starts must be indices of x .* got x f32\[2\]"),
}


def _first(state, x):
    return state, x[x > -9][:5]


def test_a_loop_that_stacks_such_a_value_holds_for_its_number_of_trips(tmp_path):
    traced = jit.trace(
        lambda x: F.scan(_first, x[0, 0] * 0, x, reverse=True), capture_as_const=True
    )
    for count in (4, 4, 7, 1, 4):
        x = rows(count, 3)
        assert same_bits(traced(x), F.scan(_first, x[0, 0] * 0, x, reverse=True))
    with pytest.raises(ValueError, match="free dimension must not be fixed"):
        traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 64)}})


def test_a_long_loop_that_stacks_such_a_value_runs_eagerly():
    traced, x = jit.trace(lambda x: F.scan(_first, x[0, 0] * 0, x)), rows(257, 3)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because it looks at a size"):
        for _ in range(3):
            assert same_bits(traced(x), F.scan(_first, x[0, 0] * 0, x))


@pytest.mark.parametrize("what", EQUAL)
def test_sizes_that_must_be_equal_are_compared_in_each_run(what, tmp_path):
    function, refused = EQUAL[what]
    traced, fits = jit.trace(function, capture_as_const=True), tessera.Tensor([1.0, -2, 3, 4])
    for _ in range(3):
        assert same_bits(traced(fits), function(fits))
    traced.dump(tmp_path / "p", arg_names=["x"])
    program, other = jit.load(tmp_path / "p"), tessera.Tensor([1.0, 0, 0, 4])
    with pytest.raises(ValueError, match=refused + r".* at test_data_sizes.py:\d+"):
        program(other)
    with pytest.raises((ValueError, IndexError)) as eager:
        function(other)
    with pytest.raises(eager.type, match=re.escape(str(eager.value))):
        traced(other)
    for call in (traced, program):
        assert same_bits(call(fits), function(fits))
    assert traced(tessera.Tensor([1.0, -2, 3, 4, -5])).ndim == traced(fits).ndim


def test_other_sizes_of_arguments_are_checked_for_data_too():
    """A call that was recorded once does not lend its program: nobody has asked about data."""
    traced = jit.trace(lambda y, x: (F.squeeze(x[x > 0]) * 2, y + 1))
    x = tessera.Tensor([1.0, 2.0, -1.0])
    with pytest.warns(RuntimeWarning, match="runs eagerly, because .* squeeze: dimensions must"):
        for count in (3, 3, 5, 6, 7):
            assert traced(F.zeros(count), x)[1].tolist() == [1] * count


def test_a_part_of_one_element_is_one_for_all_data():
    traced = jit.trace(lambda x: F.sum_to(x[x > 0], F.split(x[x > 0], [1], -1)[0]) * 2)
    for numbers in ([1.0, -2.0], [1.0, 2.0], [1.0, 2.0], [1.0, -2.0]):
        assert traced(tessera.Tensor(numbers)).tolist() == [2 * sum(n for n in numbers if n > 0)]


def test_elements_that_a_mask_picks_are_written_whatever_their_number(tmp_path):
    def halved(x):
        y = x * 1
        y[y > 0.5] = y[y > 0.5] * 0.5
        return y

    traced, one = jit.trace(halved, capture_as_const=True), tessera.Tensor([1.0, 0.0, 0.0])
    assert same_bits(traced(one), halved(one))
    traced.dump(tmp_path / "p", arg_names=["x"])
    for call in (traced, jit.load(tmp_path / "p")):
        for numbers in ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [1.0, 0.0, 2.0]):
            x = tessera.Tensor(numbers)
            assert same_bits(call(x), halved(x))


def test_a_sum_to_a_size_of_one_runs_eagerly():
    def total(x):
        return F.sum_to(x[x > 0], x[x > 0][:1]) * 2

    traced, one, more = jit.trace(total), tessera.Tensor([1.0, -2.0]), tessera.Tensor([1.0, 2.0])
    refusal = "eagerly where its program does not take .* sum_to: sizes must match"
    with pytest.warns(RuntimeWarning, match=refusal):
        for x in (one, one, one, more, more, one):
            assert same_bits(traced(x), total(x))


@pytest.mark.parametrize("counts", [(3, 3, 1, 3), (1, 3, 1), (1, 1, 2)])
def test_an_element_that_repeats_gets_the_sum_of_gradients(counts):
    def step(x):
        with GradManager().attach([x]) as manager:
            kept = x[x > 0]
            x[x > 0] = kept[:1]
            manager.backward(F.sum(x * x))
        gradient, x.grad = x.grad, None
        return gradient

    traced = jit.trace(step)
    with pytest.warns(RuntimeWarning, match="step runs eagerly"):
        for count in counts:
            numbers = [*range(1, count + 1), *[-1.0] * (4 - count)]
            assert same_bits(traced(tessera.Tensor(numbers)), step(tessera.Tensor(numbers)))


@pytest.mark.parametrize("others", [(2,), (3, 2), (1, 64, 2)])
def test_a_size_of_one_repeats_beside_others(others, tmp_path):
    def function(x, y):
        kept = x[x > 0]
        return kept + y, F.sum(kept * y, -1), F.max(F.exp(kept) - y)

    y = F.arange(math.prod(others), dtype="float32").reshape(others)
    one, more = tessera.Tensor([1.0, -2.0]), tessera.Tensor([1.0, 2.0])
    traced = jit.trace(function, capture_as_const=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (one, one, more, more, one):
            for made, eager in zip(traced(x, y), function(x, y), strict=True):
                assert same_bits(made, eager)
    dumped = jit.trace(function, capture_as_const=True)
    dumped(one, y)
    dumped.dump(tmp_path / "p", arg_names=["x", "y"])
    loaded = jit.load(tmp_path / "p")
    for x in (one, more):
        for made, eager in zip(loaded(x, y), function(x, y), strict=True):
            assert same_bits(made, eager)


def test_a_result_of_a_size_by_data_takes_over_no_argument():
    traced = jit.trace(lambda y, x: (y.sum(), x[x > 0]), donate_argnums=0)
    for numbers in ([1.0, 2.0, -1.0], [1.0, 2.0, -1.0], [1.0, -2.0, -1.0]):
        y, x = tessera.Tensor([1.0, 2.0]), tessera.Tensor(numbers)
        assert traced(y, x)[1].tolist() == [each for each in numbers if each > 0]


def test_a_size_that_follows_from_one_by_data_fits_though_the_largest_does_not():
    def later_half(x, y):
        chosen = F.eye(x[x > 0].shape[0]).sum(0)
        half = chosen[chosen.shape[0] // 2 :]
        return y - half, half * half

    traced = jit.trace(later_half)
    x, y = tessera.Tensor([1.0, 2.0, -1.0, -2.0]), F.zeros((2, 0, 3))
    for _ in range(3):
        assert same_bits(traced(x, y), later_half(x, y))


def test_a_run_that_fails_leaves_the_program_usable():
    traced = jit.trace(lambda x: F.matmul(x[x > 0], F.arange(3.0)))
    fits = tessera.Tensor([1.0, 2.0, 3.0, -1.0])
    for _ in range(3):
        assert traced(fits).item() == 8
    with pytest.raises(ValueError, match="matmul"):
        traced(tessera.Tensor([1.0, 2.0, -3.0, -1.0]))
    assert traced(fits).item() == 8
