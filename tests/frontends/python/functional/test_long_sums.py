"""Sums of millions of elements: the error does not grow with the length.

Every function that sums is computed in float32 and float16, and beside it in float64, of equal and
of random elements along one row, one column, several axes and all.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import as_list, same_bits

COUNT = 1 << 22
BOUND = 1e-6  # of a sum of the 64 elements that one partial result takes in
# Roundings that end a function.
ROUNDED = {"float32": 4e-7, "float16": 1e-3}
DATA = {
    "equal": np.full(COUNT, np.float32(0.1)),
    "random": np.random.RandomState(0).uniform(0, 1, COUNT).astype(np.float32),
}
LAYOUTS = {  # shape, reduced axes
    "row": ((1, COUNT), 1),
    "rows": ((3, COUNT // 3), 1),
    "column": ((COUNT, 1), 0),
    "columns": ((COUNT // 20, 20), 0),
    "all": ((COUNT,), 0),
    "all axes": ((4, COUNT // 4), (0, 1)),
    "images": ((64, 3, 80, 273), (0, 2, 3)),
    "short rows": ((COUNT // 35, 5, 7), (0, 2)),
    "short columns": ((6, 7, COUNT // 420, 10), (0, 2)),
    "three groups": ((30, 2, 4, 3, COUNT // 720), (0, 2, 4)),
}
REDUCTIONS = {
    "sum": lambda x, axis: F.sum(x, axis),
    "mean": lambda x, axis: F.mean(x, axis),
    "norm": lambda x, axis: F.norm(x, axis=axis),
    "norm of order 1": lambda x, axis: F.norm(x, ord=1, axis=axis),
    "var": lambda x, axis: F.var(x, axis),
    "std": lambda x, axis: F.std(x, axis),
    "logsumexp": lambda x, axis: F.logsumexp(x, axis),
}
ALONG_ONE = {
    "softmax": F.softmax,
    "logsoftmax": F.logsoftmax,
    "normalize": lambda x, axis: F.normalize(x, axis=axis),
}


def gradient_of(function, *shape):
    """The gradient of a parameter of zeros by the sum of function(parameter)."""

    def run(x):
        parameter = tessera.Parameter(F.zeros(shape, dtype=x.dtype))
        with GradManager().attach([parameter]) as gm:
            gm.backward(F.sum(function(parameter, x)))
        return parameter.grad

    return run


def batch_norm(x):
    """Statistics that a batch leaves."""
    statistics = [F.zeros((1, x.shape[1], 1, 1), dtype=x.dtype) for _ in range(2)]
    F.batch_norm(x, *statistics, training=True, momentum=0.0, inplace=True)
    return statistics


def halves(x):
    """Two matrices of a long row."""
    return x[: COUNT // 2].reshape(1, -1), x[COUNT // 2 :].reshape(1, -1)


WHOLE = {
    "l1_loss": lambda x: F.nn.l1_loss(x, x * 0),
    "square_loss": lambda x: F.nn.square_loss(x, x * 0),
    "binary_cross_entropy": lambda x: F.nn.binary_cross_entropy(x, x * 0 + 1, with_logits=True),
    "cross_entropy": lambda x: F.nn.cross_entropy(
        x.reshape(-1, 2) * [1, 2], F.zeros(COUNT // 2, dtype="int32")
    ),
    "layer_norm": lambda x: F.layer_norm(x, (COUNT,)),
    "batch_norm of columns": lambda x: batch_norm(x[: COUNT // 20 * 20].reshape(-1, 20, 1, 1)),
    "batch_norm of images": lambda x: batch_norm(x.reshape(64, 4, 128, 128)),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x.reshape(1, 1, 2048, 2048), 1),
    "dot": lambda x: F.dot(x, x),
    "a row by a column": lambda x: F.matmul(halves(x)[0], halves(x)[1].T),
    "a matrix by a vector": lambda x: F.matmul(x.reshape(4, -1), x[: COUNT // 4]),
    "a transposed matrix by a vector": lambda x: F.matmul(x.reshape(-1, 4).T, x[: COUNT // 4]),
    "gradient of a number": gradient_of(lambda p, x: p * x, 1),
    "gradient of a bias": gradient_of(lambda p, x: (p + 1) * x.reshape(-1, 4), 4),
    "gradient of a channel": gradient_of(lambda p, x: p * x.reshape(16, 4, -1), 1, 4, 1),
}


def shaped(name, shape):
    return tessera.tensor(DATA[name][: np.prod(shape)].reshape(shape))


def assert_near(got, want, dtype="float32"):
    """No farther from the float64 results than BOUND, and what rounding the results takes."""
    for one, exact in zip(as_list(got), as_list(want), strict=True):
        distance = np.abs(one.numpy().astype(np.float64) - exact.numpy())
        error = distance.max() / np.abs(exact.numpy()).max()
        assert error <= BOUND + ROUNDED[dtype], error


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_of_millions(layout, data):
    shape, axis = LAYOUTS[layout]
    x = shaped(data, shape)
    wide = x.astype("float64")
    for name, function in REDUCTIONS.items():
        if data == "equal" and name in ("var", "std"):  # what they are is the rounding of a mean
            continue
        got = function(x, axis)
        assert_near(got, function(wide, axis))
        assert same_bits(got, jit.trace(lambda x, f=function: f(x, axis))(x)), name
    for function in ALONG_ONE.values() if isinstance(axis, int) else ():
        assert_near(function(x, axis), function(wide, axis))


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", WHOLE)
def test_functions_that_sum_millions(name, data):
    x = shaped(data, (COUNT,))
    if data == "equal" and "norm" in name:
        x = x + F.where(F.arange(COUNT) % 3 == 0, 0.25, 0.0)
    assert_near(WHOLE[name](x), WHOLE[name](x.astype("float64")))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_means_of_float16_are_sums_of_float32(layout):
    shape, axis = LAYOUTS[layout]
    x = shaped("random", shape).astype("float16")
    for function in (REDUCTIONS["mean"], REDUCTIONS["var"], REDUCTIONS["logsumexp"]):
        assert_near(function(x, axis), function(x.astype("float64"), axis), "float16")


@pytest.mark.parametrize("data", DATA)
def test_products_that_the_library_does_not_have(data):
    x = shaped(data, (1, COUNT))
    half = x.astype("float16"), (x * 1e-3).astype("float16")
    wide = [each.astype("float64") for each in half]
    assert_near(F.matmul(half[0], half[1].T), F.matmul(wide[0], wide[1].T), "float16")
    number = F.complex(x, -x)
    want = -2j * np.square(DATA[data], dtype=np.float64).sum()
    assert abs(F.matmul(number, number.T).item() - want) <= 16 * BOUND * abs(
        want
    )  # 1024 elements, one after the other
