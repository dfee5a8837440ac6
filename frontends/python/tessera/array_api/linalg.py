"""The extension `linalg` of the standard: matrices, a batch of them in leading axes.

LAPACK's records are real: what complex matrices have is made of them, or of products.
"""

import math
from collections import namedtuple

from .._core import ops as _ops
from . import _complex_linalg
from ._creation import eye as _eye
from ._dtypes import cast, finfo, kind_of, part_of, to_sum
from ._elementwise import abs as _abs
from ._linear import matmul, matrix_transpose, tensordot, vecdot
from ._manipulation import axes_of

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

eigh_result = namedtuple("eigh_result", ["eigenvalues", "eigenvectors"])
qr_result = namedtuple("qr_result", ["Q", "R"])
slogdet_result = namedtuple("slogdet_result", ["sign", "logabsdet"])
svd_result = namedtuple("svd_result", ["U", "S", "Vh"])


def _iscomplex(*xs):
    return kind_of(*xs) == "c"


def cholesky(x, /, *, upper=False):
    """The lower triangle whose product with its transposed is x, or the upper one."""
    if _iscomplex(x):
        lower = _complex_linalg.cholesky(x)
        return _complex_linalg.adjoint(lower) if upper else lower
    lower = _ops.cholesky(x)
    return lower.mT if upper else lower


def cross(x1, x2, /, *, axis=-1):
    """The vector product of vectors of three elements along `axis`; other axes broadcast.

    ValueError: there must be three elements.
    """
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "cross: vectors must have three elements, got "
            f"{tuple(x1.shape)} and {tuple(x2.shape)} for axis {axis}"
        )
    axis = axis if axis < 0 else axis - x1.ndim
    return _ops.cross(x1, x2, axis, axis, axis)


def det(x, /):
    """The determinant."""
    return _complex_linalg.det(x) if _iscomplex(x) else _ops.det(x)


def diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes, `offset` above the main one."""
    rows, columns = x.shape[-2], x.shape[-1]
    size = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    row = _ops.arange(size, max(0, -offset), 1, "int64")
    column = _ops.arange(size, max(0, offset), 1, "int64")
    return _ops.index_get(x, [row, column], [x.ndim - 2, x.ndim - 1])


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices."""
    return eigh_result(*(_complex_linalg.eigh if _iscomplex(x) else _ops.eigh)(x))


def eigvalsh(x, /):
    """Eigenvalues of symmetric or Hermitian matrices, ascending."""
    if _iscomplex(x):
        return _ops.eigh(_complex_linalg.real_form(x))[0][..., ::2]
    return _ops.eigh(x)[0]


def inv(x, /):
    """The inverse. ValueError when it runs: no pivot may be 0."""
    return (
        _complex_linalg.complex_form(_ops.matinv(_complex_linalg.real_form(x)))
        if _iscomplex(x)
        else _ops.matinv(x)
    )


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of matrices: "fro", "nuc", 1, 2, inf or the negative of a number.

    ValueError: ord must be one of these.
    """
    axes = (x.ndim - 2, x.ndim - 1)
    size = _abs(x)
    if ord == "fro":
        return _ops.sqrt(_ops.sum(_ops.square(size), axes, keepdims))
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        whole = {"nuc": _ops.sum, 2: _ops.max, -2: _ops.min}[ord](values, -1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = _ops.sum(size, -2 if ord in (1, -1) else -1)
        whole = (_ops.max if ord > 0 else _ops.min)(sums, -1)
    else:
        known = ["fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf]
        raise ValueError(f"matrix_norm: ord must be one of {known}, got {ord!r}")
    return _ops.expand_dims(whole, axes) if keepdims else whole


def matrix_power(x, n, /):
    """The product of n times x, or of its inverse where n is negative; 0: the identity."""
    if n == 0:
        one = _eye(x.shape[-1], dtype=x.dtype, device=x.device)
        return _ops.copy(_ops.broadcast_to(one, x.shape))
    base, count = (inv(x), -n) if n < 0 else (x, n)
    result = None
    while count:
        if count & 1:
            result = base if result is None else matmul(result, base)
        base, count = matmul(base, base) if count > 1 else base, count >> 1
    return result


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above `rtol` times the largest one, int32."""
    values = svdvals(x)
    limit = _tolerance(x, values, rtol)
    return _ops.sum(cast(_ops.greater(values, limit), "int32"), -1)


def _tolerance(x, values, rtol):
    """rtol, a number or one for each matrix, times the largest singular value."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps
    elif hasattr(rtol, "ndim") and rtol.ndim:
        rtol = _ops.expand_dims(rtol, -1)
    return _ops.mul(_ops.max(values, -1, True, True), rtol)


def outer(x1, x2, /):
    """The product of each element of one vector with each of another.

    ValueError: both must have one axis.
    """
    return _ops.outer(x1, x2)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse, without singular values up to `rtol` times the largest one."""
    if _iscomplex(x):
        rtol = max(x.shape[-2:]) * finfo(x.dtype).eps if rtol is None else rtol
        return _complex_linalg.complex_form(pinv(_complex_linalg.real_form(x), rtol=rtol))
    u, values, vh = _ops.svd(x)
    isused = _ops.greater(values, _tolerance(x, values, rtol))
    inverse = _ops.where(isused, _ops.reciprocal(_ops.where(isused, values, 1.0)), 0.0)
    return matmul(vh.mT, _ops.mul(_ops.expand_dims(inverse, -1), u.mT))


def qr(x, /, *, mode="reduced"):
    """Orthonormal columns and an upper triangle whose product is x; of mode "complete" as many
    columns as x has rows.

    ValueError: mode must be "reduced" or "complete".
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f'qr: mode must be "reduced" or "complete", got {mode!r}')
    if _iscomplex(x):
        return qr_result(*_complex_linalg.qr(x, mode == "complete"))
    rows, columns = x.shape[-2], x.shape[-1]
    if mode == "reduced" or rows <= columns:
        return qr_result(*_ops.qr(x))
    q, r = _ops.qr(_beside_one(x))
    return qr_result(q, r[..., :columns])


def _beside_one(x):
    """[x, 1]: its orthonormal columns are those of x, and more until they are a whole basis."""
    rows = x.shape[-2]
    one = _eye(rows, dtype=x.dtype, device=x.device)
    return _ops.concat([x, _ops.broadcast_to(one, (*x.shape[:-2], rows, rows))], -1)


def slogdet(x, /):
    """The sign of the determinant and the logarithm of its size."""
    return slogdet_result(*(_complex_linalg.slogdet if _iscomplex(x) else _ops.slogdet)(x))


def solve(x1, x2, /):
    """What times x1 is x2, whose columns are right sides, or which is one.

    ValueError when it runs: no pivot may be 0.
    """
    if not _iscomplex(x1, x2):
        return _ops.solve(x1, x2)
    columns = _ops.expand_dims(x2, 1) if x2.ndim == 1 else x2
    right = _ops.concat([_ops.real(columns), _ops.imag(columns)], -2)
    whole = _ops.solve(_complex_linalg.real_form(x1), right)
    rows = x1.shape[-1]
    result = _ops.complex(whole[..., :rows, :], whole[..., rows:, :])
    return _ops.squeeze(result, -1) if x2.ndim == 1 else result


def svd(x, /, *, full_matrices=True):
    """x = U diag(S) Vh, with S descending; with `full_matrices` U and Vh are square."""
    iscomplex = _iscomplex(x)
    u, values, vh = (_complex_linalg.svd if iscomplex else _ops.svd)(x)
    if full_matrices:
        turned = _complex_linalg.adjoint if iscomplex else matrix_transpose
        u, vh = _completed(u), turned(_completed(turned(vh)))
    return svd_result(u, values, vh)


def _completed(columns):
    """Orthonormal columns and others, until they are a whole basis."""
    count = columns.shape[-1]
    if count == columns.shape[-2]:
        return columns
    whole = qr(columns, mode="complete").Q
    return _ops.concat([columns, whole[..., count:]], -1)


def svdvals(x, /):
    """The singular values, descending."""
    if _iscomplex(x):
        return _ops.svdvals(_complex_linalg.real_form(x))[..., ::2]
    return _ops.svdvals(x)


def trace(x, /, *, offset=0, dtype=None):
    """The sum of the diagonal, in the given dtype; small integers become int32 or uint32."""
    return _ops.trace(to_sum(x, dtype), offset)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """A norm of vectors: any number, 0 for how many elements are not zero, inf or -inf."""
    size = _abs(x)
    axes = axes_of(axis, x.ndim, "vector_norm")
    if not axes and x.ndim:
        return size if ord != 0 else cast(_ops.not_equal(size, 0), size.dtype)
    if ord == 0:
        return _ops.sum(cast(_ops.not_equal(size, 0), part_of(x.dtype)), axes, keepdims)
    if ord == math.inf:
        return _ops.max(size, axes, keepdims, True) if x.size else _ops.sum(size, axes, keepdims)
    return _ops.norm(size, axes, keepdims, float(ord))
