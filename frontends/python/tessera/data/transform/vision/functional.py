"""Functions of one image, an array of shape (H, W, C)."""

import functools
import random
from collections.abc import Sequence

import numpy as np

from ...._opencv import opencv

INTER_NEAREST, INTER_LINEAR = 0, 1  # OpenCV's numbers


def keeps_axes(function):
    """Checks that the image has three axes, and gives it back with three."""

    @functools.wraps(function)
    def _checked(image, *arguments, **keywords):
        if np.ndim(image) != 3:
            raise ValueError(
                f"{function.__name__}: image must have axes (H, W, C), got shape {np.shape(image)}"
            )
        result = function(image, *arguments, **keywords)
        return result if result.ndim == 3 else result[:, :, np.newaxis]

    return _checked


@keeps_axes
def to_gray(image):
    """The gray image (H, W, 1) of a blue, green, red one: 0.114 B + 0.587 G + 0.299 R."""
    cv2 = opencv("to_gray")
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


@keeps_axes
def to_bgr(image):
    """The image (H, W, 3) of three equal channels, of a gray one (H, W, 1)."""
    cv2 = opencv("to_bgr")
    return cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)


def four_sides(tool, size):
    """(top, bottom, left, right) of an integer, of (bottom, right), or of the four."""
    if isinstance(size, (int, np.integer)):
        return (size,) * 4
    if isinstance(size, Sequence) and len(size) == 2:
        return 0, size[0], 0, size[1]
    if isinstance(size, Sequence) and len(size) == 4:
        return tuple(size)
    raise ValueError(f"{tool}: size must be one integer, two or four, got {size!r}")


@keeps_axes
def pad(image, size, value):
    """`image` with a border of `size` pixels: all sides, (bottom, right) or (top, bottom, left,
    right).

    `value` is a number or one for each channel; a float makes the result float32. ValueError: an
    integer must fit the image's dtype.
    """
    top, bottom, left, right = four_sides("pad", size)
    if np.array(value).dtype == np.float64:
        image = image.astype(np.float32)
    height, width, channels = image.shape
    result = np.empty((top + height + bottom, left + width + right, channels), image.dtype)
    border = np.asarray(value).reshape(-1)[:channels]
    if np.any(border.astype(image.dtype) != border) and image.dtype.kind in "iu":
        raise ValueError(f"pad: value must fit the image's {image.dtype}, got {value!r}")
    result[...] = border
    result[top : top + height, left : left + width] = image
    return result


@keeps_axes
def flip(image, flipCode):  # noqa: N803
    """`image` flipped: left and right for a `flipCode` > 0, top and bottom for 0, both below 0."""
    rows = slice(None, None, -1 if flipCode <= 0 else 1)
    columns = slice(None, None, -1 if flipCode else 1)
    return np.ascontiguousarray(image[rows, columns])


@keeps_axes
def resize(image, size, interpolation=INTER_LINEAR):
    """`image` in the `size` (height, width), by OpenCV's interpolation of that number.

    Of a list of interpolations, one is drawn from Python's `random`.
    """
    if len(size) != 2:
        raise ValueError(f"resize: size must be (height, width), got {size!r}")
    if isinstance(interpolation, Sequence):
        interpolation = random.choice(interpolation)
    height, width = (int(side) for side in size)
    return opencv("resize").resize(image, (width, height), interpolation=interpolation)
