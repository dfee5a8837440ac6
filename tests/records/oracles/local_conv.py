"""Oracles of convolutions that depend on the place. Plain loops over places, float64."""

import numpy as np

from tests.records.oracles.vision import sampled
from tests.records.oracles.window import _windows


def sliding_window(x, kernel_size, strides, padding, dilation):
    """[N, C, OH, OW, KH, KW]."""
    return _windows(x, kernel_size, strides, padding, dilation)


def sliding_window_transpose(x, output_size, kernel_size, strides, padding, dilation):
    """Each window added to what it was taken from."""
    height, width = (n + 2 * p for n, p in zip(output_size, padding, strict=True))
    out = np.zeros((*x.shape[:2], height, width))
    for i, j, p, q in np.ndindex(*x.shape[2:]):
        row, column = i * strides[0] + p * dilation[0], j * strides[1] + q * dilation[1]
        out[:, :, row, column] += x[:, :, i, j, p, q]
    return out[:, :, padding[0] : height - padding[0], padding[1] : width - padding[1]]


def local_conv2d(x, weight, strides, padding, dilation):
    """A product for each group and place."""
    groups, height, width, inner, *kernel, outer = weight.shape
    windows = _windows(x, kernel, strides, padding, dilation)
    out = np.zeros((x.shape[0], groups * outer, height, width))
    for g, i, j in np.ndindex(groups, height, width):
        patch = windows[:, g * inner : (g + 1) * inner, i, j]
        out[:, g * outer : (g + 1) * outer, i, j] = np.tensordot(patch, weight[g, i, j], 3)
    return out


def _product(windows, weight, groups):
    """Windows [N, C, OH, OW, KH, KW] times weight [O, C / groups, KH, KW]."""
    parts = zip(np.split(windows, groups, 1), np.split(weight, groups, 0), strict=True)
    return np.concatenate([np.einsum("ncijpq,ocpq->noij", a, b) for a, b in parts], 1)


def region_restricted_conv(x, weight, rin, rout, strides, padding, dilation, groups):
    """Windows of x where those of rin have rout's number."""
    geometry = weight.shape[2:], strides, padding, dilation
    given = _windows(rin[:, None], *geometry)
    kept = np.where(given == rout[:, None, :, :, None, None], _windows(x, *geometry), 0.0)
    return _product(kept, weight, groups)


def deformable_conv2d(x, weight, offset, mask, strides, padding, dilation, groups):
    """Each element of each window at a place of its own."""
    kernel = weight.shape[2:]
    windows = np.zeros((*x.shape[:2], *mask.shape[2:], *kernel))
    elements = kernel[0] * kernel[1]
    blocks = mask.shape[1] // elements
    size = x.shape[1] // blocks
    for n, d, i, j, p, q in np.ndindex(x.shape[0], blocks, *mask.shape[2:], *kernel):
        channel = d * elements + p * kernel[1] + q
        row = i * strides[0] - padding[0] + p * dilation[0] + offset[n, 2 * channel, i, j]
        column = j * strides[1] - padding[1] + q * dilation[1] + offset[n, 2 * channel + 1, i, j]
        place = np.array([column, row]).reshape(1, 1, 1, 2)
        block = x[n : n + 1, d * size : (d + 1) * size]
        taken = sampled(block, [0], place, "constant", 0.0, "linear")
        windows[n, d * size : (d + 1) * size, i, j, p, q] = taken.ravel() * mask[n, channel, i, j]
    return _product(windows, weight, groups)


def deformable_psroi_pooling(x, rois, trans, output_shape, sample_per_part, scale, trans_std,
                             no_trans):  # fmt: skip
    """Sample by sample."""
    trans = None if no_trans else trans
    classes = 1 if trans is None else trans.shape[1] // 2
    size = x.shape[1] // classes
    out = np.zeros((len(rois), x.shape[1], *output_shape))
    for k, d, i, j in np.ndindex(len(rois), classes, *output_shape):
        ends = np.floor(rois[k, 1:] + [0.5, 0.5, 1.5, 1.5]) * scale - 0.5
        lengths = np.maximum(ends[2:] - ends[:2], 0.1)
        moved = np.zeros(2)
        if trans is not None:
            parts = [
                n * trans.shape[2] // bins for n, bins in zip((i, j), output_shape, strict=True)
            ]
            moved = trans[k, 2 * d : 2 * d + 2, parts[0], parts[1]] * trans_std
        taken, block = [], x[int(rois[k, 0])][None, d * size : (d + 1) * size]
        for p, q in np.ndindex(sample_per_part, sample_per_part):
            step = np.array([j + q / sample_per_part, i + p / sample_per_part])
            place = ends[:2] + (step / output_shape[::-1] + moved) * lengths
            if (place < -0.5).any() or (place > np.array(x.shape[:1:-1]) - 0.5).any():
                continue
            place = place.reshape(1, 1, 1, 2)
            taken.append(sampled(block, [0], place, "replicate", 0.0, "linear").ravel())
        if taken:
            out[k, d * size : (d + 1) * size, i, j] = np.mean(taken, axis=0)
    return out
