"""Shapes, places and indices."""

import numpy as np

from ..writer import exporter


@exporter("reshape", "flatten", "reshape_like")
def _reshape(writer, row, x, like=None):
    shape = row.results[0].shape
    if 0 in shape:
        return writer.node("Reshape", [x, writer.ints(shape)], allowzero=1)
    if shape.count(None) == 1:
        shape = [-1 if size is None else size for size in shape]
    return writer.node("Reshape", [x, _shape_or_like(writer, shape, like)])


def _shape_or_like(writer, shape, like):
    if like is not None and None in shape:
        return writer.node("Shape", [like])
    return writer.ints(shape)


@exporter("broadcast_to", "broadcast_like")
def _broadcast(writer, row, x, like=None):
    """An axis of unknown size stays as it is in x: 1 says so."""
    shape = [1 if size is None and like is None else size for size in row.results[0].shape]
    return writer.node("Expand", [x, _shape_or_like(writer, shape, like)])


@exporter("transpose")
def _transpose(writer, row, x):
    order = list(row["pattern"]) or list(reversed(range(len(x.shape))))
    return writer.node("Transpose", [x], perm=order) if order else writer.node("Identity", [x])


@exporter("swapaxes")
def _swapaxes(writer, row, x):
    order = list(range(len(x.shape)))
    a, b = row["axis1"], row["axis2"]
    order[a], order[b] = order[b], order[a]
    return writer.node("Transpose", [x], perm=order)


@exporter("expand_dims")
def _expand_dims(writer, row, x):
    return writer.node("Unsqueeze", [x, writer.ints(row["axis"])])


@exporter("squeeze")
def _squeeze(writer, row, x):
    axes = list(row["axis"]) or [axis for axis, size in enumerate(x.shape) if size == 1]
    return writer.node("Squeeze", [x, writer.ints(axes)]) if axes else writer.node("Identity", [x])


@exporter("slice")
def _slice(writer, row, x):
    if not x.shape:
        return writer.node("Identity", [x])
    steps = list(row["steps"]) or [1] * len(x.shape)
    limits = [row["starts"], row["stops"], range(len(x.shape)), steps]
    return writer.node("Slice", [x, *(writer.ints(each) for each in limits)])


@exporter("concat")
def _concat(writer, row, inputs):
    return writer.node("Concat", inputs, axis=row["axis"])


@exporter("split")
def _split(writer, row, x):
    sizes = list(row["sections"])
    return writer.node("Split", [x, writer.ints(sizes)], outputs=len(sizes), axis=row["axis"])


@exporter("pad")
def _pad(writer, row, x):
    if not x.shape:
        return writer.node("Identity", [x])
    pads = writer.ints([*row["low"], *row["high"]])
    return writer.node("Pad", [x, pads, writer.constant(row["value"], x.dtype)])


@exporter("tile")
def _tile(writer, row, x):
    added = len(row["reps"]) - len(x.shape)
    if added > 0:
        x = writer.node("Unsqueeze", [x, writer.ints(range(added))])
    return writer.node("Tile", [x, writer.ints([1] * -added + list(row["reps"]))])


@exporter("roll")
def _roll(writer, row, x):
    axis, size = row["axis"], x.shape[row["axis"]]
    shift = row["shift"] % size if size else 0
    if not shift:
        return writer.node("Identity", [x])
    sizes = writer.ints([size - shift, shift])
    head, tail = writer.node("Split", [x, sizes], outputs=2, axis=axis)
    return writer.node("Concat", [tail, head], axis=axis)


@exporter("flip")
def _flip(writer, row, x):
    axes = list(row["axes"])
    if not axes:
        return writer.node("Identity", [x])
    count = len(axes)
    limits = [[-1] * count, [-(1 << 62)] * count, axes, [-1] * count]
    return writer.node("Slice", [x, *(writer.ints(each) for each in limits)])


@exporter("full")
def _full(writer, row):
    return _filled(writer, list(row["shape"]), row["value"], row.results[0].dtype)


@exporter("full_like")
def _full_like(writer, row, x):
    return _filled(writer, x.shape, row["value"], x.dtype, x)


def _filled(writer, shape, value, dtype, like=None):
    number = writer.constant(value, dtype)
    return writer.node("Expand", [number, _shape_or_like(writer, shape, like)]) if shape else number


@exporter("scalar_tensor")
def _scalar_tensor(writer, row):
    if not isinstance(row["value"], str):
        return writer.constant(row["value"], row.results[0].dtype)
    size = writer.node("Squeeze", [writer.sizes.name_of(row["value"]), writer.ints([0])])
    return writer.cast(size, row.results[0].dtype)


@exporter("arange")
def _arange(writer, row):
    if isinstance(row["num"], str):
        return _counted(writer, row)
    values = row["start"] + row["step"] * np.arange(row["num"])
    return writer.constant(values, row.results[0].dtype)


def _counted(writer, row):
    """start + step * i for a number of i that is a size."""
    dtype = row.results[0].dtype
    count = writer.node("Squeeze", [writer.sizes.name_of(row["num"]), writer.ints([0])])
    zero, one = (writer.constant(value, "int64") for value in (0, 1))
    places = writer.cast(writer.node("Range", [zero, count, one]), dtype)
    scaled = writer.node("Mul", [places, writer.constant(row["step"], dtype)])
    return writer.node("Add", [scaled, writer.constant(row["start"], dtype)])


@exporter("eye")
def _eye(writer, row):
    return writer.constant(np.eye(row["n"], row["m"]), row.results[0].dtype)


@exporter("embedding")
def _embedding(writer, row, weight, ids):
    return writer.node("Gather", [weight, ids], axis=0)


@exporter("index_get")
def _index_get(writer, row, x, indices):
    axes = list(row["axes"])
    if len(axes) == 1:
        return writer.node("Gather", [x, indices[0]], axis=axes[0])
    order, is_run = _axes_first(x, axes)
    moved = writer.node("Transpose", [x], perm=order)
    index, shape = _joined(writer, indices)
    out = writer.node("GatherND", [moved, index])
    rest = len(x.shape) - len(axes)
    if not is_run or not rest or not axes[0]:
        return out
    count, before = len(shape), axes[0]
    places = [*range(count, count + before), *range(count), *range(count + before, count + rest)]
    return writer.node("Transpose", [out], perm=places)


def _axes_first(x, axes):
    """(an order of axes with `axes` first, whether they are neighbours in ascending order)."""
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    is_run = axes == list(range(axes[0], axes[0] + len(axes)))
    return [*axes, *rest], is_run


def _joined(writer, indices):
    """(int64 [..., number of indices], the shape that they broadcast to)."""
    shape = np.broadcast_shapes(*(each.shape for each in indices))
    return _stacked(writer, [writer.cast(each, "int64") for each in indices], shape), shape


def _stacked(writer, parts, shape):
    parts = [
        writer.node(
            "Unsqueeze", [writer.node("Expand", [part, writer.ints(shape)]), writer.ints([-1])]
        )
        for part in parts
    ]
    return writer.node("Concat", parts, axis=-1)


def _want_numbers(sizes):
    if not all(isinstance(size, int) for size in sizes):
        raise NotImplementedError("sizes must be numbers")


def _coordinates(writer, row, x, indices, elements=()):
    """int64 [*elements, rank of x]: the indices along `axes`, else where an element stands."""
    _want_numbers([*elements, *(size for each in (x, *indices) for size in each.shape)])
    rank, parts = len(x.shape), []
    axes = [axis % rank for axis in row["axes"]]
    whole = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    for axis, size in enumerate(x.shape):
        if axis in axes:
            parts.append(writer.cast(indices[axes.index(axis)], "int64"))
            continue
        line = np.arange(size).reshape([-1 if other == axis else 1 for other in range(rank)])
        parts.append(writer.constant(line, "int64"))
    shape = np.broadcast_shapes(elements, whole, *(each.shape for each in indices))
    return _stacked(writer, parts, shape)


@exporter("take_along_axes")
def _take_along_axes(writer, row, x, indices):
    return writer.node("GatherND", [x, _coordinates(writer, row, x, indices)])


# ONNX's reduction of records that write at indices; None: the value replaces the element.
_REDUCTIONS = {
    "set_along_axes": None,
    "add_along_axes": "add",
    "max_along_axes": "max",
    "min_along_axes": "min",
    "scatter_add": "add",
    "scatter_max": "max",
    "scatter_min": "min",
    "index_set": None,
    "index_add": "add",
}


@exporter("set_along_axes", "add_along_axes", "max_along_axes", "min_along_axes")
def _write_along_axes(writer, row, x, value, indices):
    inputs = [x, _coordinates(writer, row, x, indices, value.shape), value]
    return writer.node("ScatterND", inputs, reduction=_REDUCTIONS[row.name])


@exporter("scatter_add", "scatter_max", "scatter_min")
def _scatter_reduced(writer, row, x, index, source):
    inputs, reduction = [x, index, source], _REDUCTIONS[row.name]
    return writer.node("ScatterElements", inputs, axis=row["axis"], reduction=reduction)


@exporter("index_set", "index_add")
def _index_write(writer, row, x, value, indices):
    axes = list(row["axes"])
    order, is_run = _axes_first(x, axes)
    index, shape = _joined(writer, indices)
    before = axes[0] if is_run else 0
    rest = [x.shape[axis] for axis in range(len(x.shape)) if axis not in axes]
    whole = [*rest[:before], *shape, *rest[before:]]
    updates = writer.node("Expand", [value, writer.ints(whole)])
    count = len(shape)
    places = [*range(before, before + count), *range(before), *range(before + count, len(whole))]
    updates = writer.node("Transpose", [updates], perm=places)
    moved = writer.node("Transpose", [x], perm=order)
    out = writer.node("ScatterND", [moved, index, updates], reduction=_REDUCTIONS[row.name])
    back = [order.index(axis) for axis in range(len(order))]
    return writer.node("Transpose", [out], perm=back)


@exporter("slice_set")
def _slice_set(writer, row, x, value):
    """The elements of a slice are those whose number a slice of all numbers has."""
    steps = list(row["steps"]) or [1] * len(x.shape)
    _want_numbers((*row["starts"], *row["stops"], *x.shape))
    zipped = zip(row["starts"], row["stops"], steps, x.shape, strict=True)
    cuts = [
        range(n)[slice(a, None if step < 0 and b < -n else b, step)] for a, b, step, n in zipped
    ]
    grid = np.stack(np.meshgrid(*(np.array(cut, "int64") for cut in cuts), indexing="ij"), -1)
    updates = writer.node("Expand", [value, writer.ints(grid.shape[:-1])])
    return writer.node("ScatterND", [x, writer.constant(grid), updates])


@exporter("non_zero")
def _non_zero(writer, row, x):
    raise NotImplementedError("sizes must not depend on data")
