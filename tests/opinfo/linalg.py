"""Products of matrices, and linear algebra."""

import tessera.functional as F  # noqa: N812
from tessera._core import ops

from tests.opinfo.rows import Row, refuse, summing


def _scaled(x, alpha):
    return x if alpha == 1 else x * alpha


def _started(x, beta):
    """Where beta is 0, NaN of x does not count."""
    return F.zeros_like(x) if beta == 0 else _scaled(x, beta)


def _plus_product(product):
    def call(x, a, b, *, beta=1, alpha=1):
        return _started(x, beta) + _scaled(product(a, b), alpha)

    return call


def _addbmm(x, a, b, *, beta=1, alpha=1):
    return _started(x, beta) + _scaled(F.sum(F.matmul(a, b), 0), alpha)


def _inner(a, b):
    return F.mul(a, b) if a.ndim == 0 or b.ndim == 0 else F.matmul(a, b.T if b.ndim < 3 else b)


def _tensordot(a, b, dims=2):
    refuse(not isinstance(dims, int), "axes by name")
    rows, columns = a.shape[: a.ndim - dims], b.shape[dims:]
    size = 1
    for n in b.shape[:dims]:
        size *= n
    product = F.matmul(F.reshape(a, (-1, size)), F.reshape(b, (size, -1)))
    return F.reshape(product, (*rows, *columns))


def _einsum(tensors, *equation):
    return F.einsum(equation[0], *tensors)


def _cholesky(x, *, upper=False):
    refuse(upper, "upper")
    return F.cholesky(x)


def _eigh(x, UPLO="L"):  # noqa: N803
    part, rest = (F.tril(x), F.tril(x, -1)) if UPLO == "L" else (F.triu(x), F.triu(x, 1))
    return F.eigh(part + F.swapaxes(rest, -1, -2))


def _qr(x, mode="reduced"):
    refuse(mode != "reduced", "a mode other than 'reduced'")
    return F.qr(x)


def _svd(x, full_matrices=True, *, driver=None):
    refuse(full_matrices and x.shape[-1] != x.shape[-2], "full_matrices")
    return F.svd(x)


def _solve(a, b, *, left=True):
    refuse(not left, "left=False")
    refuse(b.ndim != a.ndim, "a vector on the right")
    return F.solve(a, b)


def _solve_triangular(a, b, *, upper, left=True, unitriangular=False):
    refuse(not left, "left=False")
    return F.solve_triangular(a, b, not upper, False, unitriangular)


def _cross(a, b, *, dim=-1):
    return F.cross(a, b, axis=dim)


def _cross_first(a, b, dim=None):
    refuse(dim is None, "the first axis of size 3")
    return F.cross(a, b, axis=dim)


def _linear(x, weight, bias=None):
    refuse(weight.ndim == 1, "a vector as weight")
    return F.linear(x, weight, bias)


def _multi_dot(tensors):
    product = tensors[0]
    for each in tensors[1:]:
        product = F.matmul(product, each)
    return product


def _vecdot(a, b, *, dim=-1):
    return F.sum(F.conj(a) * b, dim)


def _matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    refuse(ord != "fro", "a norm of singular values, or of rows or columns")
    return F.norm(x if dtype is None else F.astype(x, dtype), 2, dim, keepdim)


def _triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    return ops.solve_triangular(a, b, not upper, transpose, unitriangular)


def _dist(x, y, p=2):
    refuse(p == 0, "p 0")
    return F.norm(x - y, p)


_SUMS_OF_PRODUCTS = {
    "addbmm": _addbmm,
    "addmm": _plus_product(F.matmul),
    "addmm.decomposed": _plus_product(F.matmul),
    "addmv": _plus_product(F.matmul),
    "addr": _plus_product(F.outer),
    "baddbmm": _plus_product(F.matmul),
    "dist": _dist,
    "linalg.multi_dot": _multi_dot,
    "linalg.vecdot": _vecdot,
}
_PRODUCTS = {
    "__rmatmul__": lambda x, y: y @ x,
    "bmm": F.matmul,
    "bmm.triton_optimized": F.matmul,
    "cross": _cross_first,
    "dot": F.dot,
    "einsum": _einsum,
    "inner": _inner,
    "linalg.cross": _cross,
    "linalg.matrix_norm": _matrix_norm,
    "matmul": F.matmul,
    "mm": F.matmul,
    "mv": F.matmul,
    "nn.functional.linear": _linear,
    "outer": F.outer,
    "tensordot": _tensordot,
    "vdot": lambda a, b: F.dot(F.conj(a), b),
}
# Conditions of random matrices are some tens: what a solver rounds, they enlarge.
_SOLVERS = {
    "linalg.cholesky": _cholesky,
    "linalg.det": lambda a: F.det(a),
    "linalg.eigvalsh": lambda *args, **kwargs: _eigh(*args, **kwargs)[0],
    "linalg.inv": lambda a: F.matinv(a),
    "linalg.slogdet": lambda a: F.slogdet(a),
    "linalg.solve": _solve,
    "linalg.solve_triangular": _solve_triangular,
    "linalg.svdvals": lambda a, *, driver=None: F.svd(a, compute_uv=False),
    "logdet": lambda a: F.slogdet(a)[1],
}
# Of vectors that are unique but for signs each library chooses its own: values alone are compared.
_FIRST_RESULTS = {
    "linalg.cholesky_ex": lambda x, *, upper=False, check_errors=False: _cholesky(x, upper=upper),
    "linalg.eigh": lambda *args, **kwargs: _eigh(*args, **kwargs)[0],
    "linalg.inv_ex": lambda a, *, check_errors=False: F.matinv(a),
    "linalg.solve_ex": lambda a, b, *, left=True, check_errors=False: _solve(a, b, left=left),
    "triangular_solve": _triangular_solve,
}
ROWS = (
    summing(_PRODUCTS)
    | summing(_SUMS_OF_PRODUCTS, roundings=6)
    | summing(_SOLVERS, 400)
    | {name: Row(call, (0,), 400, 800) for name, call in _FIRST_RESULTS.items()}
    | {
        "linalg.qr": Row(_qr, None, 400, 800),
        "linalg.svd": Row(lambda *args, **kwargs: _svd(*args, **kwargs)[1], (1,), 400, 800),
        "svd": Row(lambda x, some=True, compute_uv=True: F.svd(x)[1], (1,), 400, 800),
    }
)
