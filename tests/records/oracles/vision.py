"""Oracles of images at computed positions. Plain loops over pixels, float64."""

import itertools

import numpy as np

from tests.records.oracles.window import avg_pool


def _cubic(d):
    """Keys' kernel with a = -0.75."""
    d, a = abs(d), -0.75
    if d >= 2:
        return 0.0
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    return near if d < 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a


def _taps(mode, position):
    """(place, weight) of each element around a position."""
    below = int(np.floor(position))
    if mode == "nearest":
        return [(int(np.floor(position + 0.5)), 1.0)]
    if mode == "linear":
        return [(below, 1 - (position - below)), (below + 1, position - below)]
    return [(place, _cubic(position - place)) for place in range(below - 1, below + 3)]


def _resized(x, axis, size, mode, align_corners):
    x = np.moveaxis(x, axis, 0)
    given, rows = x.shape[0], []
    for i in range(size):
        if mode == "nearest":
            rows.append(x[i * given // size])
            continue
        last = max(size - 1, 1)
        position = i * (given - 1) / last if align_corners else (i + 0.5) * given / size - 0.5
        taps = _taps(mode, position)
        rows.append(sum(w * x[min(max(place, 0), given - 1)] for place, w in taps))
    return np.moveaxis(np.stack(rows), 0, axis)


def resize(x, size, mode, align_corners):
    """Axis by axis."""
    for axis, each in enumerate(size):
        x = _resized(x, 2 + axis, each, mode, align_corners)
    return x


_PAD_MODES = {"replicate": "edge", "reflect": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}


def _pixel(image, y, x, border_mode, border_val):
    """image[:, y, x], by NumPy's own borders."""
    height, width = image.shape[1:]
    if border_mode == "constant":
        inside = 0 <= y < height and 0 <= x < width
        return image[:, y, x] if inside else np.full(image.shape[0], border_val)
    mode = _PAD_MODES[border_mode]
    row, column = (
        np.pad(np.arange(size), (max(-place, 0), max(place - size + 1, 0)), mode)[max(place, 0)]
        for place, size in ((y, height), (x, width))
    )
    return image[:, row, column]


def sampled(x, images, places, border_mode, border_val, interp_mode):
    """[B, C, OH, OW] of positions [B, OH, OW, (column, row)]."""
    out = np.zeros((places.shape[0], x.shape[1], *places.shape[1:3]))
    for b, i, j in np.ndindex(*places.shape[:3]):
        column, row = places[b, i, j]
        for y, wy in _taps(interp_mode, row):
            for z, wz in _taps(interp_mode, column):
                pixel = _pixel(x[images[b]], y, z, border_mode, border_val)
                out[b, :, i, j] += wy * wz * pixel
    return out


def remap(x, map_xy, border_mode, border_val, interp_mode):
    """Image n at the positions map_xy[n]."""
    return sampled(x, range(len(x)), map_xy, border_mode, border_val, interp_mode)


def warp_perspective(x, mat, mat_idx, out_shape, border_mode, border_val, interp_mode):
    """Homogeneous coordinates, divided by the third."""
    rows, columns = np.indices(out_shape)
    points = np.stack([columns, rows, np.ones_like(rows)], -1)
    turned = np.einsum("bij,hwj->bhwi", mat, points)
    places = turned[..., :2] / turned[..., 2:]
    return sampled(x, mat_idx, places, border_mode, border_val, interp_mode)


def warp_affine(x, mat, out_shape, border_mode, border_val, interp_mode):
    """A perspective transformation whose last row is 0, 0, 1."""
    last = np.broadcast_to(np.array([0.0, 0.0, 1.0]), (len(mat), 1, 3))
    whole = np.concatenate([mat, last], 1)
    return warp_perspective(
        x, whole, range(len(x)), out_shape, border_mode, border_val, interp_mode
    )


def roi_align(x, rois, output_shape, mode, scale, sample_points, aligned):
    """Samples of each bin, one after the other."""
    height, width = output_shape
    out = np.zeros((len(rois), x.shape[1], height, width))
    for k, i, j in np.ndindex(len(rois), height, width):
        box = rois[k, 1:] * scale - (0.5 if aligned else 0.0)
        bins = max(box[3] - box[1], 0) / height, max(box[2] - box[0], 0) / width
        values = []
        for p, q in itertools.product(*map(range, sample_points)):
            row = box[1] + (i + (p + 0.5) / sample_points[0]) * bins[0]
            column = box[0] + (j + (q + 0.5) / sample_points[1]) * bins[1]
            place = np.array([column, row]).reshape(1, 1, 1, 2)
            sample = sampled(x, [int(rois[k, 0])], place, "constant", 0.0, "linear")
            values.append(sample.reshape(-1))
        out[k, :, i, j] = (np.max if mode == "max" else np.mean)(values, axis=0)
    return out


def roi_pooling(x, rois, output_shape, mode, scale):
    """Pixels of each bin, in whole numbers."""
    out = np.zeros((len(rois), x.shape[1], *output_shape))
    for k, i, j in np.ndindex(len(rois), *output_shape):
        left, top, right, bottom = (int(np.floor(end * scale + 0.5)) for end in rois[k, 1:])
        slices = []
        for first, last, bin_, bins, size in (
            (top, bottom, i, output_shape[0], x.shape[2]),
            (left, right, j, output_shape[1], x.shape[3]),
        ):
            length = max(last - first + 1, 1)
            low, high = first + bin_ * length // bins, first - (-(bin_ + 1) * length // bins)
            slices.append(slice(min(max(low, 0), size), min(max(high, 0), size)))
        pixels = x[int(rois[k, 0])][:, slices[0], slices[1]]
        if pixels.shape[1] * pixels.shape[2]:
            out[k, :, i, j] = (np.max if mode == "max" else np.mean)(pixels, axis=(1, 2))
    return out


def nms(boxes, scores, iou_thresh, max_output):
    """Each box against all that were taken."""
    taken = []
    for i in np.argsort(-scores, kind="stable"):
        overlaps = []
        for j in taken:
            low, high = (
                np.maximum(boxes[i, :2], boxes[j, :2]),
                np.minimum(boxes[i, 2:], boxes[j, 2:]),
            )
            shared = np.prod(np.maximum(high - low, 0))
            areas = [np.prod(boxes[k, 2:] - boxes[k, :2]) for k in (i, j)]
            overlaps.append(shared / (sum(areas) - shared))
        if not any(each > iou_thresh for each in overlaps):
            taken.append(i)
    return np.array(taken[:max_output], dtype=np.int32)


def correlation(x, y, kernel_size, max_displacement, stride1, stride2, pad_size, is_multiply):
    """One displacement after the other."""
    border = [(0, 0), (0, 0), (pad_size, pad_size), (pad_size, pad_size)]
    x, y = np.pad(x, border), np.pad(y, border)
    height, width = (size - 2 * max_displacement for size in x.shape[2:])
    reach, channels = max_displacement // stride2, []
    here = x[:, :, max_displacement:, max_displacement:][:, :, :height, :width]
    for p, q in itertools.product(range(-reach, reach + 1), repeat=2):
        row, column = (max_displacement + each * stride2 for each in (p, q))
        there = y[:, :, row : row + height, column : column + width]
        channels.append((here * there if is_multiply else np.abs(here - there)).mean(1))
    size, strides = (kernel_size, kernel_size), (stride1, stride1)
    return avg_pool(np.stack(channels, 1), size, strides, (0, 0), True)


def cvt_color(x, mode, delta):
    """By the formulas that the record has."""
    if mode[-4:] in ("NV12", "NV21", "YU12", "YV12"):
        return _of_planes(x[..., 0], mode[:-5], mode[-4:], delta)
    source, target = mode.split("2")
    if source.startswith("Y"):
        colours = dict(zip("RGB", _of_yuv(source, np.moveaxis(x, -1, 0), delta), strict=True))
    else:
        colours = dict(zip(source, np.moveaxis(x, -1, 0), strict=False))
    if source == "GRAY":
        colours = {"R": x[..., 0], "G": x[..., 0], "B": x[..., 0]}
    if target in ("GRAY", "YUV"):
        grey = 0.299 * colours["R"] + 0.587 * colours["G"] + 0.114 * colours["B"]
        blue, red = 0.492 * (colours["B"] - grey), 0.877 * (colours["R"] - grey)
        parts = [grey] if target == "GRAY" else [grey, blue + delta, red + delta]
        return np.stack(parts, -1)
    return np.stack([colours[name] for name in target], -1)


def _of_yuv(source, channels, delta):
    """Red, green and blue."""
    y, first, second = channels[0], channels[1] - delta, channels[2] - delta
    if source == "YUV":
        return y + 1.14 * second, y - 0.395 * first - 0.581 * second, y + 2.032 * first
    if source == "BT601":
        y = 1.164 * (y - delta / 8)
        return y + 1.596 * first, y - 0.813 * first - 0.391 * second, y + 2.018 * second
    return y + 1.403 * first, y - 0.714 * first - 0.344 * second, y + 1.773 * second


def _of_planes(x, colours, planes, delta):
    """Of images [N, 3 H / 2, W], pixel by pixel."""
    count, height, width = x.shape[0], x.shape[1] * 2 // 3, x.shape[2]
    out = np.empty((count, height, width, 1 if "GRAY" in colours else 3))
    for n, i, j in np.ndindex(count, height, width):
        if planes.startswith("NV"):
            pair = x[n, height + i // 2, j // 2 * 2 : j // 2 * 2 + 2]
        else:
            pair = x[n, height:].reshape(2, height // 2, width // 2)[:, i // 2, j // 2]
        u, v = pair[::-1] if planes in ("NV21", "YV12") else pair
        rgb = _of_yuv("BT601" if "BT601" in colours else "YCrCb", (x[n, i, j], v, u), delta)
        out[n, i, j] = x[n, i, j] if "GRAY" in colours else rgb[::-1] if "BGR" in colours else rgb
    return out


def flip(x, axes):
    """NumPy's, which takes no axes for all of them."""
    return np.flip(x, axes) if axes else x
