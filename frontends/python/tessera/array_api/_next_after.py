"""The neighbours of a number among those of its dtype."""

from .._core import ops as _ops
from ._dtypes import finfo, result_type
from ._integers import tensor_of


def next_after(x1, x2):
    """The next number after x1 in the direction of x2; x2 where they are equal."""
    dtype = result_type(x1, x2)
    start, target = tensor_of(x1, dtype), tensor_of(x2, dtype)
    largest = finfo(dtype).max
    isup = _ops.greater(target, start)
    step = _ops.astype(_ops.where(isup, 1.0, -1.0), dtype)
    near = _moved(start, step, finfo(dtype))
    near = _ops.where(_ops.equal(near, 0), _ops.mul(start, 0.0), near)  # has the sign of start
    fromend = _ops.where(_ops.isinf(start), -step * largest, near)
    isother = _ops.logical_or(isup, _ops.less(target, start))
    return _ops.where(isother, fromend, _same(start, target))


def _same(start, target):
    """The target where both are equal, else NaN, which one of them is."""
    return _ops.where(_ops.equal(start, target), target, _ops.maximum(start, target))


def _moved(x, step, facts):
    """One number on from finite x, by arithmetic that rounds to nearest: in three ranges, each
    with the distance that no rounding takes away.
    """
    unit = facts.eps / 2
    smallest = facts.smallest_normal * facts.eps
    factor = unit * (1 + facts.eps)
    size = _ops.abs(x)
    normal = x + step * (size * factor)
    scaled = _ops.mul(x, 1 / unit)
    between = (scaled + step * (_ops.abs(scaled) * factor)) * unit
    tiny = x + step * smallest
    isnormal = _ops.greater_equal(size, smallest / unit**2 / 2)  # half of smallest is 0 in float64
    istiny = _ops.less(size, smallest / unit)
    return _ops.where(isnormal, normal, _ops.where(istiny, tiny, between))
