"""Positions in images, boxes."""

import math

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast
from .sampling import sampled

_MODES = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}


@importer("GridSample")
def _grid_sample(node, x, grid):
    """Positions go from -1 to 1, the last axis of x first."""
    mode, corners = node["mode"], bool(node["align_corners"])
    sizes, axes = x.shape[2:], x.ndim - 2
    positions = []
    for axis, size in enumerate(sizes):
        own = grid[..., axes - 1 - axis]
        positions.append((own + 1) / 2 * (size - 1) if corners else ((own + 1) * size - 1) / 2)
    return sampled(x, positions, _MODES.get(mode, mode), node["padding_mode"], corners)


@importer("AffineGrid")
def _affine_grid(node, theta, size):
    sizes, corners = list(node.sizes(1, size))[2:], bool(node["align_corners"])
    dtype, axes = theta.dtype.name, []
    for place, count in enumerate(sizes):
        step = 2 / (count - 1) if corners else 2 / count
        start = -1 if corners else -1 + 1 / count
        shape = [1] * len(sizes)
        shape[place] = count
        line = _ops.reshape(_ops.arange(count, start, step, dtype), shape)
        axes.insert(0, _ops.flatten(_ops.copy(_ops.broadcast_to(line, sizes))))
    axes.append(_ops.full_like(axes[0], 1))
    positions = _ops.matmul(theta, _ops.stack(axes, 0))
    moved = _ops.transpose(positions, [0, 2, 1])
    return _ops.reshape(moved, (theta.shape[0], *sizes, len(sizes)))


@importer("RoiAlign")
def _roi_align(node, x, rois, batch):
    """K. He et al., Mask R-CNN, ICCV 2017."""
    shape = node["output_height"], node["output_width"]
    halves = (node["coordinate_transformation_mode"] or "half_pixel") == "half_pixel"
    offset = 0.5 if halves else 0.0
    ends = rois * node["spatial_scale"] - offset
    left, top, right, bottom = (ends[:, i] for i in range(4))
    sizes = [bottom - top, right - left]
    if not halves:
        sizes = [_ops.maximum(size, 1.0) for size in sizes]
    ratio = node["sampling_ratio"]
    counts = [ratio, ratio]
    if ratio <= 0:
        return _each_roi(node, x, batch, (top, left), sizes, shape)
    return _aligned(node, x, batch, (top, left), sizes, shape, counts)


def _each_roi(node, x, batch, starts, sizes, shape):
    """Where the number of positions follows from each box, box by box."""
    found = []
    for i in range(int(batch.shape[0])):
        own = [each[i : i + 1] for each in sizes]
        pairs = zip(own, shape, strict=True)
        counts = [max(1, math.ceil(size.item() / bins)) for size, bins in pairs]
        first = [each[i : i + 1] for each in starts]
        found.append(_aligned(node, x, batch[i : i + 1], first, own, shape, counts))
    return _ops.concat(found, 0)


def _aligned(node, x, batch, starts, sizes, shape, counts):
    lines = []
    for start, size, bins, count in zip(starts, sizes, shape, counts, strict=True):
        steps = _ops.reshape(_ops.arange(bins * count, 0.5, 1.0, x.dtype.name), (1, -1))
        each = _ops.expand_dims(size, [1]) / (bins * count)
        lines.append(_ops.expand_dims(start, [1]) + steps * each)
    rows, columns = lines
    n, (oh, ow) = rows.shape[0], (rows.shape[1], columns.shape[1])
    row = _ops.broadcast_to(_ops.expand_dims(rows, [2]), [n, oh, ow])
    column = _ops.broadcast_to(_ops.expand_dims(columns, [1]), [n, oh, ow])
    images = _ops.index_get(x, [batch], [0])
    found = _bilinear(images, row, column, node["mode"] == "max")
    parts = _ops.reshape(found, (n, x.shape[1], shape[0], counts[0], shape[1], counts[1]))
    return _ops.max(parts, [3, 5]) if node["mode"] == "max" else _ops.mean(parts, [3, 5])


def _bilinear(images, row, column, takes_max):
    """Four neighbours of each position, 0 beyond one element outside; of `takes_max` the largest of
    the weighted neighbours.
    """
    height, width = images.shape[2:]
    inside = _ops.logical_and(row >= -1.0, row <= height)
    inside = _ops.logical_and(inside, _ops.logical_and(column >= -1.0, column <= width))
    row = _ops.minimum(_ops.maximum(row, 0.0), height - 1)
    column = _ops.minimum(_ops.maximum(column, 0.0), width - 1)
    if takes_max:
        found = _largest_neighbour(images, row, column)
    else:
        found = sampled(images, [row, column], "linear", "border", True)
    return _ops.where(_ops.expand_dims(inside, [1]), found, _ops.zeros_like(found))


def _largest_neighbour(images, row, column):
    found = None
    top, left = _ops.floor(row), _ops.floor(column)
    for i in (0, 1):
        for j in (0, 1):
            weight = (row - top if i else 1 - (row - top)) * (
                column - left if j else 1 - (column - left)
            )
            places = [top + i, left + j]
            part = sampled(images, places, "nearest", "border", True)
            part = part * _ops.expand_dims(weight, [1])
            found = part if found is None else _ops.maximum(found, part)
    return found


@importer("NonMaxSuppression")
def _non_max_suppression(node, boxes, scores, most=None, iou=None, least=None):
    """int64[n, 3]: image, class and number of each box that is taken."""
    count = 0 if most is None else int(node.number(2, most))
    threshold = 0.0 if iou is None else float(node.number(3, iou))
    floor = None if least is None else float(node.number(4, least))
    taken = [_ops.full([0, 3], 0, "int64")]
    for image in range(int(boxes.shape[0])):
        corners = _corners(boxes[image], bool(node["center_point_box"]))
        for kind in range(int(scores.shape[1])):
            found = _chosen(corners, scores[image, kind], count, threshold, floor)
            labels = [_ops.full_like(found, image), _ops.full_like(found, kind), found]
            taken.append(_ops.stack(labels, 1))
    return _ops.concat(taken, 0)


def _chosen(corners, scores, count, threshold, floor):
    if count <= 0:
        return _ops.full([0], 0, "int64")
    if floor is None:
        return cast(_ops.nms(corners, scores, threshold, count), "int64")
    places = _ops.flatten(_ops.non_zero(scores > floor))
    corners = _ops.index_get(corners, [places], [0])
    scores = _ops.index_get(scores, [places], [0])
    found = _ops.nms(corners, scores, threshold, count)
    return cast(_ops.index_get(places, [found], [0]), "int64")


def _corners(boxes, centred):
    """[x1, y1, x2, y2] in order of [y1, x1, y2, x2] in any order, or of centres and sizes."""
    a, b, c, d = (boxes[:, i] for i in range(4))
    if centred:
        return _ops.stack([a - c / 2, b - d / 2, a + c / 2, b + d / 2], 1)
    low, high = (_ops.minimum, _ops.maximum)
    return _ops.stack([low(b, d), low(a, c), high(b, d), high(a, c)], 1)
