"""Factors and determinants of complex matrices, for which there are no records: step by step, a
column at a time, or from the real form [[a, -b], [b, a]] of a + b i.

G. Golub, C. Van Loan: Matrix Computations, 4th edition, 2013: 3.4 (pivots), 5.1 (reflections), 5.2
(orthogonal columns), 8.1 (a Hermitian matrix as a symmetric one of twice the size).
"""

from .. import functional as _functional
from .._core import ops as _ops
from ._complex import each_part, parts, sign
from ._dtypes import cast, part_of
from ._manipulation import take_along_axis


def real_form(x):
    """Products, inverses and singular values are those of x, in twice the size."""
    a, b = parts(x)
    return _ops.concat([_ops.concat([a, -b], -1), _ops.concat([b, a], -1)], -2)


def complex_form(x):
    """The matrix of a real form."""
    rows, columns = x.shape[-2] // 2, x.shape[-1] // 2
    return _ops.complex(x[..., :rows, :columns], x[..., rows:, :columns])


def adjoint(x):
    """The conjugate of the transposed."""
    return _ops.conj(x.mT)


def _places(count):
    return _functional.arange(0, count, dtype="int32")


def cholesky(x):
    """The lower triangle. In the order a1 b1 a2 b2 the triangle of the real form has the same form,
    because numbers on the diagonal are real.
    """
    size = x.shape[-1]
    place = _places(2 * size)
    order = place % 2 * size + place // 2
    axes = [x.ndim - 2, x.ndim - 1]
    mixed = _ops.index_get(real_form(x), [_ops.expand_dims(order, 1), order], axes)
    lower = _ops.cholesky(mixed)
    return _ops.complex(lower[..., ::2, ::2], lower[..., 1::2, ::2])


def slogdet(x):
    """The sign of the determinant and the logarithm of its size, by elimination with pivots."""
    size, rows = x.shape[-1], _ops.expand_dims(_places(x.shape[-1]), 1)
    phase = _ops.full(x.shape[:-2], 1, x.dtype)
    logarithm = _ops.zeros_like(_ops.real(phase))
    for k in range(size):
        column = _ops.where(_ops.less(rows, k), -1.0, _ops.abs(x[..., k : k + 1]))
        pivot = _ops.argmax(column, -2, True)
        upper = take_along_axis(x, pivot, axis=-2)
        x = _ops.where(_ops.equal(rows, pivot), x[..., k : k + 1, :], x)
        value = upper[..., 0, k]
        isother = _ops.not_equal(pivot[..., 0, 0], k)
        phase = _ops.mul(phase, _ops.where(isother, -sign(value), sign(value)))
        logarithm = logarithm + _ops.log(_ops.abs(value))
        divisor = _ops.where(_ops.equal(value, 0), 1.0 + 0.0j, value)
        factors = _ops.div(x[..., k : k + 1], divisor[..., None, None])
        factors = _ops.where(_ops.greater(rows, k), factors, 0.0 + 0.0j)
        x = x - _ops.mul(factors, upper)
    return phase, logarithm


def det(x):
    """The determinant."""
    phase, logarithm = slogdet(x)
    return _ops.mul(phase, _ops.exp(logarithm))


def qr(x, iscomplete):
    """Orthonormal columns and a triangle, by reflections."""
    rows, columns = x.shape[-2], x.shape[-1]
    place = _ops.expand_dims(_places(rows), 1)
    one = cast(_functional.eye(rows, dtype=part_of(x.dtype)), x.dtype)
    q = _ops.broadcast_to(one, (*x.shape[:-2], rows, rows))
    steps = min(rows, columns)
    for k in range(steps):
        below = _scaled(_ops.where(_ops.less(place, k), 0.0 + 0.0j, x[..., k : k + 1]))
        first, size = below[..., k : k + 1, :], _size(below)
        phase = _ops.where(_ops.equal(first, 0), 1.0 + 0.0j, sign(first))
        mirror = below + _ops.where(_ops.equal(place, k), _ops.mul(phase, size), 0.0 + 0.0j)
        whole = _ops.square(_size(mirror))
        factor = _ops.where(_ops.equal(whole, 0), 0.0, 2.0 / whole)
        scaled = _ops.mul(mirror, factor)
        x = x - _ops.matmul(scaled, _ops.matmul(adjoint(mirror), x))
        q = q - _ops.matmul(_ops.matmul(q, scaled), adjoint(mirror))
    r = _ops.triu(x)
    return (q, r) if iscomplete else (q[..., :steps], r[..., :steps, :])


def _scaled(columns):
    """The columns divided by their largest element, so that no square overflows or vanishes."""
    largest = _ops.max(_ops.abs(columns), -2, True)
    divisor = _ops.where(_ops.equal(largest, 0), 1.0, largest)
    return each_part(lambda part: part / divisor, columns)


def _size(columns):
    """The lengths of columns, along an axis of size 1."""
    return _ops.sqrt(_ops.sum(_ops.square(_ops.abs(columns)), -2, True))


def eigh(x):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices."""
    values, vectors = _ops.eigh(real_form(x))
    half = x.shape[-1]
    every = _ops.complex(vectors[..., :half, :], vectors[..., half:, :])
    chosen, _, picks = _independent(every, every, half)
    return take_along_axis(values, picks, axis=-1), chosen


def svd(x):
    """Singular values, descending, and as many orthonormal vectors of both sides."""
    u, values, vh = _ops.svd(real_form(x))
    rows, columns, count = x.shape[-2], x.shape[-1], min(x.shape[-2:])
    left = _ops.complex(u[..., :rows, :], u[..., rows:, :])
    v = vh.mT
    right = _ops.complex(v[..., :columns, :], v[..., columns:, :])
    if rows < columns:
        left, right, picks = _independent(left, right, count)
        right = _orthonormal(right)
    else:
        right, left, picks = _independent(right, left, count)
        left = _orthonormal(left)
    return left, take_along_axis(values, picks, axis=-1), adjoint(right)


def _orthonormal(columns):
    """The columns where they are orthonormal; others in the place of those of the value 0."""
    q, r = qr(columns, False)
    place = _places(r.shape[-1])
    diagonal = _ops.index_get(r, [place, place], [r.ndim - 2, r.ndim - 1])
    phase = _ops.where(_ops.equal(diagonal, 0), 1.0 + 0.0j, sign(diagonal))
    return _ops.mul(q, _ops.expand_dims(phase, -2))


def _independent(columns, others, count):
    """So many orthonormal ones of twice as many columns, the same combinations of others, and the
    indices of those that they are made of, in their order: always the longest of what is left.
    """
    kept, kept_others, picks = [], [], []
    for _ in range(count):
        size = _size(columns)
        pick = _ops.argmax(size, -1, True)
        longest = take_along_axis(size, pick, axis=-1)
        column = _ops.div(take_along_axis(columns, pick, axis=-1), longest)
        other = _ops.div(take_along_axis(others, pick, axis=-1), longest)
        share = _ops.matmul(adjoint(column), columns)
        columns = columns - _ops.matmul(column, share)
        others = others - _ops.matmul(other, share)
        kept.append(column)
        kept_others.append(other)
        picks.append(pick[..., 0, :])
    found, order = _ops.sort(_ops.concat(picks, -1))
    place = _ops.expand_dims(order, -2)
    whole = [_ops.concat(each, -1) for each in (kept, kept_others)]
    return (*(take_along_axis(each, place, axis=-1) for each in whole), found)
