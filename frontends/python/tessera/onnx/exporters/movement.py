"""Shapes, places and indices."""

import numpy as np

from ..sizes import broadcast, minus, remainder
from ..writer import exporter

_ALLOWS_ZERO = 14  # the opset whose Reshape takes a 0 for a size


@exporter("reshape", "flatten", "reshape_like")
def _reshape(writer, row, x, like=None):
    shape = row.results[0].shape
    if 0 in shape:
        return writer.node("Reshape", [x, writer.ints(shape)], allowzero=1)
    if shape.count(None) == 1 and like is None:
        shape = [-1 if size is None else size for size in shape]
    elif any(isinstance(size, str) for size in shape) and writer.opset >= _ALLOWS_ZERO:
        return writer.node("Reshape", [x, _shape_or_like(writer, shape, like)], allowzero=1)
    return writer.node("Reshape", [x, _shape_or_like(writer, shape, like)])


def _shape_or_like(writer, shape, like):
    if like is not None and None in shape:
        return writer.node("Shape", [like])
    return writer.ints(shape)


@exporter("broadcast_to", "broadcast_like")
def _broadcast(writer, row, x, like=None):
    return writer.node("Expand", [x, _shape_or_like(writer, row.results[0].shape, like)])


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


_END = (1 << 63) - 1  # of any axis


@exporter("roll")
def _roll(writer, row, x):
    axis, size = row["axis"], x.shape[row["axis"]]
    most = max(size, 1) if isinstance(size, int) else f"max({size}, 1)"
    first = minus(size, remainder(row["shift"], most))
    if first in (size, 0):
        return writer.node("Identity", [x])
    axes, step = writer.ints([axis]), writer.ints([1])
    zero, cut, end = writer.ints([0]), writer.ints([first]), writer.ints([_END])
    tail = writer.node("Slice", [x, cut, end, axes, step])
    head = writer.node("Slice", [x, zero, cut, axes, step])
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
    places = writer.cast(_counted_to(writer, writer.sizes.name_of(row["num"])), dtype)
    scaled = writer.node("Mul", [places, writer.constant(row["step"], dtype)])
    return writer.node("Add", [scaled, writer.constant(row["start"], dtype)])


@exporter("eye")
def _eye(writer, row):
    sizes, dtype = [row["n"], row["m"]], row.results[0].dtype
    if _are_numbers(sizes):
        return writer.constant(np.eye(*sizes), dtype)
    rows, columns = (_line(writer, size, [-1, 1][: 2 - at]) for at, size in enumerate(sizes))
    return writer.cast(writer.node("Equal", [rows, columns]), dtype)


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
    shape = broadcast(*(each.shape for each in indices))
    return _stacked(writer, [writer.cast(each, "int64") for each in indices], shape), shape


def _stacked(writer, parts, shape):
    parts = [
        writer.node(
            "Unsqueeze", [writer.node("Expand", [part, writer.ints(shape)]), writer.ints([-1])]
        )
        for part in parts
    ]
    return writer.node("Concat", parts, axis=-1)


def _are_numbers(sizes):
    return all(isinstance(size, int) for size in sizes)


def _line(writer, size, shape):
    """The integers below a size, along the axis of `shape` that is -1."""
    if isinstance(size, int):
        return writer.constant(np.arange(size).reshape(shape), "int64")
    counted = _counted_to(writer, writer.ints([size]))
    return writer.node("Reshape", [counted, writer.ints(shape)])


def _counted_to(writer, size):
    """The integers below the one in `size`, int64[1]."""
    zero, one = (writer.constant(value, "int64") for value in (0, 1))
    return writer.node("Range", [zero, writer.node("Squeeze", [size, writer.ints([0])]), one])


def _coordinates(writer, row, x, indices, elements=()):
    """int64 [*elements, rank of x]: the indices along `axes`, else where an element stands."""
    rank, parts = len(x.shape), []
    axes = [axis % rank for axis in row["axes"]]
    whole = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    for axis, size in enumerate(x.shape):
        if axis in axes:
            parts.append(writer.cast(indices[axes.index(axis)], "int64"))
            continue
        parts.append(_line(writer, size, [-1 if other == axis else 1 for other in range(rank)]))
    shape = broadcast(elements, whole, *(each.shape for each in indices))
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
    if not _are_numbers((*row["starts"], *row["stops"], *x.shape)):
        return _free_slice_set(writer, row, x, value, steps)
    zipped = zip(row["starts"], row["stops"], steps, x.shape, strict=True)
    cuts = [
        range(n)[slice(a, None if step < 0 and b < -n else b, step)] for a, b, step, n in zipped
    ]
    grid = np.stack(np.meshgrid(*(np.array(cut, "int64") for cut in cuts), indexing="ij"), -1)
    updates = writer.node("Expand", [value, writer.ints(grid.shape[:-1])])
    return writer.node("ScatterND", [x, writer.constant(grid), updates])


def _free_slice_set(writer, row, x, value, steps):
    """As _slice_set, with numbers that the model counts."""
    shape, whole = writer.node("Shape", [x]), writer.ints([-1])
    count = writer.node("ReduceProd", [shape], keepdims=1)
    numbers = writer.node("Reshape", [_counted_to(writer, count), shape])
    limits = [row["starts"], row["stops"], range(len(x.shape)), steps]
    cut = writer.node("Slice", [numbers, *(writer.ints(each) for each in limits)])
    updates = writer.node("Expand", [value, writer.node("Shape", [cut])])
    flat = [writer.node("Reshape", [each, whole]) for each in (x, cut, updates)]
    return writer.node("Reshape", [writer.node("ScatterElements", flat, axis=0), shape])


@exporter("non_zero")
def _non_zero(writer, row, x):
    raise NotImplementedError("sizes must not depend on data")
