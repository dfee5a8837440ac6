"""Other shapes and places of the same elements."""

from ..._core import ops as _ops
from ...core.symint import sym_max, sym_min
from ..registry import importer
from .elementwise import cast


def moved_last(x, axis):
    """(x with `axis` as the last one, what brings a result of that form back)."""
    axis %= x.ndim
    if axis == x.ndim - 1:
        return x, lambda result: result
    order = [*(each for each in range(x.ndim) if each != axis), axis]
    inverse = [order.index(each) for each in range(x.ndim)]
    return _ops.transpose(x, order), lambda result: _ops.transpose(result, inverse)


def flipped(x, axes):
    """x in the opposite order along axes."""
    return _ops.flip(x, axes)


def sliced(x, axis, start, stop, step=1):
    """The elements from start to stop along one axis."""
    starts, stops, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return _ops.slice(x, starts, stops, steps)


@importer("Reshape")
def _reshape(node, x, shape):
    target = list(node.sizes(1, shape))
    if not node["allowzero"]:
        target = [
            x.shape[axis] if isinstance(size, int) and size == 0 else size
            for axis, size in enumerate(target)
        ]
    return _ops.reshape(x, target)


@importer("Flatten")
def _flatten(node, x):
    axis = node["axis"]
    axis = axis + x.ndim if axis < 0 else axis
    rows = 1
    for size in x.shape[:axis]:
        rows = rows * size
    columns = 1
    for size in x.shape[axis:]:
        columns = columns * size
    return _ops.reshape(x, (rows, columns))


@importer("Squeeze")
def _squeeze(node, x, axes=None):
    found = node.axes(1, axes)
    if found == []:
        return x
    return _ops.squeeze(x, found or [])


@importer("Unsqueeze")
def _unsqueeze(node, x, axes=None):
    found = node.axes(1, axes)
    return _ops.expand_dims(x, found) if found else x


@importer("Expand")
def _expand(node, x, shape):
    """Both sides broadcast."""
    target = list(node.sizes(1, shape))
    own = list(x.shape)
    rank = max(len(own), len(target))
    own = [1] * (rank - len(own)) + own
    target = [1] * (rank - len(target)) + target
    return _ops.broadcast_to(x, [_broadcast(a, b) for a, b in zip(own, target, strict=True)])


def _broadcast(own, wanted):
    return own if isinstance(wanted, int) and wanted == 1 else wanted


@importer("Slice")
def _slice(node, x, starts=None, ends=None, axes=None, steps=None):
    """Limits are inputs, attributes before opset 10."""
    starts = node.sizes(1, starts) if starts is not None else list(node["starts"])
    ends = node.sizes(2, ends) if ends is not None else list(node["ends"])
    axes = node.axes(3, axes)
    axes = range(len(starts)) if axes is None else axes
    steps = node.sizes(4, steps) if steps is not None else [1] * len(starts)
    first, last, by = [0] * x.ndim, list(x.shape), [1] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first[axis], last[axis], by[axis] = start, end, step
    return _ops.slice(x, [_limited(v) for v in first], [_limited(v) for v in last], by)


def _limited(bound):
    """ONNX writes the largest and smallest integers for the end of an axis."""
    if isinstance(bound, int):
        return max(-(1 << 53), min(1 << 53, bound))
    return bound


@importer("Split")
def _split(node, x, split=None):
    """Sizes are an input, an attribute before opset 13."""
    axis = node["axis"]
    sections = node["split"] if split is None else node.sizes(1, split)
    if sections is None:
        sections = even_parts(x.shape[axis], node["num_outputs"] or len(node.outputs))
    return tuple(_ops.split(x, list(sections), axis))


def even_parts(size, count):
    """Sizes of parts, of which only the last ones are smaller."""
    each = -(-size // count)
    return [sym_max(0, sym_min(each, size - each * part)) for part in range(count)]


@importer("Tile")
def _tile(node, x, repeats, axis=None):
    return _ops.tile(x, list(node.sizes(1, repeats)))


@importer("Pad")
def _pad(node, x, pads=None, value=None, axes=None):
    pads = list(node["pads"]) if pads is None else list(node.sizes(1, pads))
    axes = node.axes(3, axes)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    low, high = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(axes):
        low[axis], high[axis] = pads[place], pads[place + len(axes)]
    mode = node["mode"] or "constant"
    if mode != "constant":
        return _bordered(x, low, high, mode)
    if x.dtype.name == "bool":
        value = value if value is None else cast(value, "uint8")
        return cast(_filled(node, cast(x, "uint8"), low, high, value), "bool")
    return _filled(node, x, low, high, value)


def _filled(node, x, low, high, value):
    """With a border of a real number, or of what a tensor holds."""
    if value is None or (2 in node.constants and value.dtype.kind != "c"):
        number = node["value"] or 0.0 if value is None else node.number(2, value)
        return _ops.pad(x, low, high, float(number))
    inside = _ops.pad(_ops.full(list(x.shape), 1, "uint8"), low, high, 0.0)
    return _ops.where(cast(inside, "bool"), _ops.pad(x, low, high, 0.0), _ops.reshape(value, ()))


def _bordered(x, low, high, mode):
    for axis, (before, after) in enumerate(zip(low, high, strict=True)):
        if before or after:
            places = _border_places(x.shape[axis], before, after, mode)
            x = _ops.index_get(x, [places], [axis])
    return x


def _border_places(size, before, after, mode):
    """The index in an axis for each place of the padded one."""
    places = _ops.arange(before + size + after, -before, 1, "int64")
    if mode == "edge":
        return _ops.minimum(_ops.maximum(places, 0), size - 1)
    if mode == "wrap":
        return _ops.mod(places, size)
    period = max(2 * (size - 1), 1)
    folded = _ops.mod(places, period)
    return _ops.minimum(folded, period - folded) if size > 1 else folded * 0


@importer("DepthToSpace")
def _depth_to_space(node, x):
    block, (n, c, *image) = node["blocksize"], x.shape
    if node["mode"] != "CRD":
        split = _ops.reshape(x, (n, block, block, c // (block * block), *image))
        moved = _ops.transpose(split, [0, 3, 4, 1, 5, 2])
    else:
        split = _ops.reshape(x, (n, c // (block * block), block, block, *image))
        moved = _ops.transpose(split, [0, 1, 4, 2, 5, 3])
    sizes = [size * block for size in image]
    return _ops.reshape(moved, (n, c // (block * block), *sizes))


@importer("SpaceToDepth")
def _space_to_depth(node, x):
    block, (n, c, h, w) = node["blocksize"], x.shape
    split = _ops.reshape(x, (n, c, h // block, block, w // block, block))
    order = [0, 3, 5, 1, 2, 4]
    if node["mode"] == "CRD":
        order = [0, 1, 3, 5, 2, 4]
    moved = _ops.transpose(split, order)
    return _ops.reshape(moved, (n, c * block * block, h // block, w // block))


@importer("CenterCropPad")
def _center_crop_pad(node, x, shape):
    target = node.sizes(1, shape)
    axes = node["axes"]
    axes = range(x.ndim) if axes is None else axes
    low, high = [0] * x.ndim, [0] * x.ndim
    for axis, wanted in zip(axes, target, strict=True):
        extra = wanted - x.shape[axis]
        low[axis] = extra // 2 if extra >= 0 else -(-extra // 2)
        high[axis] = extra - low[axis]
    return _ops.pad(x, low, high, 0.0)


@importer("ReverseSequence")
def _reverse_sequence(node, x, lengths):
    batch, time = node["batch_axis"], node["time_axis"]
    steps = _ops.arange(x.shape[time], 0, 1, "int64")
    shape = [1] * x.ndim
    shape[time] = x.shape[time]
    step = _ops.reshape(steps, shape)
    shape = [1] * x.ndim
    shape[batch] = x.shape[batch]
    length = _ops.reshape(cast(lengths, "int64"), shape)
    index = _ops.where(step < length, length - 1 - step, step)
    return _ops.gather(x, _ops.copy(_ops.broadcast_to(index, list(x.shape))), time)


@importer("Trilu")
def _trilu(node, x, k=None):
    diagonal = 0 if k is None else int(node.number(1, k))
    return _ops.triu(x, diagonal) if node["upper"] else _ops.tril(x, diagonal)


@importer("Transpose")
def _transpose(node, x):
    return _ops.transpose(x, list(node["perm"] or reversed(range(x.ndim))))
