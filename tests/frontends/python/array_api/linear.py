"""Calls of functions of vectors and matrices, as calls.py."""

import itertools
import math

import numpy as np

from tests.frontends.python.array_api.calls import COMPLEX, REALS, Call, dtypes_of, values

PRODUCTS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)), ((2, 0), (0, 4)), ((0, 3), (3, 2)),
]  # fmt: skip


def products():
    for dtype in dtypes_of("iufc"):
        for one, two in PRODUCTS:
            yield Call("matmul", (values(dtype, *one), values(dtype, *two, seed=2)), {})
        x, y = values(dtype, 2, 3, 4), values(dtype, 3, 4, seed=5)
        yield Call("vecdot", (x, y), {})
        yield Call("vecdot", (x, x[:1]), {"axis": -2})
        yield Call("tensordot", (x, y), {})
        yield Call("tensordot", (x, y), {"axes": 0})
        yield Call("tensordot", (x, y), {"axes": ((1, 2), (0, 1))})
        yield Call("tensordot", (x, y.T), {"axes": ((-1,), (0,))})
        yield Call("linalg.outer", (x[0, 0], y[0]), {})
        yield Call("linalg.cross", (x[..., :3], y[..., :3]), {})
        yield Call("linalg.cross", (x[..., :3], x[:1, :, :3]), {"axis": -2})
        for offset in (0, 1, -1, 9):
            yield Call("linalg.diagonal", (x,), {"offset": offset})
            yield Call("linalg.trace", (x,), {"offset": offset})
    for dtype in ("int32", "int64", "uint32", "uint64"):
        ends = np.iinfo(dtype)
        rng = np.random.RandomState(3)
        x, y = (rng.randint(ends.min, ends.max, (4, 4), dtype=dtype) for _ in range(2))
        yield Call("matmul", (x, y), {})
        yield Call("multiply", (x, y), {})


def matrices(dtype):
    """Well-conditioned square matrices."""
    x = values(dtype, 2, 4, 4, seed=7)
    return [x[0] + 5 * np.eye(4, dtype=dtype), x + 5 * np.eye(4, dtype=dtype)]


def of_matrices():
    for dtype in REALS + COMPLEX:
        for x in matrices(dtype):
            b = values(dtype, 4, 2)
            yield Call("linalg.inv", (x,), {})
            yield Call("linalg.solve", (x, b), {})
            yield Call("linalg.solve", (x, b[:, 0]), {})
            yield from [Call("linalg.matrix_power", (x, n), {}) for n in (0, 1, 3, 5, -2)]
            hermitian = x + np.conj(np.swapaxes(x, -1, -2))
            yield Call("linalg.eigvalsh", (hermitian,), {})
            yield from factors_of_square(x, hermitian)
        yield from of_any_matrix(dtype)
        yield from norms(dtype)


def factors_of_square(x, hermitian):
    for name in ("det", "slogdet"):
        yield from [Call(f"linalg.{name}", (each,), {}) for each in (x, x[..., :1, :1], x - x)]
    positive = x @ np.conj(np.swapaxes(x, -1, -2))
    yield Call("linalg.cholesky", (positive,), {})
    yield Call("linalg.cholesky", (positive,), {"upper": True})
    one = np.eye(4, dtype=x.dtype)
    for each in (hermitian, one, np.diag(np.array([2, 1, 1, -3], x.dtype))):
        yield Call("linalg.eigh", (each,), {})


def of_any_matrix(dtype):
    for shape in [(4, 2), (2, 4), (2, 3, 3), (3, 3, 2)]:
        x = values(dtype, *shape, seed=3)
        low = x @ np.conj(np.swapaxes(x, -1, -2)) @ x[..., :1] @ np.ones((1, 3), dtype)
        for each in (x, low):
            yield Call("linalg.svdvals", (x,), {})
            yield Call("linalg.matrix_rank", (each,), {})
            yield Call("linalg.pinv", (each,), {"rtol": 1e-4})
        yield Call("linalg.pinv", (x,), {})
        yield Call("linalg.matrix_rank", (x,), {"rtol": 0.3})
        for each in (x, low):
            for mode in ("reduced", "complete"):
                yield Call("linalg.qr", (each,), {"mode": mode})
            for full in (True, False):
                yield Call("linalg.svd", (each,), {"full_matrices": full})


def norms(dtype):
    x = values(dtype, 2, 3, 4)
    for ord in ("fro", "nuc", 1, 2, -1, -2, math.inf, -math.inf):
        for keepdims in (False, True):
            yield Call("linalg.matrix_norm", (x,), {"ord": ord, "keepdims": keepdims})
    for ord, axis in itertools.product(
        (0, 1, 2, -1, 3, 0.5, math.inf, -math.inf), (None, 1, (0, 2))
    ):
        yield Call("linalg.vector_norm", (x,), {"ord": ord, "axis": axis})
    yield Call("linalg.vector_norm", (x,), {"axis": (0, 2), "keepdims": True})
