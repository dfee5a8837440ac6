"""Convolutions: a border that is not even is added before."""

from ..._core import ops as _ops
from ..registry import importer
from .sampling import sampled
from .windows import Windows


def convolved(node, x, weight):
    """The convolution without a bias."""
    windows = Windows(node, x.shape[2:], weight.shape[2:])
    padding = windows.low
    if not windows.is_even():
        x = _ops.pad(x, [0, 0, *windows.low], [0, 0, *windows.high], 0.0)
        padding = [0] * len(padding)
    axes, groups = len(padding), node["group"]
    if axes not in (1, 2, 3):
        node.refuse("x must have 1 to 3 spatial axes", axes)
    function = getattr(_ops, f"conv{axes}d")
    return function(x, weight, windows.strides, padding, windows.dilations, groups)


def with_bias(out, bias):
    """`bias` of each channel added."""
    if bias is None:
        return out
    return out + _ops.reshape(bias, (1, -1, *[1] * (out.ndim - 2)))


@importer("Conv")
def _conv(node, x, weight, bias=None):
    return with_bias(convolved(node, x, weight), bias)


@importer("ConvTranspose")
def _conv_transpose(node, x, weight, bias=None):
    axes = x.ndim - 2
    windows = Windows(node, x.shape[2:], weight.shape[2:])
    extra = list(node["output_padding"] or [0] * axes)
    low, high = _transposed_borders(node, windows, extra)

    def _transposed(padding, outside):
        function = getattr(_ops, f"conv_transpose{axes}d")
        sizes = (windows.strides, padding, windows.dilations, node["group"], outside)
        return function(x, weight, *sizes)

    pairs = zip(extra, windows.strides, strict=True)
    if list(low) == list(high) and min(low) >= 0 and all(more < step for more, step in pairs):
        return with_bias(_transposed(list(low), extra), bias)
    whole = _transposed([0] * axes, [0] * axes)
    low = [0, 0, *(-size for size in low)]
    high = [0, 0, *(more - size for size, more in zip(high, extra, strict=True))]
    return with_bias(_ops.pad(whole, low, high, 0.0), bias)


def _transposed_borders(node, windows, extra):
    """What is cut off both ends of each axis."""
    axes = len(windows.kernel)
    shape, mode = node["output_shape"], node["auto_pad"] or "NOTSET"
    if shape is None and mode in ("NOTSET", "VALID"):
        return windows.low, windows.high
    low, high = [], []
    for axis in range(axes):
        size, stride = windows.sizes[axis], windows.strides[axis]
        wanted = size * stride if shape is None else shape[-axes:][axis]
        full = (size - 1) * stride + windows.spans[axis] + extra[axis]
        total = full - wanted
        small = total // 2
        low.append(small if mode == "SAME_UPPER" else total - small)
        high.append(total - low[-1])
    return low, high


@importer("DeformConv")
def _deform_conv(node, x, weight, offset, bias=None, mask=None):
    """J. Dai et al., Deformable Convolutional Networks, ICCV 2017; x has two spatial axes."""
    if x.ndim != 4:
        node.refuse("x must have 2 spatial axes", x.ndim - 2)
    groups, parts = node["offset_group"], []
    channels = x.shape[1] // groups
    for number in range(groups):
        own = x[:, number * channels : (number + 1) * channels]
        parts.append(_deformed(node, own, weight, offset, mask, number))
    columns = _ops.concat(parts, 1)
    return with_bias(_grouped_product(columns, weight, node["group"]), bias)


def _deformed(node, x, weight, offset, mask, number):
    """[N, C, K, OH, OW]: for each place of the window the elements that its offsets say."""
    shape = Windows(node, x.shape[2:], weight.shape[2:])
    (oh, ow), count = offset.shape[2:], len(list(shape.places()))
    taken = []
    for place, (i, j) in enumerate(shape.places()):
        first = 2 * (number * count + place)
        rows = _ops.arange(
            oh, i * shape.dilations[0] - shape.low[0], shape.strides[0], x.dtype.name
        )
        columns = _ops.arange(
            ow, j * shape.dilations[1] - shape.low[1], shape.strides[1], x.dtype.name
        )
        row = _ops.reshape(rows, (1, oh, 1)) + offset[:, first]
        column = _ops.reshape(columns, (1, 1, ow)) + offset[:, first + 1]
        found = sampled(x, [row, column], "linear", "zeros", True)
        if mask is not None:
            found = found * _ops.expand_dims(mask[:, number * count + place], [1])
        taken.append(found)
    return _ops.stack(taken, 2)


def _grouped_product(columns, weight, groups):
    """[N, O, OH, OW] of columns [N, C, K, OH, OW]."""
    n, c, k, oh, ow = columns.shape
    columns = _ops.reshape(columns, (n, groups, c // groups * k, oh * ow))
    flat = _ops.reshape(weight, (1, groups, weight.shape[0] // groups, -1))
    return _ops.reshape(_ops.matmul(flat, columns), (n, weight.shape[0], oh, ow))


@importer("Col2Im")
def _col2im(node, x, image, block):
    """Windows add up where they overlap."""
    image, block = list(node.sizes(1, image)), list(node.sizes(2, block))
    windows = Windows(node, image, block)
    counts, n = windows.counts(), x.shape[0]
    places = list(windows.places())
    x = _ops.reshape(x, (n, -1, len(places), *counts))
    padded = [s + a + b for s, a, b in zip(image, windows.low, windows.high, strict=True)]
    out = _ops.full([n, x.shape[1], *padded], 0, x.dtype.name)
    for number, place in enumerate(places):
        out = _added(out, x[:, :, number], place, windows, counts)
    high = [a + s for a, s in zip(windows.low, image, strict=True)]
    return _ops.slice(out, [0, 0, *windows.low], [*out.shape[:2], *high])


def _added(out, part, place, windows, counts):
    starts = [i * d for i, d in zip(place, windows.dilations, strict=True)]
    axes = zip(starts, counts, windows.strides, strict=True)
    stops = [start + (count - 1) * stride + 1 for start, count, stride in axes]
    region = [0, 0, *starts], [*out.shape[:2], *stops], [1, 1, *windows.strides]
    return _ops.slice_set(out, _ops.slice(out, *region) + part, *region)
