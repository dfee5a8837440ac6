"""Changes of where pixels are."""

import math

import numpy as np

from . import functional as F  # noqa: N812
from .vision_transform import VisionTransform


def _pair(size):
    return (size, size) if isinstance(size, (int, np.integer)) else tuple(size)


def _moved(coords, x, y):
    """`coords` by x and y pixels to the left and to the top, in their own dtype."""
    result = np.array(coords)
    result[:, 0] -= x
    result[:, 1] -= y
    return result


class Pad(VisionTransform):
    """A border of `size` pixels: on all sides, (bottom, right), or (top, bottom, left, right).

    `value` is a number or one for each channel of the image (a float makes the image float32),
    `mask_value` the class of the border of a mask.
    """

    def __init__(self, size=0, value=0, mask_value=0, *, order=None):
        super().__init__(order)
        self.size, self.value = F.four_sides("Pad", size), value
        if not isinstance(mask_value, (int, np.integer)):
            raise ValueError(f"Pad: mask_value must be an integer, got {mask_value!r}")
        self.mask_value = mask_value

    def _apply_image(self, image):
        return F.pad(image, self.size, self.value)

    def _apply_coords(self, coords):
        return _moved(coords, -self.size[2], -self.size[0])

    def _apply_mask(self, mask):
        return F.pad(mask, self.size, self.mask_value)


class _Resizing(VisionTransform):
    """A change of size. A subclass gives `_new_size` of (height, width).

    Images take `interpolation`, an OpenCV number or a list of which one is drawn; masks take the
    nearest pixel.
    """

    def __init__(self, interpolation, order):
        super().__init__(order)
        self.interpolation = interpolation

    def apply(self, input):
        """The changed sample."""
        self._old = self._get_image(input).shape[:2]
        self._new = tuple(self._new_size(*self._old))
        return super().apply(input)

    def _apply_image(self, image):
        if self._new == self._old:
            return image
        return F.resize(image, self._new, self.interpolation)

    def _apply_coords(self, coords):
        if self._new == self._old:
            return coords
        result = np.array(coords)
        result[:, 0] = result[:, 0] * (self._new[1] / self._old[1])
        result[:, 1] = result[:, 1] * (self._new[0] / self._old[0])
        return result

    def _apply_mask(self, mask):
        return mask if self._new == self._old else F.resize(mask, self._new, F.INTER_NEAREST)


class Resize(_Resizing):
    """To `output_size` (height, width); an integer is the size of the shorter side, and the longer
    one follows, rounded down."""

    def __init__(self, output_size, interpolation=F.INTER_LINEAR, *, order=None):
        super().__init__(interpolation, order)
        self.output_size = output_size

    def _new_size(self, height, width):
        size = self.output_size
        if not isinstance(size, (int, np.integer)):
            return size
        if min(height, width) == size:
            return height, width
        if height < width:
            return size, int(size * width / height)
        return int(size * height / width), size


class ShortestEdgeResize(_Resizing):
    """The shorter side to a size that is drawn, the longer one to `max_size` at most.

    For the `sample_style` "range" the size is an integer from `min_size[0]` to `min_size[1]`, both
    included; for "choice" it is one of `min_size`. One integer is always that size.
    """

    def __init__(self, min_size, max_size, sample_style="range", interpolation=F.INTER_LINEAR, *,
                 order=None):  # fmt: skip
        super().__init__(interpolation, order)
        if sample_style not in ("range", "choice"):
            raise NotImplementedError(
                f"ShortestEdgeResize: sample_style must be 'range' or 'choice', "
                f"got {sample_style!r}"
            )
        self.sample_style, self.min_size, self.max_size = sample_style, _pair(min_size), max_size

    def _new_size(self, height, width):
        if self.sample_style == "range":
            size = np.random.randint(self.min_size[0], self.min_size[1] + 1)
        else:
            size = np.random.choice(self.min_size)
        scale = size / min(height, width)
        sides = (size, scale * width) if height < width else (scale * height, size)
        if max(sides) > self.max_size:
            shrink = self.max_size / max(sides)
            sides = [side * shrink for side in sides]
        return tuple(int(round(side)) for side in sides)


class RandomResize(_Resizing):
    """Both sides by a factor that is uniform in `scale_range`."""

    def __init__(self, scale_range, interpolation=F.INTER_LINEAR, *, order=None):
        super().__init__(interpolation, order)
        self.scale_range = scale_range

    def _new_size(self, height, width):
        scale = np.random.uniform(*self.scale_range)
        return int(round(height * scale)), int(round(width * scale))


class RandomCrop(VisionTransform):
    """A part of `output_size` (height, width) at a random place.

    Before, the sample gets the border of Pad(padding_size, padding_value, padding_maskvalue); what
    is still too small grows at the bottom and at the right.
    """

    def __init__(self, output_size, padding_size=0, padding_value=(0, 0, 0), padding_maskvalue=0,
                 *, order=None):  # fmt: skip
        super().__init__(order)
        self.output_size = _pair(output_size)
        self.pad = Pad(padding_size, padding_value, padding_maskvalue, order=self.order)

    def apply(self, input):
        """The changed sample."""
        self.pad.order = self.order
        input = self.pad.apply(input)
        height, width = self._get_image(input).shape[:2]
        self._lacks = tuple(max(0, n - o) for n, o in zip(self.output_size, (height, width)))  # noqa: B905
        self._x = np.random.randint(0, max(0, width - self.output_size[1]) + 1)
        self._y = np.random.randint(0, max(0, height - self.output_size[0]) + 1)
        return super().apply(input)

    def _part(self, image, value):
        image = F.pad(image, self._lacks, value) if any(self._lacks) else image
        height, width = self.output_size
        return image[self._y : self._y + height, self._x : self._x + width]

    def _apply_image(self, image):
        return self._part(image, self.pad.value)

    def _apply_coords(self, coords):
        return _moved(coords, self._x, self._y)

    def _apply_mask(self, mask):
        return self._part(mask, self.pad.mask_value)


class RandomResizedCrop(VisionTransform):
    """A random part of the image, resized to `output_size` (height, width).

    The part's area is uniform in `scale_range` of the image's, the logarithm of its width / height
    uniform between those of `ratio_range`. After ten that do not fit it is the largest part in the
    middle whose ratio is in the range. Interpolation is as for Resize.
    """

    def __init__(self, output_size, scale_range=(0.08, 1.0), ratio_range=(3.0 / 4, 4.0 / 3),
                 interpolation=F.INTER_LINEAR, *, order=None):  # fmt: skip
        super().__init__(order)
        for name, (low, high) in {"scale_range": scale_range, "ratio_range": ratio_range}.items():
            if low > high:
                raise ValueError(
                    f"RandomResizedCrop: {name} must be (least, most), got {(low, high)}"
                )
        self.output_size = _pair(output_size)
        self.scale_range, self.ratio_range = scale_range, ratio_range
        self.interpolation = interpolation

    def apply(self, input):
        """The changed sample."""
        height, width = self._get_image(input).shape[:2]
        self._part = self._drawn(height, width) or self._middle(height, width)
        return super().apply(input)

    def _drawn(self, height, width, attempts=10):
        """(x, y, width, height) of a part that fits, or None."""
        for _ in range(attempts):
            area = np.random.uniform(*self.scale_range) * (height * width)
            ratio = math.exp(np.random.uniform(*map(math.log, self.ratio_range)))
            w, h = int(round(math.sqrt(area * ratio))), int(round(math.sqrt(area / ratio)))
            if 0 < w <= width and 0 < h <= height:
                x = np.random.randint(0, width - w + 1)
                return x, np.random.randint(0, height - h + 1), w, h
        return None

    def _middle(self, height, width):
        low, high = min(self.ratio_range), max(self.ratio_range)
        w, h = width, height
        if width / height < low:
            h = int(round(width / low))
        elif width / height > high:
            w = int(round(height * high))
        return (width - w) // 2, (height - h) // 2, w, h

    def _resized(self, image, interpolation):
        x, y, w, h = self._part
        return F.resize(image[y : y + h, x : x + w], self.output_size, interpolation)

    def _apply_image(self, image):
        return self._resized(image, self.interpolation)

    def _apply_coords(self, coords):
        x, y, w, h = self._part
        result = np.array(coords)
        result[:, 0] = (result[:, 0] - x) * self.output_size[1] / w
        result[:, 1] = (result[:, 1] - y) * self.output_size[0] / h
        return result

    def _apply_mask(self, mask):
        return self._resized(mask, F.INTER_NEAREST)


class CenterCrop(VisionTransform):
    """The part of `output_size` (height, width) in the middle; the image is at least as large."""

    def __init__(self, output_size, *, order=None):
        super().__init__(order)
        self.output_size = _pair(output_size)

    def apply(self, input):
        """The changed sample."""
        height, width = self._get_image(input).shape[:2]
        new_height, new_width = self.output_size
        if new_height > height or new_width > width:
            raise ValueError(
                f"CenterCrop: output_size must be at most the image's {(height, width)}, "
                f"got {self.output_size}"
            )
        self._x = int(round((width - new_width) / 2.0))
        self._y = int(round((height - new_height) / 2.0))
        return super().apply(input)

    def _apply_image(self, image):
        height, width = self.output_size
        return image[self._y : self._y + height, self._x : self._x + width]

    def _apply_coords(self, coords):
        return _moved(coords, self._x, self._y)

    def _apply_mask(self, mask):
        return self._apply_image(mask)


class _RandomFlip(VisionTransform):
    """A flip with probability `prob`. A subclass gives the image's axis and the flip's code."""

    def __init__(self, prob=0.5, *, order=None):
        super().__init__(order)
        self.prob = prob

    def apply(self, input):
        """The changed sample."""
        self._flipped = np.random.random() < self.prob
        self._size = self._get_image(input).shape[self._axis]
        return super().apply(input)

    def _apply_image(self, image):
        return F.flip(image, self._code) if self._flipped else image

    def _apply_coords(self, coords):
        if not self._flipped:
            return coords
        result, column = np.array(coords), 1 - self._axis
        result[:, column] = self._size - result[:, column]
        return result

    def _apply_mask(self, mask):
        return self._apply_image(mask)


class RandomHorizontalFlip(_RandomFlip):
    """Left and right change places with probability `prob`."""

    _axis, _code = 1, 1


class RandomVerticalFlip(_RandomFlip):
    """Top and bottom change places with probability `prob`."""

    _axis, _code = 0, 0
