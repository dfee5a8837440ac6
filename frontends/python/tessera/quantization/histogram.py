"""Histograms of numbers that are observed, and the range that loses least when it is quantized.

The search is the one of MegEngine's HistogramObserver, which has it from Caffe2
(`caffe2/quantization/server/norm_minimization.cc`, NonlinearQuantizationParamsSearch).
"""

import numpy as np

_STEP = 1e-5  # share of the numbers by which the search goes on


def counted(values, bins, low, high):
    """Counts of values in `bins` bins of equal width between low and high, float64[bins]; where
    these are equal all are in the first.
    """
    if low == high:
        counts = np.zeros(bins)
        counts[0] = values.size
        return counts
    return np.histogram(values, bins, (low, high))[0].astype(np.float64)


def widened(old, new, bins, rate):
    """(low, high) around two ranges, so that bins of the old range lie on a grid of the new one.

    A bin of the old range has `rate` cells of the grid, one of the new range a whole number.
    """
    low, high = min(old[0], new[0]), max(old[1], new[1])
    cell = (old[1] - old[0]) / (bins * rate)
    if (low, high) == old or cell == 0:
        return low, high
    cells = np.ceil((high - low) / (bins * cell))
    excess = cells * bins * cell - (high - low)
    return low - excess / 2, high + excess / 2


def moved(counts, old, new, rate):
    """Counts of the old range spread over as many bins of the new one, each evenly over its bin.

    The old bins begin at the cell of the grid (`widened`) that is nearest.
    """
    bins = len(counts)
    if old == new:
        return counts
    if old[0] == old[1]:
        place = int((old[0] - new[0]) / (new[1] - new[0]) * bins)
        moved_counts = np.zeros(bins)
        moved_counts[min(place, bins - 1)] = counts.sum()
        return moved_counts
    cell = (old[1] - old[0]) / (bins * rate)
    cells = round((new[1] - new[0]) / (bins * cell))
    start = round((old[0] - new[0]) / cell)
    ends = start + rate * np.arange(bins + 1.0)
    below = np.interp(cells * np.arange(bins + 1.0), ends, np.append(0, np.cumsum(counts)))
    return np.diff(below)


def squared_error(counts, first, last, levels):
    """Squared error of numbers that are evenly spread within bins of width 1, when bins `first` to
    `last` are divided into `levels` levels and each number becomes the middle of the nearest one.
    """
    width = (last - first + 1) / levels
    begin = np.arange(len(counts)) - first
    level = [np.clip(np.floor(edge / width), 0, levels - 1) for edge in (begin, begin + 1)]
    from_begin, from_end = ((edge - (each + 0.5) * width) for edge, each in
                            zip((begin, begin + 1), level, strict=True))  # fmt: skip
    half = width / 2
    within = from_end**3 - from_begin**3
    across = (half**3 - from_begin**3 + (level[1] - level[0] - 1) * 2 * half**3
              + from_end**3 + half**3)  # fmt: skip
    return float((counts * np.where(level[0] == level[1], within, across)).sum() / 3)


def best_range(counts, levels):
    """(first, last) bin of the range with the least error that a search finds.

    It leaves out more and more of the numbers, at the end where more bins go at once, until the
    error grows.
    """
    below = np.cumsum(counts)
    shares = np.arange(1, round(1 / _STEP) + 1) * _STEP * below[-1]
    firsts = np.searchsorted(below, shares)
    lasts = np.searchsorted(below, below[-1] - shares, side="right") - 1
    first, last, least, left, right = 0, len(counts) - 1, np.inf, 0, 0
    while left + right < len(shares):
        low = min(max(first, firsts[left]), last)
        high = max(min(last, lasts[right]), first)
        moves_first = low - first > last - high
        left, right = left + moves_first, right + (not moves_first)
        if low - first == last - high == 0:
            continue
        candidate = (low, last) if moves_first else (first, high)
        error = squared_error(counts, *candidate, levels)
        if error > least:
            break
        (first, last), least = candidate, error
    return int(first), int(last)
