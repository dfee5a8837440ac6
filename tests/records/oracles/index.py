"""Oracles of indexing, sorting and searching."""

import functools

import numpy as np


def _scattered(function, x, index, source, axis):
    out = x.copy()
    for place in np.ndindex(index.shape):
        target = list(place)
        target[axis] = index[place]
        out[tuple(target)] = function(out[tuple(target)], source[place])
    return out


scatter = functools.partial(_scattered, lambda old, new: new)
scatter_add = functools.partial(_scattered, np.add)
scatter_max = functools.partial(_scattered, np.maximum)
scatter_min = functools.partial(_scattered, np.minimum)


def searchsorted(sorted, values, side):
    """Line by line."""
    batch = np.broadcast_shapes(sorted.shape[:-1], values.shape[:-1])
    lines, values = (np.broadcast_to(x, batch + x.shape[-1:]) for x in (sorted, values))
    out = np.zeros(values.shape, np.int32)
    for i in np.ndindex(batch):
        out[i] = np.searchsorted(lines[i], values[i], side)
    return out


def bincount(x, weights, length):
    """NumPy's, of one length."""
    return np.bincount(x, weights, length).astype(weights.dtype)


def _index(x, indices, axes):
    index = [slice(None)] * x.ndim
    for axis, entries in zip(axes, indices, strict=True):
        index[axis] = entries
    return tuple(index)


def index_get(x, indices, axes):
    """Elements by arrays of indices."""
    return x[_index(x, indices, axes)]


def _along(x, indices, axes, elements=()):
    whole = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    shape = np.broadcast_shapes(elements, whole, *(index.shape for index in indices))
    places = [np.arange(size) for size in shape]
    places = [
        place if size != 1 else place * 0 for place, size in zip(places, x.shape, strict=True)
    ]
    places = list(np.ix_(*places))
    for axis, index in zip(axes, indices, strict=True):
        places[axis] = index
    return tuple(np.broadcast_to(place, shape) for place in places)


def take_along_axes(x, indices, axes):
    """Elements at indices that have the axes of the result."""
    return x[_along(x, indices, axes)]


def add_along_axes(x, value, indices, axes):
    """A copy with values added at indices that have their axes."""
    out = x.copy()
    np.add.at(out, _along(x, indices, axes, value.shape), value)
    return out


def set_along_axes(x, value, indices, axes):
    """A copy with elements replaced at indices that have the axes of the values."""
    out = x.copy()
    out[_along(x, indices, axes, value.shape)] = value
    return out


def _extreme_along_axes(function, x, value, indices, axes):
    out = x.copy()
    function.at(out, _along(x, indices, axes, value.shape), value)
    return out


max_along_axes = functools.partial(_extreme_along_axes, np.maximum)
min_along_axes = functools.partial(_extreme_along_axes, np.minimum)


def index_set(x, value, indices, axes):
    """A copy with elements replaced."""
    out = x.copy()
    out[_index(x, indices, axes)] = value
    return out


def index_add(x, value, indices, axes):
    """A copy with values added to elements, every one."""
    out = x.copy()
    places = _index(x, indices, axes)
    np.add.at(out, places, np.broadcast_to(value, x[places].shape))
    return out


def argsort(x, descending):
    """Sorted elements and their places; equal ones keep their order."""
    key = -x.astype(np.float64) if descending else x
    order = np.argsort(key, axis=-1, kind="stable").astype(np.int32)
    return np.take_along_axis(x, order, -1), order


def topk(x, k, descending):
    """The first k of argsort."""
    return tuple(each[..., :k] for each in argsort(x, descending))


def indexing_one_hot(x, index, axis, keepdims):
    """The element of the given index along an axis."""
    picked = np.take_along_axis(x, np.expand_dims(index, axis), axis)
    return picked if keepdims else picked.squeeze(axis)
