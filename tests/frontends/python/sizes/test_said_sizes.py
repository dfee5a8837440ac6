"""Sizes and bounds that tensors say: part of a trace, its gradient and its file."""

import re
import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import default_device, programs, same_bits
from tests.support.networks import tensor

SIZES = (2, 2, 3, 1, 6, 0, 4)
BOUNDS = (2, 2, -1, 0, 9, -9, 3, -2)

# Functions in which the tensor n says a size, at least 0.
SAID = {
    "arange": lambda x, n: F.arange(n) * 2,
    "arange of integers": lambda x, n: F.arange(n, dtype="int32") + 1,
    "arange of a start": lambda x, n: F.arange(n, n * 3 + 1, 2),
    "arange of half a start": lambda x, n: F.arange(n, n + 5, dtype="float16"),
    "linspace": lambda x, n: F.linspace(0, 1, n + 1),
    "zeros": lambda x, n: F.zeros(n) + x[0, 0],
    "ones": lambda x, n: F.ones((n, 2), dtype="int32"),
    "full": lambda x, n: F.full((2, n), 1.5),
    "full of a list": lambda x, n: F.full([n, n + 1], x[0, 0]),
    "eye": lambda x, n: F.eye(n),
    "eye of columns": lambda x, n: F.eye(3, n),
    "reshape": lambda x, n: F.reshape(x[:, :4], F.stack([n * 0 + 2, n * 0 + 12])),
    "reshape to a list": lambda x, n: F.arange(n * 3).reshape(n, 3) * 2,
    "reshape to the rest": lambda x, n: F.reshape(F.arange(n * 3 + 3), (n + 1, -1)),
    "broadcast_to": lambda x, n: F.broadcast_to(x[0], F.stack([n, n * 0 + 6])) * 2,
    "broadcast_to of sizes": lambda x, n: F.broadcast_to(x[:1], (n, 6)),
    "repeat": lambda x, n: F.repeat(x, n) + 1,
    "repeat along an axis": lambda x, n: F.repeat(x, n, axis=0) * x[0],
    "tile": lambda x, n: F.tile(x, n) + 1,
    "tile of several": lambda x, n: F.tile(x, (n, 2)) * 2,
    "pad": lambda x, n: F.pad(x, ((n, 1), (0, n)), constant_value=2.0) * 3,
    "one_hot": lambda x, n: F.one_hot(F.arange(3, dtype="int32") % (n + 1), n + 1),
    "topk": lambda x, n: F.topk(x, n)[0],
    "roll": lambda x, n: F.roll(x, n, 1) + 1,
    "interpolate": lambda x, n: F.vision.interpolate(x.reshape(1, 1, 6, 6), n + 1) * 2,
    "interpolate of sizes": lambda x, n: F.vision.interpolate(
        x.reshape(1, 1, 6, 6), F.stack([n + 1, n + 2]), mode="nearest"
    ),
    "bincount": lambda x, n: F.bincount(F.stack([n, n * 0])),
    "an element": lambda x, n: x[n % 6] * 2,
    "a sum of few": lambda x, n: x[:n].sum() / (n + 1),
    "few of few": lambda x, n: x[x[:, 0] > 0][:n] * 2,
    "joined": lambda x, n: F.concat([x[:n], x[n:]], 0) - 1,
    "added": lambda x, n: x[:n] + x[:n, ::-1],
    "a product": lambda x, n: F.matmul(x[:, :n], x[:n]),
    "a long integer": lambda x, n: F.arange(n.astype("int64")) * 2,
    "a short integer": lambda x, n: F.arange(n.astype("uint8")) * 2,
}

# Functions in which it says a bound of a slice, which may be negative.
BOUND = {
    "a stop": lambda x, n: x[:n] * 2,
    "a start": lambda x, n: x[n:] * 2,
    "both": lambda x, n: x[n : n + 2] - 1,
    "a step": lambda x, n: x[:n:2] - 1,
    "of the second axis": lambda x, n: x[:, n:] * 2,
    "of the last axis": lambda x, n: x[..., :n] * 2,
    "beside others": lambda x, n: x[1, None, n:] + 1,
    "beside an index": lambda x, n: x[n:, [0, 2]] + 1,
    "written": lambda x, n: _written(x * 1, n),
    "added to": lambda x, n: _added(x * 1, n),
}


def _written(x, n):
    x[:n] = 0.5
    return x


def _added(x, n):
    x[n:, 1] += 2.0
    return x


def _computed(function):
    return lambda x, n: function(x, n * 2 - n)


CASES = [(what, function, SIZES) for what, function in SAID.items()]
CASES += [(what, function, BOUNDS) for what, function in BOUND.items()]
ALL = pytest.mark.parametrize(
    ("function", "numbers"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)


def _same(call, function, numbers, x=None):
    x = tensor(6, 6, seed=1) if x is None else x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            n = tessera.tensor(number)
            assert same_bits(call(x, n), function(x, n)), number


@pytest.mark.parametrize("symbolic", [False, True])
@ALL
def test_a_trace_has_them_in_its_program(function, numbers, symbolic):
    function = _computed(function)
    call = jit.trace(function, symbolic=symbolic)
    _same(call, function, numbers)
    assert programs(call) == 1


@ALL
def test_a_file_has_them(function, numbers, tmp_path):
    call = jit.trace(function, capture_as_const=True)
    call(tensor(6, 6, seed=1), tessera.tensor(2))
    call.dump(tmp_path / "p", arg_names=["x", "n"])
    for allow_code in (False, True):
        _same(jit.load(tmp_path / "p", allow_code=allow_code), function, numbers)


@pytest.mark.parametrize("what", BOUND)
def test_a_file_has_them_beside_free_sizes(what, tmp_path):
    function = BOUND[what]
    call = jit.trace(function, capture_as_const=True)
    call(tensor(6, 6, seed=1), tessera.tensor(2))
    call.dump(tmp_path / "p", arg_names=["x", "n"], dims={"x": {0: jit.Dim("rows", 2, 99)}})
    program = jit.load(tmp_path / "p")
    for rows in (2, 6, 11):
        _same(program, function, BOUNDS, tensor(rows, 6, seed=rows))


def test_a_trace_serves_other_sizes_of_arguments_too():
    call = jit.trace(lambda x, n: x[n:] * 2)
    for rows in (6, 6, 8, 3, 8, 11):
        _same(call, call.function, (1, -2, 7), tensor(rows, 3, seed=rows))
    assert programs(call) <= 2


@pytest.mark.parametrize("what", ["arange", "repeat", "tile", "pad", "a sum of few", *BOUND])
def test_the_accelerator_has_them(what):
    function, numbers = {case[0]: case[1:] for case in CASES}[what]
    results = []
    for device in ("cpu0", "sim0"):
        with default_device(device):
            call, x = jit.trace(_computed(function)), tensor(6, 6, seed=1)
            results.append([call(x, tessera.tensor(n)).numpy() for n in numbers])
            assert programs(call) == 1
    assert same_bits(*results)


@pytest.mark.parametrize("what", ["broadcast_to", "repeat", "tile", "pad", "a product", *BOUND])
def test_gradients_go_through_them(what):
    function, numbers = {case[0]: case[1:] for case in CASES}[what]

    def step(x, n):
        manager = GradManager().attach([x])
        with manager:
            y = function(x, n + 0)
            manager.backward((y * y).sum())
        grad, x.grad = x.grad, None
        return grad

    call = jit.trace(step)
    _same(call, step, numbers)
    assert programs(call) == 1


def test_a_tensor_from_outside_says_a_size_as_it_is_now():
    n = tessera.tensor(2)
    call = jit.trace(lambda x: x[:n] * 2)
    for number in (2, 2, 4, -1, 0):
        n[...] = number
        x = tensor(6, 2, seed=number + 9)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same_bits(call(x), x[:n] * 2)
    assert programs(call) == 1


def test_what_one_tensor_says_is_one_size():
    """Otherwise a slice of one row would repeat along the other one in the recorded call only."""
    call = jit.trace(lambda x, n: x[:n] * F.arange(n).reshape(-1, 1))
    for number in (1, 1, 3, 2):
        x, n = tensor(4, 2), tessera.tensor(number)
        assert same_bits(call(x, n), call.function(x, n))
    assert programs(call) == 1


NEGATIVE = {
    "a size": lambda x, n: F.zeros(n + 0),
    "a range back": lambda x, n: x[n + 0 :: -1] * 2,
    "a step of NumPy": lambda x, n: x[: n + 0 : np.int64(-2)] * 2,
}


@pytest.mark.parametrize("what", NEGATIVE)
def test_a_negative_size_is_refused_by_the_program(what, tmp_path):
    function, x = NEGATIVE[what], tensor(6, 2)
    call = jit.trace(function, capture_as_const=True)
    for number in (2, 2, 5):
        n = tessera.tensor(number)
        assert same_bits(call(x, n), function(x, n))
    call.dump(tmp_path / "p", arg_names=["x", "n"])
    refusal = r"extent: n must be in \[0, 2147483647\], got -1"
    with pytest.raises(ValueError, match=refusal + r".* at test_said_sizes.py:\d+"):
        jit.load(tmp_path / "p")(x, tessera.tensor(-1))


def test_a_trace_runs_eagerly_where_a_size_became_negative():
    call, x = jit.trace(NEGATIVE["a range back"]), tensor(6, 2)
    for number in (2, 2):
        call(x, tessera.tensor(number))
    with pytest.warns(RuntimeWarning, match="eagerly where its program does not take .* got -2"):
        assert same_bits(call(x, tessera.tensor(-2)), x[-2::-1] * 2)


# Functions of which no program is made.
EAGER = {
    "a negative entry": lambda x, n: F.reshape(x, F.stack([n + 0, n * 0 - 1])),
    "a step": lambda x, n: x[:: n + 0],
    "a number": lambda x, n: x * int((n + 0).item()),
    "random numbers": lambda x, n: F.zeros(tessera.random.uniform(size=(n + 0, 2)).shape),
    "few bits": lambda x, n: F.arange(n + 0, dtype="int8"),
}


@pytest.mark.parametrize("what", EAGER)
def test_others_run_eagerly_and_name_the_line(what, tmp_path):
    function = EAGER[what]
    call, x = jit.trace(function, capture_as_const=True), tensor(2, 6, seed=1)
    line = r"it looks at (a size that depends on data|the value of a tensor) at test_said_s.*:\d+"
    with pytest.warns(RuntimeWarning, match="runs eagerly, because " + line):
        call(x, tessera.tensor(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (1, 3, 2):
            n = tessera.tensor(number)
            assert same_bits(call(x, n), function(x, n))
    with pytest.raises(ValueError, match="dump: .* must be a program, got .* " + line):
        call.dump(tmp_path / "p")


def test_sizes_that_must_be_equal_are_compared_in_each_run(tmp_path):
    call = jit.trace(lambda x, n: F.arange(n + 0) * x, capture_as_const=True)
    for _ in range(3):
        assert call(F.ones(3), tessera.tensor(3)).tolist() == [0, 1, 2]
    call.dump(tmp_path / "p", arg_names=["x", "n"])
    with pytest.raises(ValueError, match=r"mul: .*f32\[2\] and .*f32\[3\].* at test_said"):
        jit.load(tmp_path / "p")(F.ones(3), tessera.tensor(2))
    with pytest.raises(ValueError, match=re.escape("f32[2]")):
        call(F.ones(3), tessera.tensor(2))


def test_the_memory_of_a_size_without_a_bound_is_not_known_before():
    with pytest.raises(ValueError, match="estimate: shapes must be known without data"):
        jit.estimate(lambda n: F.zeros(n), jit.Spec((), "int32"))
    call = jit.trace(lambda n: F.repeat(F.ones(3), n + 1).shape[0] * F.ones(n + 2))
    for number in (1, 1, 4):
        assert call(tessera.tensor(number)).tolist() == [3.0 * (number + 1)] * (number + 2)
