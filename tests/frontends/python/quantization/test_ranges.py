"""Ranges found from histograms, against the formulas written out number by number."""

import numpy as np
import pytest
from tessera.dtype import get_scale, get_zero_point
from tessera.quantization.post_training import ranges
from tessera.quantization.post_training.ranges import Histogram, dtype_of, range_of

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats

OUTLIERS = np.append(floats(40000, seed=1), np.float32([90.0, -70.0]))


def histogram(values, dtype="qint8"):
    made = Histogram(dtype)
    made.see(values)
    made.count(values)
    return made


def test_the_whole_range():
    """Scale and zero point are those of the observers."""
    values = floats(100, seed=2) + 1
    low, high = range_of(histogram(values, "quint8"), "min_max")
    scale, zero_point = formulas.affine(values.min(), values.max(), "quint8")
    dtype = dtype_of("quint8", low, high)
    assert get_scale(dtype) == pytest.approx(scale, rel=1e-6)
    assert get_zero_point(dtype) == zero_point
    low, high = range_of(histogram(values), "min_max")
    wanted = formulas.symmetric_scale(values.min(), values.max(), "qint8")
    assert get_scale(dtype_of("qint8", low, high)) == pytest.approx(wanted, rel=1e-6)


def test_zeros_alone():
    """Without a number besides 0 there is a scale, too."""
    assert range_of(histogram(np.zeros(9, np.float32)), "entropy") == (0, 0)
    assert get_scale(dtype_of("qint8", 0.0, 0.0)) == 1
    assert get_zero_point(dtype_of("quint8", 0.0, 0.0)) == 0


def test_percentiles():
    """They leave out that share of the sorted numbers, up to the width of a bin."""
    sizes = np.sort(np.abs(OUTLIERS))
    found = range_of(histogram(OUTLIERS), "percentile", 99.0)[1]
    assert abs(found - sizes[int(0.99 * len(sizes))]) <= 90 / ranges.BINS
    low, high = range_of(histogram(OUTLIERS, "quint8"), "percentile", 99.0)
    wanted = np.quantile(OUTLIERS, [0.005, 0.995])
    assert np.abs(np.subtract((low, high), wanted)).max() <= 160 / ranges.BINS
    assert range_of(histogram(OUTLIERS), "percentile", 100)[1] == 90


def test_zeros_count_among_percentiles():
    values = np.append(np.zeros(9900, np.float32), np.linspace(1, 2, 100, dtype=np.float32))
    assert range_of(histogram(values), "percentile", 98.0)[1] < 0.01
    assert range_of(histogram(values, "quint8"), "percentile", 99.5)[1] == pytest.approx(1.75, 0.01)


def divergence(counts, first, last, levels):
    """Algorithm of the slides of S. Migacz, bin by bin, with an end on either side."""
    inside = counts[first:last]
    wanted = list(inside)
    wanted[0] += sum(counts[:first])
    wanted[-1] += sum(counts[last:])
    found = [0.0] * len(inside)
    for level in range(levels):
        bins = [i for i in range(len(inside)) if i * levels // len(inside) == level]
        filled = [i for i in bins if inside[i] > 0]
        for i in filled:
            found[i] = sum(inside[j] for j in bins) / len(filled)
    total, other = sum(wanted), sum(found)
    return sum(p / total * np.log(p / total / max(q / other, 1e-9))
               for p, q in zip(wanted, found, strict=True) if p > 0)  # fmt: skip


@pytest.mark.parametrize(("dtype", "levels"), [("qint8", 128), ("quint8", 256)])
def test_entropy(dtype, levels):
    """The divergence is that of the slides, and the range is the one where it is least."""
    made = histogram(OUTLIERS, dtype)
    candidates = ranges._candidates(made)
    for first, last in candidates[:: len(candidates) // 5]:
        wanted = divergence(made.counts.tolist(), first, last, levels)
        assert ranges.divergence(made, first, last) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    costs = [ranges.divergence(made, *each) for each in candidates]
    low, high = made.ends
    width = (high - low) / ranges.BINS
    first, last = candidates[int(np.argmin(costs))]
    assert range_of(made, "entropy") == pytest.approx((low + first * width, low + last * width))


@pytest.mark.parametrize("dtype", ["qint8", "quint8"])
def test_squared_errors(dtype):
    """The error is that of the middles of the bins, fake-quantized one by one."""
    made = histogram(OUTLIERS, dtype)
    low, high = made.ends
    width = (high - low) / ranges.BINS
    for first, last in ranges._candidates(made)[::40]:
        found = dtype_of(dtype, low + first * width, low + last * width)
        scale, zero_point = get_scale(found), get_zero_point(found) if dtype == "quint8" else 0
        qmin, qmax = formulas.LIMITS[dtype]
        grid = formulas.fake_quant(made.centers, scale, zero_point, qmin, qmax)
        wanted = np.average((made.centers - grid) ** 2, weights=made.counts)
        assert ranges.squared_error(made, first, last) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("method", ["percentile", "entropy"])
def test_rare_numbers_are_cut_off(method):
    """Two of 40 000 numbers are twenty times larger than all others."""
    low, high = range_of(histogram(OUTLIERS, "quint8"), method, 99.9)
    assert -40 < low < -2 and 2 < high < 50
    assert 2 < range_of(histogram(OUTLIERS), method, 99.9)[1] < 50


def test_squared_errors_cut_off_what_is_rarer():
    made = histogram(OUTLIERS)
    assert range_of(made, "mse")[1] > 60
    made.counts[:1000] *= 10000
    assert 2 < range_of(made, "mse")[1] < 50


@pytest.mark.parametrize("method", ["percentile", "entropy", "mse"])
def test_ranges_of_what_relu_makes(method):
    """Zeros, half of all numbers, do not narrow the range; the zero point is 0."""
    values = np.maximum(floats(40000, seed=3), 0)
    low, high = range_of(histogram(values, "quint8"), method)
    assert low == 0 and 0.8 * np.quantile(values, 0.9999) < high <= values.max()


def test_numbers_that_are_not_finite():
    made = histogram(np.float32([np.nan, np.inf, -np.inf, 2.0]))
    assert (made.low, made.high, made.counts.sum()) == (2, 2, 1)
