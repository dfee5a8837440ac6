"""Many float16 or bfloat16 numbers that are added at one place: the sum must not stand still."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import trace

COUNT = 3000  # 1 added to 2048 of float16, or to 256 of bfloat16, is that number again
HERE = tessera.Tensor(np.zeros(COUNT, "int32"))


def table(dtype):
    return tessera.Parameter(np.zeros((2, 1), "float32"), dtype=dtype)


def gradient(read, dtype):
    weight = table(dtype)
    manager = GradManager().attach([weight])
    with manager:
        manager.backward(read(weight).sum())
    return weight.grad


READS = {
    "embedding": lambda w: F.embedding(HERE, w),
    "indices": lambda w: w[HERE],
    "pairs": lambda w: w[HERE, HERE],
    "gather": lambda w: F.gather(w, 0, F.expand_dims(HERE, 1)),
    "several reads": lambda w: w[HERE] + F.embedding(HERE, w),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", READS)
def test_the_gradient_of_a_row_that_is_read_often(name, dtype):
    want = 2 * COUNT if name == "several reads" else COUNT
    grad = gradient(READS[name], dtype)
    assert grad.dtype == dtype
    np.testing.assert_allclose(grad.astype("float32").numpy(), [[want], [0]], rtol=0.01)
    traced = trace(lambda: gradient(READS[name], dtype).astype("float32"), symbolic=True)
    np.testing.assert_array_equal(traced().numpy(), grad.astype("float32").numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_at_one_place(dtype):
    ones, zeros = F.ones((COUNT,), dtype=dtype), F.zeros((2,), dtype=dtype)
    want = np.array([COUNT, 0])
    for got in (
        F.index_add(zeros, ones, [HERE], [0]),
        F.scatter_add(zeros, 0, HERE, ones),
        F.bincount(HERE, ones, minlength=2),
    ):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("float32").numpy(), want, rtol=0.01)
