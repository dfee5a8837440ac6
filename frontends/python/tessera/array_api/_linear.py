"""Products of vectors, matrices and tensors."""

from .._core import ops as _ops
from ._integers import matmul as _integer_matmul
from ._manipulation import axes_of


def matmul(x1, x2, /):
    """The matrix product over the last two axes; leading axes broadcast, vectors get an axis.

    ValueError: the inner sizes must be equal, and each operand must have an axis.
    """
    areints = x1.dtype.kind in "iu" and x2.dtype.kind in "iu"
    return _integer_matmul(x1, x2) if areints else _ops.matmul(x1, x2)


def matrix_transpose(x, /):
    """The last two axes exchanged. ValueError: there must be two."""
    return x.mT


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of the products along `axis`, those of x1 conjugated; other axes broadcast.

    ValueError: the sizes along axis must be equal.
    """
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(
            "vecdot: sizes along axis must be equal, got "
            f"{tuple(x1.shape)} and {tuple(x2.shape)} for axis {axis}"
        )
    left = _ops.conj(x1) if x1.dtype.kind == "c" else x1
    return _ops.sum(_ops.mul(left, x2), axis if axis < 0 else axis - x1.ndim)


def tensordot(x1, x2, /, *, axes=2):
    """The sum of the products over axes: the last of x1 with the first of x2, so many, or those of
    the two lists.

    ValueError: the sizes of such axes must be equal.
    """
    if isinstance(axes, int):
        ours, theirs = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        ours = axes_of(tuple(axes[0]), x1.ndim, "tensordot")
        theirs = axes_of(tuple(axes[1]), x2.ndim, "tensordot")
    if [x1.shape[axis] for axis in ours] != [x2.shape[axis] for axis in theirs]:
        raise ValueError(
            "tensordot: sizes of contracted axes must be equal, got "
            f"{tuple(x1.shape)} and {tuple(x2.shape)} for axes {axes}"
        )
    kept1 = [axis for axis in range(x1.ndim) if axis not in ours]
    kept2 = [axis for axis in range(x2.ndim) if axis not in theirs]
    count, outer = 1, [x1.shape[axis] for axis in kept1] + [x2.shape[axis] for axis in kept2]
    for axis in ours:
        count = count * x1.shape[axis]
    rows = _ops.reshape(_ops.transpose(x1, [*kept1, *ours]), (_size(x1, kept1), count))
    columns = _ops.reshape(_ops.transpose(x2, [*theirs, *kept2]), (count, _size(x2, kept2)))
    return _ops.reshape(matmul(rows, columns), outer)


def _size(x, axes):
    size = 1
    for axis in axes:
        size = size * x.shape[axis]
    return size
