"""Products of narrow floats whose sums stay float32, alone and within composites."""

import itertools

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.jit import Spec

from tests.support.helper import same_bits

DTYPES = ("float16", "bfloat16", "float32")
PAIRS = list(itertools.product(DTYPES, DTYPES))
ROUNDED = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 0.0}  # half of the last place
SUMMED = 1e-6  # what sums in float32 are off by, beside the sum of the sizes of their terms


def numbers(*shape, dtype="float32", seed=0):
    """A tensor of normal numbers, and these as float64."""
    drawn = np.random.RandomState(seed).standard_normal(shape).astype("float32")
    value = tessera.Tensor(drawn).astype(dtype)
    return value, value.astype("float64").numpy()


def check(value, expected, size, dtype):
    """Each number is the expected one but for sums in float32 and one rounding to the dtype."""
    assert value.dtype.name == dtype
    error = np.abs(value.astype("float64").numpy() - expected)
    assert (error <= ROUNDED[dtype] * np.abs(expected) + SUMMED * size).all(), error.max()


@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize("rows", [1, 5, 70])
def test_product(left, right, rows):
    (x, x64), (y, y64) = numbers(rows, 600, dtype=left), numbers(37, 600, dtype=right, seed=1)

    def product(x, y):
        return F.matmul(x, y, transpose_b=True, dtype="float32")

    out = product(x, y)
    check(out, x64 @ y64.T, np.abs(x64) @ np.abs(y64.T), "float32")
    assert same_bits(out, jit.trace(product, capture_as_const=True)(x, y))
    constant = jit.trace(lambda x: product(x, y), capture_as_const=True)
    assert same_bits(out, constant(x))
    if (left, right) != ("bfloat16", "bfloat16"):  # whose terms have an order of their own
        wide = F.matmul(x.astype("float32"), y.astype("float32"), transpose_b=True)
        assert same_bits(out, wide)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_gradient(left, right):
    (x, x64), (y, y64) = numbers(9, 300, dtype=left), numbers(300, 20, dtype=right, seed=1)
    dout, dout64 = numbers(9, 20, seed=2)
    gm = GradManager().attach([x, y])
    with gm:
        gm.backward(F.matmul(x, y, dtype="float32"), dout)
    check(x.grad, dout64 @ y64.T, np.abs(dout64) @ np.abs(y64.T), left)
    check(y.grad, x64.T @ dout64, np.abs(x64.T) @ np.abs(dout64), right)


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("shape", [(700,), (3, 700), (2, 40, 700)])
def test_linear(dtype, shape):
    """Sums are not rounded before the bias is added, and parts of gradients neither."""
    (x, x64), (weight, w64) = numbers(*shape, dtype=dtype), numbers(50, 700, dtype=dtype, seed=1)
    bias, b64 = numbers(50, dtype=dtype, seed=2)
    dout, dout64 = numbers(*shape[:-1], 50, dtype=dtype, seed=3)
    gm = GradManager().attach([x, weight, bias])
    with gm:
        out = F.nn.linear(x, weight, bias)
        gm.backward(out, dout)
    check(out, x64 @ w64.T + b64, np.abs(x64) @ np.abs(w64.T) + np.abs(b64), dtype)
    rows, drows = x64.reshape(-1, 700), dout64.reshape(-1, 50)
    check(x.grad, dout64 @ w64, np.abs(dout64) @ np.abs(w64), dtype)
    check(weight.grad, drows.T @ rows, np.abs(drows.T) @ np.abs(rows), dtype)
    assert same_bits(out, jit.trace(F.nn.linear, capture_as_const=True)(x, weight, bias))


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_attention(dtype):
    query, key = numbers(2, 3, 40, dtype=dtype), numbers(2, 90, 40, dtype=dtype, seed=1)
    value = numbers(2, 90, 30, dtype=dtype, seed=2)
    scores = query[1] @ key[1].swapaxes(-1, -2) / np.sqrt(40)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    operands = query[0], key[0], value[0]
    out = F.nn.scaled_dot_product_attention(*operands)
    check(out, weights @ value[1], weights @ np.abs(value[1]) * 4, dtype)
    traced = jit.trace(F.nn.scaled_dot_product_attention, capture_as_const=True)
    assert same_bits(out, traced(*operands))


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_no_copy_of_a_weight(dtype):
    """A call needs no memory for a weight as float32; a few rows need none for it at all."""
    size = 1024
    weight, bias = Spec((size, size), dtype), Spec((size,), dtype)
    for rows, most in ((1, 1 << 20), (64, 4 * size * size)):
        peak = tessera.estimate(F.nn.linear, Spec((rows, size), dtype), weight, bias).peak
        assert peak < most, (rows, peak)


def test_operands_must_be_narrow():
    x, y = F.ones((2, 3), dtype="float64"), F.ones((3, 4))
    with pytest.raises(TypeError, match="matmul: x must be float16, bfloat16 or float32 where"):
        F.matmul(x, y, dtype="float32")
    with pytest.raises(TypeError, match="matmul: dtype must be float32 or none, got f64"):
        F.matmul(y, y.T, dtype="float64")
