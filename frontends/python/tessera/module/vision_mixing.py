"""Training images put together from two, or cut and framed each by a share of its own."""

from .. import functional as F  # noqa: N812
from .._known_form import known_form
from ..random import RNG
from .module import Module
from .vision import _as_stored


def _in_range(size, first, end, axis, device):
    """bool[N, 1, ...]: whether places along `axis` of an image are in [first, end), of each one."""
    place = F.arange(size, dtype="float32", device=device)
    inside = F.logical_and(place >= F.expand_dims(first, 1), place < F.expand_dims(end, 1))
    return F.expand_dims(inside, [each for each in (1, 2, 3) if each != axis])


class Mixup(Module):
    """Two batches of images [N, C, H, W] and their labels [N], mixed: `r * first + (1 - r) *
    second`, r drawn for each pair from the distribution Beta(beta, beta).

    H. Zhang, M. Cisse, Y. N. Dauphin, D. Lopez-Paz: mixup, arXiv:1710.09412.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> mixup = M.Mixup(3.0, seed=1)
    >>> images, labels = mixup(F.ones((2, 3, 4, 4)), F.ones(2), F.zeros((2, 3, 4, 4)), F.zeros(2))
    >>> images.shape, (images[:, 0, 0, 0] == labels).tolist()
    ((2, 3, 4, 4), [True, True])
    """

    def __init__(self, beta, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.beta, self._rng = beta, RNG(seed)

    def sample(self, batch):
        """The shares of the first images, float32[batch]."""
        return self._rng.beta(self.beta, self.beta, (batch,))

    def _mixed(self, first, second, share):
        """The images."""
        share = F.expand_dims(share, (1, 2, 3))
        return share * first + (1 - share) * second

    @known_form
    def forward(self, data1, label1, data2, label2):
        """See the class."""
        share = self.sample(data1.shape[0])
        labels = share * label1 + (1 - share) * label2
        return _as_stored(self._mixed(data1, data2, share), data1), labels


class Cutmix(Mixup):
    """Two batches of images [N, C, H, W]: a box of each of the second in the place of that of the
    first, and labels [N] mixed, `r * first + (1 - r) * second`.

    r is drawn from the distribution Beta(beta, beta). The box has sqrt(1 - r) of both sides and a
    centre drawn from all pixels; what is beyond the image is left out. S. Yun et al.: CutMix, ICCV
    2019.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> cutmix = M.Cutmix(3.0, seed=1)
    >>> images, labels = cutmix(F.ones((2, 3, 4, 4)), F.ones(2), F.zeros((2, 3, 4, 4)), F.zeros(2))
    >>> images.shape, labels.shape
    ((2, 3, 4, 4), (2,))
    """

    def _box(self, size, ratio):
        """Where the boxes begin and end along an axis of so many pixels."""
        centre = F.floor(self._rng.uniform(0, size, ratio.shape))
        half = F.floor(F.floor(size * ratio) / 2)
        return F.clip(centre - half, 0, size), F.clip(centre + half, 0, size)

    def _mixed(self, first, second, share):
        height, width = first.shape[2:]
        ratio = F.sqrt(1 - share)
        rows = _in_range(height, *self._box(height, ratio), 2, first.device)
        columns = _in_range(width, *self._box(width, ratio), 3, first.device)
        return F.where(F.logical_and(rows, columns), second, first)


class CropAndPad(Module):
    """Images [N, C, H, W] framed or cropped, each by a share `percent` [N] of its sides, and made
    as large as they were.

    An image gets a border of `percent` of its height and width on all sides where that is positive,
    with pixels of `pad_val` [N] (0 without it), and loses one where it is negative. `mode` is
    "bilinear" or "nearest"; with `align_corners` the corners stay where mode is bilinear.

    ValueError: mode must be one of its values.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> image = ts.tensor([[[[1.0, 2.0, 3.0, 4.0]]]]).transpose(0, 1, 3, 2)
    >>> M.CropAndPad("nearest")(image, ts.tensor([-0.25]))[0, 0, :, 0].tolist()
    [2.0, 2.0, 3.0, 3.0]
    """

    def __init__(self, mode="bilinear", align_corners=False, **kwargs):
        super().__init__(**kwargs)
        if mode not in ("bilinear", "nearest"):
            raise ValueError(f"CropAndPad: mode must be bilinear or nearest, got {mode!r}")
        self.mode, self.align_corners = mode, align_corners

    def _places(self, size, percent):
        """float32[N, size]: where each pixel is, and what is added for the place in the image."""
        margin = F.floor(size * F.abs(percent) + 0.5)
        margin = F.where(percent > 0, margin, -margin)
        whole = F.maximum(size + 2 * margin, 1)
        step = F.arange(size, dtype="float32", device=percent.device)
        if self.mode == "nearest":
            place = F.floor(step * (whole / size))
        elif self.align_corners:
            place = step * ((whole - 1) / max(size - 1, 1))
        else:
            place = (step + 0.5) * (whole / size) - 0.5
        return F.maximum(F.minimum(place, whole - 1), 0), margin, whole

    def _pixels(self, inp, rows, columns, border):
        """The pixels at these places of each image; the border's where there is none."""
        height, width = inp.shape[2:]
        row = F.astype(F.clip(rows, 0, height - 1), "int32")
        column = F.astype(F.clip(columns, 0, width - 1), "int32")
        image = F.arange(inp.shape[0], dtype="int32", device=inp.device)
        image = F.expand_dims(image, (1, 2))
        found = inp[image, :, F.expand_dims(row, 2), F.expand_dims(column, 1)]
        in_rows = F.logical_and(rows >= 0, rows < height)
        in_columns = F.logical_and(columns >= 0, columns < width)
        inside = F.logical_and(F.expand_dims(in_rows, (1, 3)), F.expand_dims(in_columns, (1, 2)))
        return F.where(inside, F.transpose(found, (0, 3, 1, 2)), border)

    @known_form
    def forward(self, inp, percent, pad_val=None):
        """See the class."""
        count, _, height, width = inp.shape
        images = F.astype(inp, "float32") if inp.dtype == "uint8" else inp
        percent = F.astype(F.reshape(percent[:count], (count, 1)), "float32")
        border = 0.0 if pad_val is None else F.astype(pad_val[:count], images.dtype)
        border = border if pad_val is None else F.reshape(border, (count, 1, 1, 1))
        ends = [_neighbours(*self._places(size, percent)) for size in (height, width)]
        total = 0.0
        for row, by_row in ends[0]:
            for column, by_column in ends[1]:
                weight = F.expand_dims(by_row, (1, 3)) * F.expand_dims(by_column, (1, 2))
                total = total + weight * self._pixels(images, row, column, border)
        return _as_stored(total, inp)


def _neighbours(place, margin, whole):
    """(place in the image, weight) of the pixels before and behind a place."""
    before = F.floor(place)
    behind = F.minimum(before + 1, whole - 1)
    share = place - before
    return (before - margin, 1 - share), (behind - margin, share)
