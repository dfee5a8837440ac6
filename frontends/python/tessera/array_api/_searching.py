"""Where elements are, sorted elements, and distinct ones."""

from collections import namedtuple

from .. import functional as _functional
from .._core import ops as _ops
from ._dtypes import INDEX, bool, cast, uint8
from ._manipulation import index_tensor

unique_all_result = namedtuple(
    "unique_all_result", ["values", "indices", "inverse_indices", "counts"]
)
unique_counts_result = namedtuple("unique_counts_result", ["values", "counts"])
unique_inverse_result = namedtuple("unique_inverse_result", ["values", "inverse_indices"])


def argmax(x, /, *, axis=None, keepdims=False):
    """The index of the first largest element along `axis`, int32; flattened without one."""
    return _functional.argmax(x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """The index of the first smallest element along `axis`, int32; flattened without one."""
    return _functional.argmin(x, axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero, int32."""
    counted = cast(x if x.dtype == bool else _ops.not_equal(x, 0), INDEX)
    return _ops.sum(counted, axis, keepdims) if axis != () else counted


def nonzero(x, /):
    """The indices of the elements that are not zero, int32, a tensor for each axis.

    ValueError: x must have an axis.
    """
    if x.ndim == 0:
        raise ValueError("nonzero: x must have at least one axis, got 0")
    rows = _ops.non_zero(x)
    return tuple(rows[:, axis] for axis in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where the elements of x2 would stand in the sorted vector x1, int32.

    `sorter` has the order of an x1 that is not sorted. ValueError: side must be "left" or "right".
    """
    if sorter is not None:
        x1 = _ops.index_get(x1, [index_tensor(sorter)], [0])
    found = _ops.searchsorted(x1, _ops.flatten(x2), side)
    return _ops.reshape(found, x2.shape)


def where(condition, x1, x2, /):
    """x1 where the condition is true, x2 elsewhere."""
    return _ops.where(condition, x1, x2)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along `axis`; NaN is above every number."""
    return _sorted(x, axis, descending, 0)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Where the elements in order along `axis` were, int32; equal ones keep their order."""
    return _sorted(x, axis, descending, 1)


def _sorted(x, axis, descending, result):
    if axis in (-1, x.ndim - 1):
        return _ops.sort(x, descending)[result]
    return _ops.swapaxes(_ops.sort(_ops.swapaxes(x, axis, -1), descending)[result], axis, -1)


def unique_all(x, /):
    """The distinct elements in order, where each is first, which of them each element is, and how
    often each occurs; the indices int32. Each NaN is one of its own.
    """
    values, first, inverse, counts = _unique(x)
    return unique_all_result(values, first, inverse, counts)


def unique_counts(x, /):
    """The distinct elements in order, and how often each occurs, as `unique_all`."""
    values, _, _, counts = _unique(x)
    return unique_counts_result(values, counts)


def unique_inverse(x, /):
    """The distinct elements in order, and which of them each element is, as `unique_all`."""
    values, _, inverse, _ = _unique(x)
    return unique_inverse_result(values, inverse)


def unique_values(x, /):
    """The distinct elements in order, as `unique_all`."""
    return _unique(x)[0]


def _order(flat):
    """The stable order; of complex numbers by their real parts, then by the others."""
    if flat.dtype == bool:
        return _ops.sort(cast(flat, uint8))[1]
    if flat.dtype.kind != "c":
        return _ops.sort(flat)[1]
    order = _ops.sort(_ops.imag(flat))[1]
    places = _ops.sort(_ops.index_get(_ops.real(flat), [order], [0]))[1]
    return _ops.index_get(order, [places], [0])


def _unique(x):
    flat = _ops.flatten(x)
    order = _order(flat)
    values = _ops.index_get(flat, [order], [0])
    first = _ops.concat([order[:1] >= 0, _ops.not_equal(values[1:], values[:-1])])
    group = _ops.cumsum(cast(first, INDEX), 0) - 1
    inverse = _ops.scatter(_ops.zeros_like(order), order, group)
    starts = _ops.mask_get(order, first)
    counts = _ops.index_add(_ops.zeros_like(starts), _ops.ones_like(group), [group], [0])
    return _ops.mask_get(values, first), starts, _ops.reshape(inverse, x.shape), counts
