"""Poolings: by records where windows are plain ones, else by the parts of the windows."""

import copy
import functools
import math

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast, constant_like, is_float
from .windows import Windows


def _is_plain(windows, x):
    """Whether a record has such windows."""
    floors = not windows.ceil and windows.is_even() and set(windows.dilations) <= {1}
    axes = zip(windows.low, windows.kernel, strict=True)
    return floors and is_float(x) and x.ndim <= 5 and all(low < size for low, size in axes)


@importer("MaxPool")
def _max_pool(node, x):
    windows = Windows(node, x.shape[2:], node["kernel_shape"])
    wants_indices = len(node.outputs) > 1 and node.outputs[1]
    if _is_plain(windows, x) and not wants_indices:
        function = getattr(_ops, f"max_pool{x.ndim - 2}d")
        return function(x, windows.kernel, windows.strides, windows.low)
    lowest = -math.inf if is_float(x) else float(_lowest(x.dtype))
    out = functools.reduce(_ops.maximum, windows.parts(x, lowest))
    return (out, _max_indices(node, x, out, windows, lowest)) if wants_indices else out


def _lowest(dtype):
    return 0 if dtype.kind == "u" else -(1 << 8 * dtype.itemsize - 1)


def _max_indices(node, x, out, windows, lowest):
    """Where in the whole tensor each largest element stands, the first of equal ones."""
    places = _ops.reshape(_ops.arange(math.prod(x.shape), 0, 1, "int64"), list(x.shape))
    if node["storage_order"]:
        places = _column_major(x)
    inner = _ops.pad(cast(places, "float64"), [0] * x.ndim, [0] * x.ndim, 0.0)
    index = _ops.full(list(out.shape), -1, "int64")
    pairs = zip(windows.parts(x, lowest), windows.parts(inner, -1.0), strict=True)
    for part, place in pairs:
        place = cast(place, "int64")
        first = _ops.logical_and(_ops.equal(part, out), _ops.logical_and(index < 0, place >= 0))
        index = _ops.where(first, place, index)
    return index


def _column_major(x):
    """The number of each element where the first spatial axis goes fastest."""
    places, stride = 0, 1
    for axis in [*range(2, x.ndim), 1, 0]:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        places = places + _ops.reshape(_ops.arange(x.shape[axis], 0, stride, "int64"), shape)
        stride = stride * x.shape[axis]
    return places


@importer("AveragePool")
def _average_pool(node, x):
    windows = Windows(node, x.shape[2:], node["kernel_shape"])
    counts_border = bool(node["count_include_pad"])
    if _is_plain(windows, x):
        function = getattr(_ops, f"avg_pool{x.ndim - 2}d")
        return function(x, windows.kernel, windows.strides, windows.low, counts_border)
    total = functools.reduce(_ops.add, windows.parts(x, 0.0))
    return total / _window_sizes(x, windows, counts_border)


def _window_sizes(x, windows, counts_border):
    """[1, 1, *counts]: how many elements of each window count; those over the end never do."""
    ones = _ops.full([1, 1, *x.shape[2:]], 1, x.dtype.name)
    if counts_border:
        ones = _ops.pad(ones, [0, 0, *windows.low], [0, 0, *windows.high], 1.0)
    inner = _without_border(windows) if counts_border else windows
    return functools.reduce(_ops.add, inner.parts(ones, 0.0))


def _without_border(windows):
    """The same windows over an input that has its borders already."""
    inner = copy.copy(windows)
    axes = zip(windows.sizes, windows.low, windows.high, strict=True)
    inner.sizes = [size + low + high for size, low, high in axes]
    inner.low = inner.high = [0] * len(inner.sizes)
    counts = windows.counts()
    inner.counts = lambda: counts
    return inner


@importer("LpPool")
def _lp_pool(node, x):
    windows = Windows(node, x.shape[2:], node["kernel_shape"])
    p = node["p"]
    powers = (_power(part, p) for part in windows.parts(x, 0.0))
    return _root(functools.reduce(_ops.add, powers), p)


def _power(x, p):
    return _ops.square(x) if p == 2 else _ops.pow(_ops.abs(x), constant_like(x, p))


def _root(x, p):
    return _ops.sqrt(x) if p == 2 else _ops.pow(x, constant_like(x, 1 / p))


def _spatial(x):
    return list(range(2, x.ndim))


@importer("GlobalAveragePool")
def _global_average(node, x):
    return _ops.mean(x, _spatial(x), True)


@importer("GlobalMaxPool")
def _global_max(node, x):
    return _ops.max(x, _spatial(x), True)


@importer("GlobalLpPool")
def _global_lp(node, x):
    return _ops.norm(x, _spatial(x), True, float(node["p"]))


@importer("MaxUnpool")
def _max_unpool(node, x, indices, shape=None):
    windows = Windows(node, x.shape[2:], node["kernel_shape"])
    sizes = []
    for axis, count in enumerate(x.shape[2:]):
        border = windows.low[axis] + windows.high[axis]
        sizes.append((count - 1) * windows.strides[axis] - border + windows.kernel[axis])
    own = [*x.shape[:2], *sizes]
    out = _ops.full([math.prod(own)], 0, x.dtype.name)
    out = _ops.index_set(out, _ops.flatten(x), [_ops.flatten(indices)], [0])
    out = _ops.reshape(out, own)
    if shape is None:
        return out
    high = [wanted - size for wanted, size in zip(node.sizes(2, shape), own, strict=True)]
    return _ops.pad(out, [0] * x.ndim, high, 0.0)


@importer("MaxRoiPool")
def _max_roi_pool(node, x, rois):
    shape = list(node["pooled_shape"])
    return _ops.roi_pooling(x, rois, shape, "max", float(node["spatial_scale"]))
