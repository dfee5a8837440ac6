"""Images smoothed, widened and painted: filters over windows, and polygons."""

import functools

import numpy as np

from .. import functional as F  # noqa: N812
from .._known_form import known_form
from ..functional._borders import bordered
from ..tensor import Tensor
from .module import Module
from .vision import _as_stored

# OpenCV's words for borders, and NumPy's.
_BORDERS = {"REPLICATE": "edge", "REFLECT": "symmetric", "REFLECT_101": "reflect", "WRAP": "wrap"}


def _check_border(name, what, border, prefix=""):
    """The border's word without the prefix."""
    words = {prefix + word: word for word in (*_BORDERS, "CONSTANT")}
    if not isinstance(border, str) or border not in words:
        raise ValueError(f"{name}: {what} must be one of {', '.join(words)}, got {border!r}")
    return words[border]


def _with_border(images, sides, border, value=0.0):
    """Images [N, C, H, W] with as many pixels more above, below, left and right."""
    widths = ((0, 0), (0, 0), sides[:2], sides[2:])
    if border == "CONSTANT":
        return F.pad(images, widths, constant_value=value)
    return bordered(images, widths, _BORDERS[border])


# Of a standard deviation that is not given, for small kernels: those of OpenCV's getGaussianKernel
# that MegEngine has, too.
_SMALL = {
    1: [1.0],
    3: [0.25, 0.5, 0.25],
    5: [0.0625, 0.25, 0.375, 0.25, 0.0625],
    7: [0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125],
}


def _gaussian(size, sigma):
    """The weights along one axis, as OpenCV's getGaussianKernel gives them."""
    if sigma <= 0 and size in _SMALL:
        return np.array(_SMALL[size])
    sigma = sigma if sigma > 0 else 0.3 * ((size - 1) * 0.5 - 1) + 0.8
    weights = np.exp(-((np.arange(size) - (size - 1) / 2) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


class GaussianBlur(Module):
    """Images [N, H, W, C], or with `format` "NCHW" [N, C, H, W], smoothed by a normal distribution
    over `kernel_size` pixels, an odd int or (height, width).

    `sigma_x` and `sigma_y` are its standard deviations in pixels; 0: the other one, or both as
    OpenCV's GaussianBlur derives them from the size. Beyond the edges pixels are those of
    `border_mode`: "REPLICATE", "REFLECT", "REFLECT_101", "WRAP" or, zeros, "CONSTANT".

    ValueError: kernel_size must be odd and positive, border_mode and format among their values.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.GaussianBlur((1, 3), format="NCHW")(ts.tensor([[[[0.0, 4.0, 0.0]]]])).tolist()
    [[[[1.0, 2.0, 1.0]]]]
    """

    def __init__(self, kernel_size, sigma_x=0, sigma_y=0, border_mode="REPLICATE", format="NHWC",
                 **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        pair = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        if len(pair) != 2 or any(size < 1 or size % 2 == 0 for size in pair):
            raise ValueError(
                f"GaussianBlur: kernel_size must be odd and positive, one or two, got {kernel_size}"
            )
        if format not in ("NHWC", "NCHW"):
            raise ValueError(f"GaussianBlur: format must be NHWC or NCHW, got {format!r}")
        self.kernel_size, self.sigma_x, self.sigma_y = pair, sigma_x, sigma_y
        self.border_mode = _check_border("GaussianBlur", "border_mode", border_mode)
        self.format = format

    @known_form
    def forward(self, inp):
        """See the class."""
        images = F.transpose(inp, (0, 3, 1, 2)) if self.format == "NHWC" else inp
        out = _as_stored(self._blurred(images), inp)
        return F.transpose(out, (0, 2, 3, 1)) if self.format == "NHWC" else out

    def _blurred(self, images):
        images = F.astype(images, "float32") if images.dtype == "uint8" else images
        channels, (height, width) = images.shape[1], self.kernel_size
        images = _with_border(images, (height // 2, height // 2, width // 2, width // 2),
                              self.border_mode)  # fmt: skip
        sigmas = self.sigma_y or self.sigma_x, self.sigma_x or self.sigma_y
        columns, rows = (_gaussian(*each) for each in zip(self.kernel_size, sigmas, strict=True))
        kernel = Tensor(np.outer(columns, rows).astype(np.float32), device=images.device)
        weight = F.broadcast_to(F.astype(kernel, images.dtype), (channels, 1, height, width))
        return F.conv2d(images, weight, groups=channels)


class Dilation(Module):
    """The largest pixel of each window of images [N, C, H, W], among those where the kernel
    [KH, KW], the second argument, is not 0; `iterations` times. The window's middle is at
    (KH // 2, KW // 2).

    Beyond the edges pixels are `border_value` where `border_type` is "BORDER_CONSTANT", or those of
    "BORDER_REPLICATE", "BORDER_REFLECT", "BORDER_REFLECT_101" or "BORDER_WRAP".

    ValueError: border_type must be one of these, iterations at least 1.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Dilation()(ts.tensor([[[[0.0, 1.0, 0.0, 0.0]]]]), ts.tensor([[1.0, 1.0, 1.0]])).tolist()
    [[[[1.0, 1.0, 1.0, 0.0]]]]
    """

    def __init__(self, iterations=1, border_type="BORDER_CONSTANT", border_value=0.0, **kwargs):
        super().__init__(**kwargs)
        if iterations < 1:
            raise ValueError(f"Dilation: iterations must be at least 1, got {iterations}")
        self.iterations, self.border_value = iterations, border_value
        self.border_type = _check_border("Dilation", "border_type", border_type, "BORDER_")

    @known_form
    def forward(self, inp, kernel):
        """See the class."""
        for _ in range(self.iterations):
            inp = self._dilated(inp, kernel)
        return inp

    def _dilated(self, inp, kernel):
        (height, width), (rows, columns) = inp.shape[2:], kernel.shape
        sides = (rows // 2, rows - 1 - rows // 2, columns // 2, columns - 1 - columns // 2)
        wide = _with_border(inp, sides, self.border_type, self.border_value)
        counts, lowest = kernel != 0, _lowest(inp)
        windows = [
            F.where(counts[i, j], wide[:, :, i : i + height, j : j + width], lowest)
            for i in range(rows)
            for j in range(columns)
        ]
        return functools.reduce(F.maximum, windows)


def _lowest(inp):
    """What every pixel beats, in the dtype of the images."""
    is_integer = inp.dtype.kind in "iu"
    lowest = np.iinfo(inp.dtype).min if is_integer else -np.inf
    return F.full((), lowest, dtype=inp.dtype, device=inp.device)


class FillPoly(Module):
    """Images [N, C, H, W] with polygons painted on all of them, in a colour [C], edges included.

    The second argument has the corners (column, row) of all polygons, int32[P, 2], the third how
    many corners each has, int32[L]. A pixel is inside where a line to its left crosses the polygon
    an odd number of times; what lies beyond the image is left out.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> corners = ts.tensor([[0, 0], [2, 0], [2, 2], [0, 2]])
    >>> image = F.zeros((1, 1, 3, 4))
    >>> M.FillPoly()(image, corners, ts.tensor([4]), ts.tensor([5.0]))[0, 0].tolist()
    [[5.0, 5.0, 5.0, 0.0], [5.0, 5.0, 5.0, 0.0], [5.0, 5.0, 5.0, 0.0]]
    """

    @known_form
    def forward(self, img, points, lens, color):
        """See the class."""
        height, width = img.shape[2:]
        corner = F.astype(points, "float32")
        ends = F.cumsum(F.astype(lens, "int32"), 0)
        place = F.arange(corner.shape[0], dtype="int32", device=img.device)
        polygon = F.searchsorted(ends, place, "right")
        first = F.concat([F.zeros_like(ends[:1]), ends[:-1]])[polygon]
        before = F.where(place == first, ends[polygon] - 1, place - 1)
        edges = [_axis(each, k) for each in (corner[before], corner) for k in (0, 1)]
        row = F.reshape(F.arange(height, device=img.device), (height, 1))
        column = F.reshape(F.arange(width, device=img.device), (1, width))
        painted = F.max(_is_on(*edges, row, column), 0)
        crossed = F.astype(_is_left(*edges, row, column), "int32")
        number = F.reshape(F.arange(lens.shape[0], dtype="int32", device=img.device), (-1, 1, 1, 1))
        own = number == _axis(F.expand_dims(polygon, 1), 0)
        inside = F.max(F.sum(F.where(own, crossed, 0), 1) % 2 == 1, 0)
        fill = F.astype(F.reshape(color, (1, -1, 1, 1)), img.dtype)
        return F.where(F.logical_or(painted, inside), fill, img)


def _axis(values, number):
    """A column of [P, K] as [P, 1, 1]."""
    return F.expand_dims(values[:, number], (1, 2))


def _is_left(x0, y0, x1, y1, row, column):
    """Whether each edge crosses the line from a pixel to the left, bool[P, H, W]."""
    low, high = F.minimum(y0, y1), F.maximum(y0, y1)
    crosses = F.logical_and(low <= row, row < high)
    slope = (x1 - x0) / F.where(y0 == y1, 1.0, y1 - y0)
    return F.logical_and(crosses, x0 + (row - y0) * slope < column)


def _is_on(x0, y0, x1, y1, row, column):
    """Whether a pixel is the nearest one to an edge in its row or, of a flat edge, its column."""
    across, down = x1 - x0, y1 - y0
    is_steep = F.abs(down) >= F.abs(across)
    longest = F.where(is_steep, down, across)
    along = F.where(is_steep, row - y0, column - x0)
    share = along / F.where(longest == 0, 1.0, longest)
    nearest = F.floor(F.where(is_steep, x0 + share * across, y0 + share * down) + 0.5)
    within = F.logical_and(share >= 0, share <= 1)
    within = F.logical_and(within, F.logical_or(longest != 0, along == 0))
    return F.logical_and(within, nearest == F.where(is_steep, column, row))
