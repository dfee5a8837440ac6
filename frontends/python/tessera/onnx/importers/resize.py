"""Images, or any tensors, of other sizes: each axis by itself, as a weighted sum of elements."""

import math

import numpy as np

from ..._core import ops as _ops
from ..registry import importer
from ..values import tensor_of
from .elementwise import cast, is_float

_RECORD_MODES = {
    ("linear", "half_pixel"): ("linear", False),
    ("linear", "align_corners"): ("linear", True),
    ("cubic", "align_corners"): ("cubic", True),
    ("cubic", "half_pixel"): ("cubic", False),
}


@importer("Resize")
def _resize(node, x, roi=None, scales=None, sizes=None):
    axes = node["axes"]
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    old = [int(x.shape[axis]) for axis in axes]
    new, factors = _sizes(node, old, scales, sizes)
    roi = None if roi is None else _floats(node, 1, roi)
    dtype, original = x.dtype.name, x
    x = x if is_float(x) else cast(x, "float32")
    if _record_serves(node, x, axes, new, factors, old):
        mode, corners = _RECORD_MODES[node["mode"], node["coordinate_transformation_mode"]]
        return cast(_ops.resize(x, new[-(x.ndim - 2) :], mode, corners), dtype)
    for place, axis in enumerate(axes):
        if new[place] == old[place] and factors[place] == 1 and not _crops(node):
            continue
        region = None
        if roi is not None and len(roi) == 2 * len(axes):
            region = roi[place], roi[place + len(axes)]
        x = _Axis(node, old[place], new[place], factors[place], region).apply(x, axis)
    return original if x is original else _rounded(x, dtype)


def _crops(node):
    return node["coordinate_transformation_mode"] == "tf_crop_and_resize"


def _rounded(x, dtype):
    return cast(x if dtype.startswith(("float", "bfloat")) else _ops.round(x), dtype)


def _record_serves(node, x, axes, new, factors, old):
    """Whether the record computes the same."""
    key = node["mode"], node["coordinate_transformation_mode"]
    is_plain = key in _RECORD_MODES and not node["antialias"] and not node["exclude_outside"]
    exact = all(f * o == n for f, o, n in zip(factors, old, new, strict=True))
    spatial = x.ndim in (3, 4, 5) and axes == list(range(x.ndim)) and new[:2] == old[:2]
    return is_plain and exact and spatial and all(old) and all(new)


def _floats(node, place, value):
    known = node.constants.get(place)
    return (value.numpy() if known is None else known).astype("float64").tolist()


def _sizes(node, old, scales, sizes):
    """(sizes of the result, factors) along the axes."""
    if sizes is None or not sizes.shape[0]:
        factors = _floats(node, 2, scales)
        return [math.floor(n * f) for n, f in zip(old, factors, strict=True)], factors
    new = [int(size) for size in node.sizes(3, sizes)]
    policy = node["keep_aspect_ratio_policy"] or "stretch"
    factors = [n / o for n, o in zip(new, old, strict=True)]
    if policy != "stretch":
        factor = (min if policy == "not_larger" else max)(factors)
        factors = [factor] * len(old)
        new = [math.floor(factor * size + 0.5) for size in old]
    return new, factors


class _Axis:
    """The elements and weights that make each element of the result along one axis."""

    def __init__(self, node, old, new, factor, region):
        self.node, self.old, self.new, self.factor, self.region = node, old, new, factor, region
        self.positions = self._positions()

    def _positions(self):
        i, old, factor = np.arange(self.new, dtype="float64"), self.old, self.factor
        width = factor * old
        mode = self.node["coordinate_transformation_mode"]
        if mode == "align_corners":
            return i * 0 if width == 1 else i * (old - 1) / (width - 1)
        if mode == "asymmetric":
            return i / factor
        if mode == "tf_crop_and_resize":
            start, end = self.region
            if width == 1:
                return i * 0 + (end - start) * (old - 1) / 2 + start * (old - 1)
            return i * (end - start) * (old - 1) / (width - 1) + start * (old - 1)
        if mode == "pytorch_half_pixel" and width == 1:
            return i * 0 - 0.5
        offset = 0.0
        if mode == "half_pixel_symmetric":
            offset = old / 2 * (1 - self.new / width)
        return offset + (i + 0.5) / factor - 0.5

    def taps(self):
        """(indices [new, n], which may lie outside, weights [new, n])."""
        mode = self.node["mode"]
        if mode == "nearest":
            return self._nearest()
        shrink = min(self.factor, 1.0) if self.node["antialias"] else 1.0
        reach = (2 if mode == "cubic" else 1) / shrink
        first = np.floor(self.positions)
        steps = np.arange(math.floor(-reach) + 1, math.ceil(reach) + 1)
        indices = first[:, None] + steps
        distance = np.abs(indices - self.positions[:, None]) * shrink
        weights = self._cubic(distance) if mode == "cubic" else np.clip(1 - distance, 0, 1)
        if self.node["antialias"]:
            weights = weights / weights.sum(1, keepdims=True)
        return indices, weights

    def _cubic(self, distance):
        a = self.node["cubic_coeff_a"]
        near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        return np.where(distance <= 1, near, np.where(distance < 2, far, 0))

    def _nearest(self):
        mode = self.node["nearest_mode"] or "round_prefer_floor"
        round_of = {
            "round_prefer_floor": lambda p: np.ceil(p - 0.5),
            "round_prefer_ceil": lambda p: np.floor(p + 0.5),
            "floor": np.floor,
            "ceil": np.ceil,
        }[mode]
        indices = round_of(self.positions)[:, None]
        return indices, np.ones_like(indices)

    def apply(self, x, axis):
        """x with the new size along `axis`."""
        indices, weights = self.taps()
        inside = (indices >= 0) & (indices <= self.old - 1)
        if self.node["exclude_outside"]:
            weights = np.where(inside, weights, 0)
            weights = weights / weights.sum(1, keepdims=True)
        indices = np.clip(indices, 0, self.old - 1).astype("int64")
        shape = [1] * x.ndim
        shape[axis] = self.new
        total = 0
        for index, weight in zip(indices.T, weights.T, strict=True):
            part = _ops.index_get(x, [tensor_of(index)], [axis])
            if (weight == 1).all():
                total = total + part
            elif weight.any():
                total = total + part * tensor_of(weight.reshape(shape).astype(x.dtype.name))
        return self._extrapolated(total, shape)

    def _extrapolated(self, x, shape):
        if not _crops(self.node):
            return x
        outside = (self.positions < 0) | (self.positions > self.old - 1)
        value = self.node["extrapolation_value"]
        mask = tensor_of(outside.reshape(shape))
        return _ops.where(mask, _ops.full([], value, x.dtype.name), x)


@importer("Upsample")
def _upsample(node, x, scales=None):
    factors = list(node["scales"]) if scales is None else _floats(node, 1, scales)
    node.attributes.update(
        coordinate_transformation_mode="asymmetric", nearest_mode="floor", antialias=0
    )
    for axis, factor in enumerate(factors):
        if factor != 1:
            old = int(x.shape[axis])
            x = _Axis(node, old, math.floor(old * factor), factor, None).apply(x, axis)
    return x
