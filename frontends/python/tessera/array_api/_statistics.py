"""Sums, products, extrema, means and questions over axes, and running ones along an axis."""

from .._core import ops as _ops
from ._dtypes import bool, to_sum, uint8
from ._manipulation import axes_of, axis_of


def _reduced(operator, x, axis, keepdims):
    """The reduction over the axes, of which there may be none."""
    return operator(x, axis, keepdims) if axis != () or x.ndim == 0 else _ops.copy(x)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum, in the given dtype; small integers become int32 or uint32, and wrap around."""
    return _reduced(_ops.sum, to_sum(x, dtype), axis, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product, in the given dtype; small integers become int32 or uint32, and wrap around."""
    wide = to_sum(x, dtype)
    operator = _complex_prod if wide.dtype.kind == "c" else _ops.prod
    return _reduced(operator, wide, axis, keepdims)


def _complex_prod(x, axis, keepdims):
    """The halves multiplied, until one number is left along the axes: with ones as many as a power
    of 2, because the compiler takes long for concatenations within each other.
    """
    axes = axes_of(axis, x.ndim, "prod")
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = _ops.flatten(_ops.transpose(x, [*kept, *axes]), len(kept)) if axes else x[None]
    size, count = rows.shape[-1], 1
    while count < size:
        count *= 2
    if count != size:
        rows = _ops.concat([rows, _ops.full([*rows.shape[:-1], count - size], 1, x.dtype)], -1)
    while count > 1:
        count //= 2
        rows = _ops.mul(rows[..., :count], rows[..., count:])
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    whole = _ops.reshape(rows, shape)
    return whole if keepdims or not axes else _ops.squeeze(whole, axes)


def max(x, /, *, axis=None, keepdims=False):
    """The largest element; NaN if one is. ValueError: there must be one."""
    return _reduced(_ops.max, x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest element; NaN if one is. ValueError: there must be one."""
    return _reduced(_ops.min, x, axis, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """The arithmetic mean; NaN of no elements."""
    return _reduced(_ops.mean, x, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The sum of squared distances from the mean, over n - correction."""
    axes = axes_of(axis, x.ndim, "var")
    count = 1
    for each in axes:
        count = count * x.shape[each]
    isempty = not axes and x.ndim
    whole = _ops.sub(x, x) if isempty else _ops.var(x, axes, keepdims)
    if correction == 0:
        return whole
    number = _ops.scalar_tensor(count, x.dtype)
    return _ops.div(_ops.mul(whole, number), _ops.maximum(number - correction, 0.0))


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The square root of `var`."""
    return _ops.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements are true or not zero; true of none."""
    return _truth(_ops.min, x, axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Whether one element is true or not zero; false of none."""
    return _truth(_ops.max, x, axis, keepdims)


def _truth(operator, x, axis, keepdims):
    marks = _ops.astype(x if x.dtype == bool else _ops.not_equal(x, 0), uint8)
    whole = operator(marks, axis, keepdims, True) if axis != () or x.ndim == 0 else marks
    return _ops.not_equal(whole, 0)


def _running(x, axis, dtype, name):
    """The tensor in the dtype of the result, and the axis that may be missing of a vector."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given unless there is one axis, got {x.ndim} axes")
    axis = axis_of(0 if axis is None else axis, x.ndim, name)
    return to_sum(x, dtype), axis


def _with_initial(whole, axis, value):
    """With a row of `value` before the first one."""
    shape = [1 if i == axis else size for i, size in enumerate(whole.shape)]
    return _ops.concat([_ops.full(shape, value, whole.dtype), whole], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The sums up to each element along `axis`, which a vector needs not say; a first 0 by
    `include_initial`. Small integers become int32 or uint32.
    """
    wide, axis = _running(x, axis, dtype, "cumulative_sum")
    whole = _ops.cumsum(wide, axis)
    return _with_initial(whole, axis, 0) if include_initial else whole


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The products up to each element along `axis`, which a vector needs not say; a first 1 by
    `include_initial`. Small integers become int32 or uint32.
    """
    wide, axis = _running(x, axis, dtype, "cumulative_prod")
    iscomplex = wide.dtype.kind == "c"
    whole = _complex_cumprod(wide, axis) if iscomplex else _ops.cumprod(wide, axis)
    return _with_initial(whole, axis, 1) if include_initial else whole


def _complex_cumprod(x, axis):
    """Each number times the one at a distance of 1, then 2, 4 and so on: W. Hillis, G. Steele: Data
    parallel algorithms, Communications of the ACM 29, 1986.
    """
    before, distance = (slice(None),) * axis, 1
    while distance < x.shape[axis]:
        later = _ops.mul(x[(*before, slice(distance, None))], x[(*before, slice(None, -distance))])
        x = _ops.concat([x[(*before, slice(None, distance))], later], axis)
        distance *= 2
    return x


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """The differences of neighbours along `axis`, n times, after what comes before and behind.

    ValueError: n must not be negative.
    """
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    axis = axis_of(axis, x.ndim, "diff")
    given = [each for each in (prepend, x, append) if each is not None]
    x = _ops.concat(given, axis) if len(given) > 1 else x
    before = (slice(None),) * axis
    differ = _ops.not_equal if x.dtype == bool else _ops.sub
    for _ in range(n):
        x = differ(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x
