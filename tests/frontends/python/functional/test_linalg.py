"""Linear algebra: what data refuses, batches over threads, gradients that few samples show."""

import subprocess
import sys

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit, tensor
from tessera.autodiff import grad

from tests.support.helper import as_list, num_threads, same_bits

RANDOM = np.random.RandomState(0)
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
INDEFINITE = [[1.0, 0.0], [0.0, -1.0]]
ONES = [[1.0], [1.0]]


def batch(wrong, good=((2.0, 0.0), (0.0, 1.0)), place=(1, 2)):
    """[2, 3] good matrices but for one."""
    out = np.array(np.broadcast_to(np.array(good), (2, 3, 2, 2)))
    out[place] = wrong
    return tensor(out.astype("float32"))


def definite(*shape):
    """Matrices that are positive definite."""
    x = RANDOM.rand(*shape)
    return (x @ x.swapaxes(-1, -2) + np.eye(shape[-1])).astype("float32")


REFUSED = {
    "matinv": (F.matinv, SINGULAR, "matrices must not be singular, got 0 as pivot 2"),
    "solve": (
        lambda x: F.solve(x, tensor(ONES)),
        SINGULAR,
        "matrices must not be singular, got 0 as pivot 2",
    ),
    "solve_triangular": (
        lambda x: F.solve_triangular(x, tensor(ONES)),
        [[1.0, 2.0], [0.0, 0.0]],
        "matrices must not be singular, got 0 as pivot 2",
    ),
    "cholesky": (
        F.cholesky,
        INDEFINITE,
        "matrices must be positive definite, got a leading minor of order 2 that is not",
    ),
    "eigh": (F.eigh, [[1.0, np.nan], [0.0, 1.0]], "elements must be finite, got NaN or infinities"),
    "svd": (F.svd, [[1.0, 0.0], [np.inf, 1]], "elements must be finite, got NaN or infinities"),
    "svdvals": (F.svdvals, [[np.nan] * 2] * 2, "elements must be finite, got NaN or infinities"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_is_refused_is_named(name):
    function, wrong, words = REFUSED[name]
    wrong = np.array(wrong, "float32")
    for call in (function, jit.trace(function)):
        with pytest.raises(ValueError) as caught:
            as_list(call(tensor(wrong)))[0].numpy()
        assert f"{name}: {words}" in str(caught.value) and " in matrix " not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        as_list(function(batch(wrong)))[0].numpy()
    assert f"{name}: {words} in matrix [1, 2]" in str(caught.value)
    assert (tensor([1.0]) + 1).item() == 2
    assert as_list(function(batch(np.eye(2))))[0].numpy().shape[:2] == (2, 3)


def test_the_first_of_several_matrices_is_named_by_any_number_of_threads():
    x = np.broadcast_to(np.eye(40, dtype="float32"), (64, 40, 40)).copy()
    x[17] = x[50] = 0
    for count in (1, 2, 3):
        with num_threads(count), pytest.raises(ValueError, match=r"pivot 1 in matrix \[17\]"):
            F.matinv(tensor(x)).numpy()


CALLS = {
    "cholesky": F.cholesky,
    "det": F.det,
    "eigh": F.eigh,
    "matinv": F.matinv,
    "qr": F.qr,
    "slogdet": F.slogdet,
    "solve": lambda x: F.solve(x, x),
    "solve_triangular": lambda x: F.solve_triangular(x, x, True, True),
    "svd": F.svd,
    "svdvals": F.svdvals,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("size", [5, 70])
def test_threads_split_batches_and_no_bit_changes(name, size):
    x = tensor(definite(4, 13, size, size))
    results = []
    for count in (1, 2, 3):
        with num_threads(count):
            results.append(CALLS[name](x))
    for number in (1, 2):
        assert same_bits(results[0], results[number])
    for i in range(13):
        alone = as_list(CALLS[name](x[1, i : i + 1]))
        assert same_bits([part[1, i : i + 1] for part in as_list(results[0])], alone)


def test_singular_matrices_have_a_determinant():
    assert F.det(tensor(SINGULAR)).item() == 0
    sign, logarithm = F.slogdet(tensor(SINGULAR))
    assert (sign.item(), logarithm.item()) == (0, -np.inf)
    size = range(len(SINGULAR))
    minors = [
        [np.delete(np.delete(np.asarray(SINGULAR, "float64"), i, 0), j, 1) for j in size]
        for i in size
    ]
    cofactors = [[(-1) ** (i + j) * np.linalg.det(minors[i][j]) for j in size] for i in size]
    found = grad(lambda x: F.det(x))(tensor(SINGULAR)).numpy()
    np.testing.assert_allclose(found, cofactors, rtol=1e-4, atol=1e-4)


def test_slogdet_where_det_overflows():
    x = np.eye(60, dtype="float32") * -1e10
    sign, logarithm = F.slogdet(tensor(x))
    assert np.isinf(F.det(tensor(x)).item())
    np.testing.assert_allclose([sign.item(), logarithm.item()], [1, 60 * np.log(1e10)], rtol=1e-6)


def test_svd_as_megengine_has_it():
    x = tensor(RANDOM.rand(3, 5, 4).astype("float32"))
    u, s, vh = F.svd(x)
    np.testing.assert_allclose((u * s[:, None] @ vh).numpy(), x.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(F.svd(x, compute_uv=False).numpy(), s.numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match=r"^svd: full_matrices must be False, got True"):
        F.svd(x, True)


def test_vectors_are_columns_and_integers_become_floats():
    a, b = np.array([[2, 1], [1, 3]], "int32"), np.array([3, 5], "int32")
    np.testing.assert_allclose(F.solve(a, b).numpy(), np.linalg.solve(a, b), rtol=1e-6)
    assert F.solve(a, b).dtype == "float32" and F.det(a).dtype == "float32"
    lower = F.solve_triangular(np.tril(a), b, lower=True).numpy()
    np.testing.assert_allclose(lower, np.linalg.solve(np.tril(a), b), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_narrow_floats_are_rounded_once(name, dtype):
    x = tensor(definite(3, 4, 4)).astype(dtype)
    wide = as_list(CALLS[name](x.astype("float32")))
    assert same_bits(as_list(CALLS[name](x)), [each.astype(dtype) for each in wide])


def test_gradients_of_symmetric_functions_are_symmetric():
    x = Tensor(definite(4, 4), dtype="float64")
    for function in (lambda x: F.cholesky(x)[2, 1], lambda x: F.eigh(x)[1][0, 2]):
        found = grad(function)(x).numpy()
        np.testing.assert_array_equal(found, found.T)
        assert np.abs(found).max() > 1e-3


def test_a_gradient_of_eigenvalues_alone_needs_no_differences():
    found = grad(lambda x: F.eigh(x)[0].sum())(tensor(np.eye(3, dtype="float32"))).numpy()
    np.testing.assert_allclose(found, np.eye(3), atol=1e-6)


def test_sizes_that_are_free_have_gradients():
    def function(x):
        return grad(lambda x: (F.svd(x)[1] * 2).sum() + F.qr(x)[1].sum())(x)

    traced = jit.trace(function, capture_as_const=True)
    for rows, columns in ((4, 3), (3, 5), (2, 2)):
        x = tensor(RANDOM.rand(rows, columns).astype("float32"))
        assert same_bits(traced(x), function(x))


def test_the_library_is_opened_by_the_first_call():
    code = """
import tessera, tessera.functional as F
(tessera.tensor([[2.0]]) @ tessera.tensor([[2.0]])).numpy()
mapped = lambda: "/libopenblas" in open("/proc/self/maps").read()
assert not mapped()
print(F.matinv(tessera.tensor([[2.0]])).item(), mapped())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "0.5 True\n", done.stderr
