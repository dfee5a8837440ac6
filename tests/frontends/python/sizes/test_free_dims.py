"""tessera.jit: dumps whose dimensions are free hold no size of the recorded call."""

import math

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812
from tessera.jit import Dim, load, trace

from tests.support.helper import same_bits

FIXING = {
    "the root of a size": lambda x: x / math.sqrt(x.shape[0]),
    "rows in Python": lambda x: sum(list(x)),
}


FREE = {
    "a size as a number": lambda x: x / x.shape[0],
    "a bound computed from the size": lambda x: x[: x.shape[0]],
    "a size rounded": lambda x: x[: x.shape[0] // 16 + 1],
    "parts": lambda x: F.split(x, [1], 0)[1],
    "a column": lambda x: x[:, 0],
    "a computed shape": lambda x: F.reshape(x, (-1, 2)),
    "a constant of that size": lambda x: x + F.ones((x.shape[0], 1)),
    "the first row": lambda x: x[0],
    "the last row": lambda x: x[-1],
    "all but the first row": lambda x: x[1:],
    "all but the last two rows": lambda x: x[:-2],
    "every second row": lambda x: x[::2],
    "rows backwards": lambda x: x[::-1],
    "a new axis": lambda x: x[None, :, 1],
    "all of it": lambda x: x[...] + x[:],
    "an array beside a slice": lambda x: x[1:, np.array([0, 2])],
    "an array beside the last row": lambda x: x[-1, np.array([0, 2])],
    "an array beside the row in the middle": lambda x: x[x.shape[0] // 2, None, np.array([0, 2])],
    "columns of the last row set": lambda x: _with(x, (-1, np.array([0, 2])), 7),
    "a column set": lambda x: _with(x, (slice(None), 1), 0),
    "rows set to a row": lambda x: _with(x, slice(1, None), x[0]),
    "the last row set": lambda x: _with(x, -1, 7),
    "every second row set": lambda x: _with(x, (slice(None, None, 2), slice(1, 3)), x[0, :1]),
}


def _with(x, key, value):
    x = x + 0
    x[key] = value
    return x


def _with_free_rows(function, shape, path):
    """The file of a call with ones of this shape, loaded: it takes 1 to 99 rows."""
    traced = trace(function, capture_as_const=True)
    traced(Tensor(np.ones(shape, dtype=np.float32)))
    traced.dump(path, arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    return load(path)


@pytest.mark.parametrize("what", FREE)
def test_a_key_holds_at_any_size(what, tmp_path):
    program = _with_free_rows(FREE[what], (3, 4), tmp_path / "p")
    for size in (1, 2, 3, 50):
        x = Tensor(np.random.RandomState(size).randn(size, 4).astype(np.float32))
        assert same_bits(program(x), FREE[what](x))


@pytest.mark.parametrize("what", FIXING)
def test_a_size_that_is_free_must_not_be_fixed(what, tmp_path):
    function = trace(FIXING[what], capture_as_const=True)
    function(Tensor(np.ones((3, 4), dtype=np.float32)))
    before = tessera.cache_stats()["results"]
    with pytest.raises(ValueError, match=r"dump: a free dimension must not be fixed .* n=3 .* at "):
        function.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 2, 99)}})
    assert tessera.cache_stats()["results"] == before, "operators ran"
    assert not (tmp_path / "p").exists()
    function.dump(tmp_path / "p", arg_names=["x"])


def test_a_function_must_run_at_every_size_that_is_free(tmp_path):
    row = Tensor(np.ones((3, 4), dtype=np.float32))
    function = trace(lambda x: x + row, capture_as_const=True)
    function(row)
    with pytest.raises(ValueError, match="dump: .* must run at every size .* n=4: add: operands"):
        function.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})


def test_looking_at_other_sizes_leaves_nothing_behind(tmp_path):
    counter, grad = Tensor([0.0]), Tensor([1.0])

    def function(x):
        counter[0] = counter[0] + 1
        grad.grad = grad * 2
        return x * 2

    traced = trace(function, capture_as_const=True)
    traced(Tensor(np.ones((3, 4), dtype=np.float32)))
    seen = counter.item(), grad.grad
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    assert (counter.item(), grad.grad) == seen


def test_a_size_that_data_decides_stands_beside_a_free_one(tmp_path):
    traced = trace(lambda x: F.relu(x)[x > 0], capture_as_const=True)
    traced(Tensor(np.ones((3, 4), dtype=np.float32)))
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    x = np.random.RandomState(0).randn(7, 4).astype(np.float32)
    np.testing.assert_array_equal(load(tmp_path / "p")(Tensor(x)).numpy(), x[x > 0])


def test_two_dimensions_that_must_be_equal_are_one(tmp_path):
    traced = trace(lambda x, y: x + y, capture_as_const=True)
    x = Tensor(np.ones((3, 4), dtype=np.float32))
    traced(x, x + 1)
    dims = {"x": {1: Dim("n", 1, 9)}, "y": {1: Dim("m", 1, 9)}}
    with pytest.raises(
        ValueError, match="must run at every size of its free dimensions, got n=5, m=6"
    ):
        traced.dump(tmp_path / "p", arg_names=["x", "y"], dims=dims)
    traced.dump(tmp_path / "p", arg_names=["x", "y"], dims={"x": dims["x"], "y": dims["x"]})
    for size in (1, 2, 9):
        row = Tensor(np.ones((3, size), dtype=np.float32))
        assert load(tmp_path / "p")(row, row).shape == (3, size)


def test_a_row_whose_size_is_not_known_repeats_beside_others(tmp_path):
    traced = trace(lambda x: F.max(x[:, 0] + x[:1, 0]), capture_as_const=True)
    traced(Tensor(np.ones((3, 4), dtype=np.float32)))
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    for n in (1, 2, 7):
        x = np.random.RandomState(0).randn(n, 4).astype(np.float32)
        assert load(tmp_path / "p")(Tensor(x)).item() == np.max(x[:, 0] + x[:1, 0])


def test_a_program_that_runs_at_no_size_is_not_written(tmp_path):
    traced = trace(lambda x: F.adaptive_avg_pool2d(x[None, None], 1), capture_as_const=True)
    traced(Tensor(np.ones((3, 4), dtype=np.float32)))
    refusal = (
        r"dump: .* must run at every size of its free dimensions, got n=3: "
        r".*height and width must be known.*:\d+"
    )
    with pytest.raises(ValueError, match=refusal):
        traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 99)}})
    assert not (tmp_path / "p").exists()


def test_rows_of_two_free_lengths(tmp_path):
    def function(x, w):
        return F.sum(x, 1, keepdims=True) + w, F.sum(F.exp(x), 1, keepdims=True) * x

    traced = trace(function, capture_as_const=True)
    traced(Tensor(np.ones((3, 4), np.float32)), Tensor(np.ones((3, 5), np.float32)))
    dims = {"x": {1: Dim("n", 2, 99)}, "w": {1: Dim("m", 2, 99)}}
    traced.dump(tmp_path / "p", arg_names=["x", "w"], dims=dims)
    program, random = load(tmp_path / "p"), np.random.RandomState(0)
    for n, m in ((4, 5), (7, 7), (40, 3)):
        pair = [Tensor(random.randn(3, size).astype(np.float32)) for size in (n, m)]
        assert same_bits(program(*pair), function(*pair))


def _parts(x):
    return F.split(x[x.shape[0] // 2 :], 2)[-1]


def test_a_size_that_no_operator_refuses_must_run(tmp_path):
    """Python's own check is no part of the program, which would serve the size."""
    traced = trace(_parts, capture_as_const=True)
    traced(F.ones(6))
    with pytest.raises(
        ValueError, match=r"dump: _parts must run at every .* got n=2: split: number"
    ):
        traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 2, 64)}})
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 3, 64)}})
    program = load(tmp_path / "p")
    for count in (3, 6, 9):
        assert same_bits(program(F.arange(count)), _parts(F.arange(count)))


NEEDS_EQUAL = {
    "instance_norm": lambda x: apply(B.InstanceNorm(), F.ones((2, 3, 5)), x[1:4, 0])[0],
    "rms_norm": lambda x: apply(B.RmsNorm(axes=1), F.ones((2, 3)), x[1:4, 0])[0],
    "cross_entropy": lambda x: F.nn.cross_entropy(x[1:4], Tensor([0, 1, 0])),
}


@pytest.mark.parametrize("op", NEEDS_EQUAL)
def test_a_composite_refuses_a_size_that_would_repeat(op, tmp_path):
    program = _with_free_rows(NEEDS_EQUAL[op], (4, 2), tmp_path / "p")
    for size in (2, 3, 5):
        x = Tensor(np.random.RandomState(size).randn(size, 2).astype(np.float32))
        if size >= 4:
            assert same_bits(program(x), NEEDS_EQUAL[op](x))
            continue
        refusal = f"{op}: sizes must match, got .* at test_free_dims.py:"
        with pytest.raises(ValueError, match=refusal):
            program(x)
