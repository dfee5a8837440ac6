"""Elements of images at positions between them."""

import itertools

from ..._core import ops as _ops
from .elementwise import cast


def sampled(x, positions, mode, border, align_corners):
    """[N, C, *O]: x [N, C, *S] at `positions`, for each spatial axis [N, *O] in units of elements.

    mode: "nearest", "linear" or "cubic" (R. Keys, Cubic Convolution Interpolation for Digital Image
    Processing, 1981, a = -0.75). border: "zeros", "border" or "reflection", which reflects at the
    outer elements with align_corners, else half an element beyond them.
    """
    taps = [_taps(position, mode) for position in positions]
    total = 0
    for chosen in itertools.product(*taps):
        weight, indices, inside = 1, [], True
        for (index, factor), size in zip(chosen, x.shape[2:], strict=True):
            index, is_inside = _placed(index, size, border, align_corners)
            indices.append(index)
            weight = factor if isinstance(weight, int) else weight * factor
            inside = is_inside if inside is True else _ops.logical_and(inside, is_inside)
        found = _taken(x, indices)
        if border == "zeros":
            found = _ops.where(_ops.expand_dims(inside, [1]), found, _ops.zeros_like(found))
        total = total + found * _ops.expand_dims(cast(weight, x.dtype.name), [1])
    return total


def _taken(x, indices):
    """[N, C, *O]: of each image its channels at the indices [N, *O]."""
    n = x.shape[0]
    batch = _ops.reshape(_ops.arange(n, 0, 1, "int64"), (n, *[1] * (indices[0].ndim - 1)))
    found = _ops.index_get(x, [batch, *indices], [0, *range(2, x.ndim)])
    return _ops.transpose(found, [0, found.ndim - 1, *range(1, found.ndim - 1)])


def _taps(position, mode):
    """(index, weight) of each element that counts along one axis."""
    if mode == "nearest":
        nearest = _ops.round(position)
        return [(cast(nearest, "int64"), _ops.full_like(position, 1))]
    first = _ops.floor(position)
    ratio, index = position - first, cast(first, "int64")
    if mode == "linear":
        return [(index, 1 - ratio), (index + 1, ratio)]
    distances = [ratio + 1, ratio, 1 - ratio, 2 - ratio]
    return [(index + k - 1, cubic_weight(each)) for k, each in enumerate(distances)]


def cubic_weight(distance, a=-0.75):
    """The weight of an element at a distance of 0 to 2."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return _ops.where(distance <= 1, near, far)


def _placed(index, size, border, align_corners):
    """(an index that exists, whether it was one)."""
    inside = _ops.logical_and(index >= 0, index < size)
    if border == "reflection":
        index = _reflected(index, size, align_corners)
    return _ops.minimum(_ops.maximum(index, 0), size - 1), inside


def _reflected(index, size, align_corners):
    if align_corners:
        period = max(2 * (size - 1), 1)
        folded = _ops.mod(index, period)
        return _ops.minimum(folded, period - folded)
    period = 2 * size
    folded = _ops.mod(index, period)
    return _ops.minimum(folded, period - 1 - folded)
