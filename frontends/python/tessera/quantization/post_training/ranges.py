"""Ranges of numbers that integers are chosen for, found from histograms, and their dtypes."""

import numpy as np

from ... import _quantized

BINS = 2048
_CANDIDATES = 128  # ranges that are tried
_LEVELS = {"qint8": 128, "quint8": 256}  # integers that a histogram's numbers become
_NEVER = 1e-9  # probability of what a distribution does not have, so that its logarithm is finite
_LEAST_SCALE = 1e-12  # so that the product of two is a normal float32


class Histogram:
    """Counts of the numbers that pass: of their magnitudes where the dtype has no zero point.

    `low` and `high` are the least and the largest finite number; `see` widens them and `count` adds
    to `counts`, once they are known for all numbers. Numbers that are 0, as ReLU makes them, are on
    every grid: they are counted by themselves, in `zeros`.

    >>> import numpy as np
    >>> from tessera.quantization.post_training.ranges import Histogram
    >>> histogram = Histogram("qint8")
    >>> for step in (histogram.see, histogram.count):
    ...     step(np.float32([-4.0, 1.0, np.nan]))
    >>> histogram.low, histogram.high, int(histogram.counts.sum())
    (-4.0, 1.0, 2)
    """

    def __init__(self, dtype):
        self.dtype, self.low, self.high = dtype, np.inf, -np.inf
        self.counts, self.zeros = np.zeros(BINS), 0

    @property
    def ends(self):
        """(low, high) of the bins, with 0 between them."""
        if self.dtype == "qint8":
            return 0.0, max(-self.low, self.high, 0.0)
        return min(self.low, 0.0), max(self.high, 0.0)

    @property
    def centers(self):
        """The middle of each bin."""
        low, high = self.ends
        return low + (np.arange(BINS) + 0.5) * ((high - low) / BINS)

    def see(self, values):
        """Widens the range to these numbers."""
        values = values[np.isfinite(values)]
        if values.size:
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))

    def count(self, values):
        """Counts these numbers."""
        values = values[np.isfinite(values)].astype(np.float64)
        self.zeros += int((values == 0).sum())
        values, (low, high) = values[values != 0], self.ends
        if high > low:
            values = np.abs(values) if self.dtype == "qint8" else values
            self.counts += np.histogram(values, BINS, (low, high))[0]


def range_of(histogram, method, percentile=99.99):
    """(low, high) that integers should reach to; see PostTrainingConfig."""
    low, high = histogram.ends
    if method == "min_max" or not histogram.counts.any():
        return low, high
    if method == "percentile":
        return _percentile(histogram, percentile)
    candidates = _candidates(histogram)
    cost = divergence if method == "entropy" else squared_error
    costs = [cost(histogram, first, last) for first, last in candidates]
    first, last = candidates[int(np.argmin(costs))]
    width = (high - low) / BINS
    return low + first * width, low + last * width


def dtype_of(kind, low, high):
    """The quantized dtype whose integers reach from `low` to `high`: scale and zero point as those
    of MinMaxObserver (B. Jacob et al., arXiv:1712.05877, section 3).

    >>> from tessera.dtype import get_zero_point
    >>> from tessera.quantization.post_training.ranges import dtype_of
    >>> get_zero_point(dtype_of("quint8", -1.0, 50.0))
    5
    """
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return getattr(_quantized, kind)(*((1.0,) if kind == "qint8" else (1.0, 0)))
    if kind == "qint8":
        return _quantized.qint8(float(np.float32(max(max(-low, high) / 127.5, _LEAST_SCALE))))
    scale = float(np.float32(max((high - low) / 255, _LEAST_SCALE)))
    return _quantized.quint8(scale, min(255, int(np.floor(-low / scale + 0.5))))


def _percentile(histogram, percentile):
    low, high = histogram.ends
    counts = histogram.counts.copy()
    counts[min(BINS - 1, int(-low / (high - low) * BINS))] += histogram.zeros
    below = np.cumsum(counts) / counts.sum()
    width, rest = (high - low) / BINS, (100 - percentile) / 100
    if histogram.dtype == "qint8":
        return low, low + width * (1 + int(np.searchsorted(below, 1 - rest - 1e-12)))
    first = int(np.searchsorted(below, rest / 2, side="right"))
    last = 1 + int(np.searchsorted(below, 1 - rest / 2 - 1e-12))
    return min(low + width * first, 0.0), max(low + width * last, 0.0)


def _candidates(histogram):
    """(first, last) of bins: ranges around 0 that become wider, up to the whole."""
    low, high = histogram.ends
    zero = round(-low / (high - low) * BINS)
    found = []
    for share in np.arange(1, _CANDIDATES + 1) / _CANDIDATES:
        first, last = zero - round(zero * share), zero + round((BINS - zero) * share)
        if last - first >= _LEVELS[histogram.dtype] or share == 1:
            found.append((first, last))
    return found


def divergence(histogram, first, last):
    """Kullback-Leibler divergence of the numbers, cut off at the range of bins `first` to `last`,
    from what they are in as many levels as the dtype has integers: S. Migacz, GTC 2017.

    The numbers of a level are spread evenly over those of its bins that are not empty. Numbers that
    are 0 do not count.
    """
    inside, levels = histogram.counts[first:last], _LEVELS[histogram.dtype]
    wanted = inside.copy()
    wanted[0] += histogram.counts[:first].sum()
    wanted[-1] += histogram.counts[last:].sum()
    level = np.arange(len(inside)) * levels // len(inside)
    sums = np.bincount(level, inside, levels)
    filled = np.bincount(level, inside > 0, levels)
    found = np.where(inside > 0, (sums / np.maximum(filled, 1))[level], 0.0)
    wanted, found = wanted / wanted.sum(), found / max(found.sum(), 1.0)
    is_there = wanted > 0
    ratio = wanted[is_there] / np.maximum(found[is_there], _NEVER)
    return float((wanted[is_there] * np.log(ratio)).sum())


def squared_error(histogram, first, last):
    """Mean squared error of the numbers that are not 0, each in the middle of its bin, on the grid
    of the dtype that reaches over the range of bins.
    """
    low, high = histogram.ends
    width, centers = (high - low) / BINS, histogram.centers
    low, high = low + first * width, low + last * width
    if histogram.dtype == "qint8":
        scale, least, largest = high / 127.5, 0, 127
    else:
        scale = (high - low) / 255
        least = -np.floor(-low / scale + 0.5)
        largest = 255 + least
    grid = np.clip(np.floor(centers / scale + 0.5), least, largest) * scale
    return float((histogram.counts * (centers - grid) ** 2).sum() / histogram.counts.sum())
