"""Elements by their index."""

import math

from ... import _core
from ... import functional as _functional
from ..._core import ops as _ops
from ..registry import importer
from ..values import tensor_of
from .elementwise import cast
from .shapes import moved_last


@importer("Gather")
def _gather(node, x, indices):
    if 1 in node.constants and _core.is_recording() and x.ndim == 1 and x.dtype.kind in "iu":
        return _of_sizes(x, node.constants[1])
    return _ops.index_get(x, [indices], [node["axis"]])


def _of_sizes(x, indices):
    """By slices, which a trace follows where the elements are sizes."""
    if indices.ndim > 1 or not indices.size:
        return _ops.index_get(x, [tensor_of(indices)], [0])
    places = indices.reshape(-1).tolist()
    parts = [x[place : place + 1 if place != -1 else None] for place in places]
    return _ops.concat(parts, 0) if indices.ndim else _ops.squeeze(parts[0], [0])


@importer("GatherND")
def _gather_at(node, x, indices):
    batch = node["batch_dims"]
    depth = int(indices.shape[-1])
    index = [_ops.squeeze(part, [-1]) for part in _ops.split(indices, [1] * depth, -1)]
    index = [*_batch_places(index[0].shape, batch), *index]
    return _ops.index_get(x, index, list(range(batch + depth)))


def _batch_places(shape, count):
    """The index along each of the first axes of `shape`, which broadcasts to it."""
    places = []
    for axis in range(count):
        sizes = [1] * len(shape)
        sizes[axis] = shape[axis]
        places.append(_ops.reshape(_ops.arange(shape[axis], 0, 1, "int64"), sizes))
    return places


@importer("ScatterElements", "Scatter")
def _scatter_elements(node, x, indices, updates):
    reduction, axis = node["reduction"] or "none", node["axis"] % x.ndim
    if reduction == "none":
        return _ops.scatter(x, indices, updates, axis)
    index = _batch_places(indices.shape, x.ndim)
    index[axis] = indices
    if reduction == "mul":
        return _multiplied(x, index, updates)
    return _WRITES[reduction](x, updates, index, list(range(x.ndim)))


@importer("ScatterND")
def _scatter_at(node, x, indices, updates):
    reduction = node["reduction"] or "none"
    depth = int(indices.shape[-1])
    index = [_ops.squeeze(part, [-1]) for part in _ops.split(indices, [1] * depth, -1)]
    if reduction == "none":
        return _ops.index_set(x, updates, index, list(range(depth)))
    if reduction == "add":
        return _ops.index_add(x, updates, index, list(range(depth)))
    trailing = list(x.shape[depth:])
    if reduction != "mul":
        line = [1] * (depth - 1) + [-1]
        index = [_ops.reshape(each, line + [1] * len(trailing)) for each in index]
        updates = _ops.reshape(updates, line + trailing)
        return _WRITES[reduction](x, updates, index, list(range(depth)))
    index = [_ops.expand_dims(each, _last(len(trailing))) if trailing else each for each in index]
    places = []
    for axis in range(depth, x.ndim):
        shape = [1] * updates.ndim
        shape[updates.ndim - x.ndim + axis] = x.shape[axis]
        places.append(_ops.reshape(_ops.arange(x.shape[axis], 0, 1, "int64"), shape))
    return _multiplied(x, [*index, *places], updates)


def _last(count):
    return [-1 - each for each in range(count)]


_WRITES = {
    "add": _ops.add_along_axes,
    "max": _ops.max_along_axes,
    "min": _ops.min_along_axes,
}


def _multiplied(x, index, updates):
    """x with elements multiplied by updates, there being an index for each axis."""
    flat_index = 0
    for axis, each in enumerate(index):
        each = cast(each, "int64")
        each = _ops.where(each < 0, each + x.shape[axis], each)
        flat_index = flat_index * x.shape[axis] + each
    flat_index = _ops.flatten(_ops.copy(_ops.broadcast_to(flat_index, list(updates.shape))))
    flat = _ops.flatten(x)
    target, last = _multiplied_runs(flat_index, _ops.flatten(updates))
    old = _ops.index_get(flat, [target], [0])
    result = _ops.index_set(flat, _ops.mul(old, last), [target], [0])
    return _ops.reshape(result, list(x.shape))


def _multiplied_runs(index, values):
    """The indices in order, and for each the product so far of its run: the last of a run has all.

    A segmented scan by doubling: W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986.
    """
    index, order = _ops.sort(index)
    values = _ops.index_get(values, [order], [0])
    distance, size = 1, int(index.shape[0])
    while distance < size:
        same = _ops.equal(index[distance:], index[:-distance])
        joined = _ops.where(
            same, _ops.mul(values[distance:], values[:-distance]), values[distance:]
        )
        values = _ops.concat([values[:distance], joined], 0)
        distance *= 2
    return index, values


@importer("TensorScatter")
def _tensor_scatter(node, past, update, write=None):
    """Rows of a cache, from an index for each sequence on."""
    axis = node["axis"] % past.ndim
    length = past.shape[axis]
    index = _batch_places(update.shape, past.ndim)
    if write is not None:
        start = _ops.reshape(cast(write, "int64"), [-1, *[1] * (past.ndim - 1)])
        index[axis] = index[axis] + start
    if node["mode"] == "circular":
        index[axis] = _ops.mod(index[axis], length)
    return _ops.index_set(past, update, index, list(range(past.ndim)))


@importer("Compress")
def _compress(node, x, condition):
    axis = node["axis"]
    if axis is None:
        x, axis = _ops.flatten(x), 0
    places = _ops.flatten(_ops.non_zero(condition))
    return _ops.index_get(x, [places], [axis])


@importer("NonZero")
def _non_zero(node, x):
    return cast(_ops.transpose(_ops.non_zero(x), [1, 0]), "int64")


@importer("Unique")
def _unique(node, x):
    axis = node["axis"]
    rows, back = _ops.flatten(x), None
    if axis is not None:
        rows, back = moved_last(x, axis)
    inverse = _ops.flatten(_dense_ranks(rows))
    counts = cast(_functional.unique(inverse, return_counts=True)[1], "int64")
    first = _first_places(inverse, counts)
    if not node["sorted"]:
        order = _ops.sort(first)[1]
        places = _ops.cumsum(_ops.ones_like(counts), 0, True)
        ranks = _ops.index_set(_ops.zeros_like(counts), places, [order], [0])
        first, counts = (_ops.index_get(each, [order], [0]) for each in (first, counts))
        inverse = _ops.index_get(ranks, [inverse], [0])
    found = _ops.index_get(x if back else rows, [first], [axis if back else 0])
    return found, first, cast(inverse, "int64"), cast(counts, "int64")


def _first_places(inverse, counts):
    """The first position of each rank: of several written ones the last wins."""
    positions = _ops.flip(_ops.arange(inverse.shape[0], 0, 1, "int64"), [0])
    nothing = _ops.zeros_like(counts)
    return _ops.index_set(nothing, positions, [_ops.flip(inverse, [0])], [0])


def _dense_ranks(x):
    """The rank of each slice along the last axis, in the order of their elements, from 0."""
    if x.ndim == 1:
        return _functional.unique(x, return_inverse=True)[1]
    columns = _ops.reshape(x, (-1, x.shape[-1]))
    ranks = _ops.full([x.shape[-1]], 0, "int64")
    for row in range(int(math.prod(x.shape[:-1]))):
        own = _functional.unique(columns[row], return_inverse=True)[1]
        pair = ranks * x.shape[-1] + cast(own, "int64")
        ranks = cast(_functional.unique(pair, return_inverse=True)[1], "int64")
    return ranks


@importer("TfIdfVectorizer")
def _tf_idf(node, x):
    """How often each n-gram of a pool of integers stands in a row."""
    if node["pool_strings"]:
        node.refuse("pool must be of integers", "pool_strings")
    rows = x if x.ndim == 2 else _ops.reshape(x, (1, -1))
    counts, width = [], max(node["ngram_indexes"]) + 1
    weights = node["weights"] or [1.0] * len(node["ngram_indexes"])
    columns = [_ops.full([rows.shape[0], 1], 0, "float32")] * width
    for place, gram in enumerate(_grams(node)):
        counts = _count(node, rows, gram)
        columns[node["ngram_indexes"][place]] = _weighted(node["mode"], counts, weights[place])
    result = _ops.concat(columns, 1)
    return result if x.ndim == 2 else _ops.reshape(result, (width,))


def _weighted(mode, counts, weight):
    if mode == "TF":
        return counts
    present = cast(counts > 0, "float32")
    return (present if mode == "IDF" else counts) * float(weight)


def _grams(node):
    """The n-grams of the pool in their order."""
    pool, starts = node["pool_int64s"], [*node["ngram_counts"], len(node["pool_int64s"])]
    for length, (start, end) in enumerate(zip(starts, starts[1:], strict=False), 1):
        for first in range(start, end, length):
            yield pool[first : first + length]


def _count(node, rows, gram):
    """float32[N, 1]: how often `gram` stands in each row, up to max_skip_count left out between."""
    total = _ops.full([rows.shape[0], 1], 0, "float32")
    size = int(rows.shape[1])
    if not node["min_gram_length"] <= len(gram) <= node["max_gram_length"]:
        return total
    skips = range(1, node["max_skip_count"] + 2) if len(gram) > 1 else [1]
    for distance in skips:
        starts = size - distance * (len(gram) - 1)
        if starts <= 0:
            continue
        hits = _ops.full([rows.shape[0], starts], 1, "bool")
        for place, item in enumerate(gram):
            part = rows[:, place * distance : place * distance + starts]
            hits = _ops.logical_and(hits, _ops.equal(part, int(item)))
        total = total + _ops.sum(cast(hits, "float32"), [1], True)
    return total
