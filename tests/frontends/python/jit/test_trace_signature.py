"""What of a call's arguments decides which recording serves it: bits, and tensors that are one."""

import math
import re
import struct
import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import optimizer as optim
from tessera.autodiff import GradManager

from tests.support.helper import same_bits
from tests.support.networks import tensor

NUMBERS = [0.0, -0.0, 0, False, np.float64(0.0), np.float64(-0.0), np.float32(0.0),
           np.float32(-0.0), np.int32(0), np.int64(0), np.bool_(False), 0j, complex(0.0, -0.0),
           complex(-0.0, 0.0)]  # fmt: skip


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: (n,), lambda n: frozenset([n])], ids=str)
def test_numbers_have_signatures_of_their_own(wrap):
    seen = []
    traced = jit.trace(lambda x, n: seen.append(1) or x + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in NUMBERS:
            traced(tensor(2), wrap(number))
    assert len(traced._variants) == len(NUMBERS)


def test_a_nan_is_a_nan():
    traced = jit.trace(lambda x, n: x * n)
    payload = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000123))[0]
    for number in (math.nan, payload, -math.nan):
        assert np.isnan(traced(tensor(2), number).numpy()).all()
    assert len(traced._variants) == 1
    for number in (np.float32("nan"), -np.float32("nan")):
        traced(tensor(2), number)
    assert len(traced._variants) == 2


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_the_sign_of_zero_reaches_the_function(kind):
    traced = jit.trace(lambda x, n: x / tessera.Tensor(n))
    for value in (0.0, -0.0, 0.0, -0.0, 0.0, -0.0):
        assert traced(tessera.Tensor([1.0]), kind(value)).item() == math.copysign(math.inf, value)


# Tensors that are one.


@pytest.mark.parametrize("order", ["ppt", "pptt", "tpt", "ttp", "ttpptp", "ppptpt", "tptp"])
def test_an_argument_that_is_captured_too(order):
    p, other = tessera.Parameter([10.0]), tessera.Tensor([3.0])
    traced = jit.trace(lambda x: x * p)
    for which in order:
        assert traced(p if which == "p" else other).item() == (100 if which == "p" else 30)


@pytest.mark.parametrize("order", ["ppt", "pptt", "tpt", "ttp", "ttpptp", "ppptpt", "tptp"])
def test_an_argument_of_which_the_shape_is_captured_too(order):
    p, other = tensor(3, 2), tensor(3, 2)
    traced = jit.trace(lambda x: x.sum(0) * F.arange(p.shape[1]))
    for which in order:
        given = p if which == "p" else other
        assert same_bits(traced(given), given.sum(0) * F.arange(2))


def test_a_captured_shape_that_changes():
    p, x = tensor(3, 2), tensor(4)
    traced = jit.trace(lambda x: x / p.shape[0])
    for size in (3, 3, 3, 5, 5, 3, 4):
        p._reset(tensor(size, 2))
        assert same_bits(traced(x), x / size)


@pytest.mark.parametrize("order", ["ppt", "ttp", "tptp", "ptptpt", "pppttt"])
@pytest.mark.parametrize("write", ["add", "reset", "setitem"])
def test_writes_to_one_of_two_that_are_one(order, write):
    def function(x, p):
        if write == "add":
            x += 1
        elif write == "reset":
            x._reset(x * 2)
        else:
            x[0] = 5.0
        return x * 10 + p

    p, q = tessera.Tensor([10.0]), tessera.Tensor([10.0])
    traced = jit.trace(lambda x: function(x, p))
    for number, which in enumerate(order):
        ours, theirs = tessera.Tensor([float(number)]), tessera.Tensor([float(number)])
        if which == "p":
            got, expected = traced(p), function(q, q)
        else:
            got, expected = traced(ours), function(theirs, q)
        assert same_bits(got, expected) and same_bits(ours, theirs) and same_bits(p, q), number


@pytest.mark.parametrize("order", ["aaab", "abab", "abaa", "ababaaab"])
def test_arguments_that_are_one(order):
    def function(x, y):
        x += 1
        return x * 10 + y

    traced = jit.trace(function)
    for pair in zip(order, order[1:], strict=False):
        ours = {name: tessera.Tensor([float(ord(name))]) for name in "ab"}
        theirs = {name: tessera.Tensor([float(ord(name))]) for name in "ab"}
        got, expected = traced(*(ours[n] for n in pair)), function(*(theirs[n] for n in pair))
        assert same_bits(got, expected)
        assert all(same_bits(ours[name], theirs[name]) for name in "ab")


def test_views_of_one_tensor():
    base = tensor(4, 4)
    views = [base, base[:], base[0:4], base.detach(), base.T]

    def function(x, y):
        x += 1
        return x * 2 + y + base

    traced = jit.trace(function)
    for _ in range(3):
        for left in views:
            for right in views:
                ours, before = traced(left, right), [each.numpy() for each in views]
                for view, value in zip(views, before, strict=True):
                    view.set_value(value)
                left._reset(left - 1)
                theirs = function(left, right)
                assert same_bits(ours, theirs)


def test_gradients_of_an_argument_that_is_captured_too():
    p, q = (tessera.Parameter([1.0, 2.0]) for _ in range(2))
    managers = GradManager().attach(p), GradManager().attach(q)
    traced = jit.trace(lambda x: (x * p).sum())
    for which in "pptptt":
        for run, own, manager in (
            (traced, p, managers[0]),
            (lambda x: (x * q).sum(), q, managers[1]),
        ):
            with manager:
                manager.backward(run(own if which == "p" else tessera.Tensor([3.0, 4.0])))
        assert same_bits(p.grad, q.grad)


def test_a_step_that_captures_its_own_batch():
    x = tensor(3)
    traced = jit.trace(lambda y: y + x)
    for y in (x, x, tensor(3, seed=1), x, tensor(3, seed=2)):
        assert same_bits(traced(y), y + x)


# Keys.


@pytest.mark.parametrize(
    "key", ["[:]", "[...]", "[:4]", "[0:]", "[:, :]", "[..., :]", "[:4, None]"]
)
def test_keys_that_cover_a_captured_tensor(key):
    table = tessera.Parameter(tensor(4, 2))
    function = eval(f"lambda x: x + table{key}.reshape(4, 2)", {"table": table})
    traced = jit.trace(function)
    for seed in range(4):
        x = tensor(4, 2, seed=seed)
        assert same_bits(traced(x), function(x))
        table._reset(table * 2)


def test_a_position_table_learns():
    def run(wrap):
        table, length = tessera.Parameter(tensor(4, 2)), 4
        manager, optimizer = GradManager().attach(table), optim.SGD([table], lr=0.1)

        @wrap
        def step(x):
            with manager:
                manager.backward(F.exp(x + table[:length]).sum())
            optimizer.step().clear_grad()

        for seed in range(4):
            step(tensor(3, 4, 2, seed=seed))
        return table

    assert same_bits(run(jit.trace), run(lambda function: function))


SIZES = {
    "mask": lambda x: x[x > 0],
    "mask, more": lambda x: F.exp(x[x > 0]).sum(),
    "cond_take": lambda x: F.cond_take(x > 0, x)[0] + 1,
    "size": lambda x: x[x > 0].shape[0] * x,
}


@pytest.mark.parametrize("what", SIZES)
def test_sizes_that_depend_on_data_are_computed(what):
    traced = jit.trace(SIZES[what])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(5):
            x = tensor(6, seed=seed)
            assert same_bits(traced(x), SIZES[what](x))
    assert traced.program() is not None
    assert len({int((tensor(6, seed=seed).numpy() > 0).sum()) for seed in range(5)}) > 1


DECIDED = {
    "a branch": lambda x: x + 1 if x[x > 0].shape[0] > 3 else x - 1,
    "a length": lambda x: x * len(x[x > 0]),
    "a loop": lambda x: sum(row * 2 for row in x[x > 0]) + x,
    "a root": lambda x: x * x[x > 0].shape[0] ** 0.5,
}


@pytest.mark.parametrize("what", DECIDED)
def test_what_python_makes_of_data_runs_eagerly_with_one_warning(what):
    traced = jit.trace(DECIDED[what])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(5):
            x = tensor(6, seed=seed)
            assert same_bits(traced(x), DECIDED[what](x))
    (warning,) = caught
    text = r"runs eagerly, because it looks at a size that depends on data at test_trace_sig.*:\d+$"
    assert re.search(text, str(warning.message))


RANK0 = {
    "first": (lambda x, i: x[i], 0),
    "second": (lambda x, i: x[:, i], 2),
    "last": (lambda x, i: x[..., i], -1),
    "beside": (lambda x, i: x[i, 1:, None], 1),
    "beside an int": (lambda x, i: x[i, 1], -2),
    "beside an array": (lambda x, i: x[np.array([0, 1]), i], 1),
    "calculated": (lambda x, i: x[i + 1], 0),
}


@pytest.mark.parametrize("what", RANK0)
def test_a_tensor_of_rank_0_as_index(what):
    function, index = RANK0[what]
    traced, x = jit.trace(function), tensor(4, 4, 4)
    for number in (index, index, index + 1, index):
        assert same_bits(traced(x, tessera.Tensor(number)), function(x, number))

    def write(x, i):
        x[i] = 7.0
        return x

    written = jit.trace(write)
    for number in (index, index, index + 1):
        a, b = tensor(4, 4), tensor(4, 4)
        assert same_bits(written(a, tessera.Tensor(number)), write(b, number)) and same_bits(a, b)
