"""HistogramObserver: counts over several tensors, and the range that loses least."""

import copy
import pickle

import numpy as np
import pytest
from tessera import Tensor, jit
from tessera.quantization import HistogramObserver, MinMaxObserver, QuantMode
from tessera.quantization import histogram as counting

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats
from tests.support.helper import same_bits


def observed(observer, *arrays):
    for array in arrays:
        observer(Tensor(array))
    return observer


def test_counts_of_one_tensor():
    """Counts are NumPy's between the least and the largest number."""
    x = floats(1000)
    observer = observed(HistogramObserver(bins=16), x)
    assert same_bits(observer.histogram, np.float32(np.histogram(x, 16)[0]))
    assert (observer.min_val.item(), observer.max_val.item()) == (x.min(), x.max())


def test_counts_add_up_in_one_range():
    """A tensor within the range so far adds its counts."""
    first, second = floats(1000), floats(1000, seed=1, scale=0.1)
    observer = observed(HistogramObserver(bins=16), first, second)
    ends = first.min(), first.max()
    wanted = np.histogram(first, 16)[0] + np.histogram(second, 16, ends)[0]
    assert same_bits(observer.histogram, np.float32(wanted))


@pytest.mark.parametrize("scale", [1.5, 10, 1e6])
def test_counts_move_to_a_wider_range(scale):
    """No number is lost, and shares of intervals stay what they were, to a bin."""
    first, second = floats(20000), floats(20000, seed=1, scale=scale)
    observer = observed(HistogramObserver(bins=512), first, second)
    both = np.concatenate([first, second])
    counts = observer.histogram.numpy()
    low, high = observer.min_val.item(), observer.max_val.item()
    assert counts.sum() == pytest.approx(both.size)
    assert low <= both.min() and both.max() <= high < both.max() + np.ptp(first)
    below = np.append(0, np.cumsum(counts))
    edges = np.linspace(low, high, 513)
    wanted = np.searchsorted(np.sort(both), edges)
    largest = np.histogram(both, edges)[0].max()  # a bin of the old range may reach over an edge
    assert np.abs(below - wanted).max() <= largest


def test_counts_of_constant_tensors():
    """Ranges without a width count, and take up others."""
    observer = observed(HistogramObserver(bins=8), np.full(3, 2.0, np.float32))
    assert observer.histogram.numpy().tolist() == [3] + [0] * 7
    assert same_bits(observer.get_qparams().scale, np.float32(2) / np.float32(127.5))
    observed(observer, np.full(2, 2.0, np.float32))
    assert observer.histogram.numpy().sum() == 5
    observed(observer, np.float32([0, 8]))
    assert observer.histogram.numpy().tolist() == [1, 0, 5, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("shape", [(), (1,)])
def test_one_number(shape):
    """The scale of one number, and of a zero, is that of MinMaxObserver."""
    for value in (-3.0, 0.0, 1e-40):
        x = np.full(shape, value, np.float32)
        for mode in QuantMode:
            found, wanted = (observed(kind(mode=mode, dtype="quint8"), x).get_qparams()
                             for kind in (HistogramObserver, MinMaxObserver))  # fmt: skip
            assert same_bits(found.scale, wanted.scale)


def test_numbers_at_the_ends_of_float32():
    """Ranges that reach the ends of float32 have a finite scale."""
    observer = observed(HistogramObserver(), np.float32([-3.4e38, 3.4e38]), np.float32([0, 1]))
    assert np.isfinite(observer.get_qparams().scale.item())


def test_what_is_not_observed():
    """NaN and infinities do not count, nor does anything while it is disabled."""
    observer = observed(HistogramObserver(bins=4), np.float32([np.nan, np.inf, -np.inf]))
    with pytest.raises(RuntimeError, match="HistogramObserver: no number has been observed"):
        observer.get_qparams()
    observed(observer, np.float32([0, np.nan, 4]))
    observer.disable()
    observed(observer, np.float32([7]))
    assert observer.histogram.numpy().tolist() == [1, 0, 0, 1]


def error_of(x, qparams):
    """Squared error of numbers that are rounded by QParams."""
    low, high = formulas.LIMITS[qparams.dtype_meta]
    zero = 0 if qparams.zero_point is None else qparams.zero_point.item()
    rounded = formulas.fake_quant(x, qparams.scale.item(), zero, low, high)
    return ((np.float64(rounded) - x) ** 2).sum()


@pytest.mark.parametrize("dtype", ["qint8", "quint4"])
def test_rare_large_numbers_are_cut_off(dtype):
    """The squared error is less than that of the whole range, though some numbers saturate."""
    x = np.concatenate([floats(200000), np.float32([20])])
    mode = QuantMode.ASYMMERTIC if dtype == "quint4" else QuantMode.SYMMERTIC
    found, plain = (observed(kind(mode=mode, dtype=dtype), x).get_qparams()
                    for kind in (HistogramObserver, MinMaxObserver))  # fmt: skip
    assert found.scale.item() < plain.scale.item()
    assert error_of(x, found) < 0.8 * error_of(x, plain)


def test_squared_errors():
    """The error of a range is that of numbers which fill the bins evenly."""
    counts = np.random.default_rng(0).integers(0, 50, 64)
    inside = (np.arange(2000) + 0.5) / 2000
    for first, last, levels in [(0, 63, 16), (5, 40, 8), (10, 50, 7), (3, 3, 4)]:
        wanted = sum(
            count * formulas.squared_error(number + inside, first, last + 1, levels) / 2000
            for number, count in enumerate(counts)
        )
        found = counting.squared_error(counts.astype(float), first, last, levels)
        assert found == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_search(seed):
    """The range is that of the search step by step, as it is described."""
    random = np.random.default_rng(seed)
    x = random.gamma(2, 10, 5000) if seed % 2 else random.standard_normal(5000)
    counts = np.float64(np.histogram(x, 128)[0])
    assert counting.best_range(counts, 16) == formulas.search(counts, 16)


def test_traces_are_refused():
    """Counts are made in NumPy, so that a trace is refused by name."""
    observer = HistogramObserver()
    with pytest.raises(RuntimeError, match="HistogramObserver: a traced function cannot call it"):
        jit.trace(observer)(Tensor([1.0]))
    assert not observer.is_observed()


def test_states_and_copies():
    """state_dict, copies and pickles carry the counts."""
    first = observed(HistogramObserver(bins=64), floats(100))
    loaded = HistogramObserver(bins=64)
    loaded.load_state_dict(first.state_dict())
    copies = [loaded, copy.deepcopy(first), pickle.loads(pickle.dumps(first))]
    observed(first, floats(100, seed=1, scale=3))
    for each in copies:
        observed(each, floats(100, seed=1, scale=3))
        assert same_bits(each.histogram, first.histogram)
        assert same_bits(each.get_qparams().scale, first.get_qparams().scale)


@pytest.mark.parametrize("name", ["bins", "upsample_rate"])
def test_bad_arguments(name):
    """Bins and cells must be whole numbers, and enough."""
    with pytest.raises(ValueError, match=f"HistogramObserver: {name} must be an int >= "):
        HistogramObserver(**{name: 0})
    with pytest.raises(ValueError, match=f"HistogramObserver: {name} must be an int >= "):
        HistogramObserver(**{name: 2.5})
