"""The statistics of `tools/dev bench --against`, on rows whose truth is known."""

import itertools
import math

import numpy as np
import pytest

from tests.benchmarks import paired


def times(seed, ratio, noise, count=paired.FEWEST, tail=0.0):
    """Pairs (new, old) around 1 ms, `ratio` apart; a share `tail` of all times is up to 3 x."""
    random = np.random.RandomState(seed)
    machine = np.exp(random.randn(count) * 0.3)  # what both of a pair share
    both = machine * np.exp(random.randn(2, count) * noise)
    both *= np.where(random.rand(2, count) < tail, random.uniform(1, 3, (2, count)), 1)
    return [(new * ratio, old) for new, old in zip(*both.tolist(), strict=True)]


# (noise of a single time, share of outliers); the last is worse than a loaded machine of two cores
MACHINES = [(0.001, 0.0), (0.02, 0.0), (0.02, 0.1), (0.05, 0.0)]


@pytest.mark.parametrize(("noise", "tail"), [(0.001, 0.0), (0.02, 0.0), (0.02, 0.03)])
def test_ten_percent_are_found_in_both_directions(noise, tail):
    rows = [times(seed, 1.10, noise, tail=tail) for seed in range(100)]
    assert [paired.compare(pairs).verdict for pairs in rows].count("lost") >= 95
    turned = [[(old, new) for new, old in pairs] for pairs in rows]
    assert [paired.compare(pairs).verdict for pairs in turned].count("won") >= 95


@pytest.mark.parametrize(("noise", "tail"), MACHINES)
@pytest.mark.parametrize("ratio", [1 / 1.02, 1.0, 1.02])
def test_noise_is_no_loss_and_no_win(ratio, noise, tail):
    """Of 200 rows the bound allows 1 in 20 above the true ratio, far fewer above the limit."""
    verdicts = [paired.compare(times(seed, ratio, noise, tail=tail)).verdict for seed in range(200)]
    assert verdicts.count("lost") <= 10 and verdicts.count("won") <= 10
    twice = [a == b != "" for a, b in zip(verdicts[::2], verdicts[1::2], strict=True)]
    assert not any(twice)


@pytest.mark.parametrize("count", [5, 15, 16, 40])
@pytest.mark.parametrize("truth", [0.5, 1.0, 2.0])
def test_a_bound_holds_as_often_as_it_says(count, truth):
    found = [paired.compare(times(seed, truth, 0.05, count)) for seed in range(400)]
    for held in ([c.lower <= truth for c in found], [c.upper >= truth for c in found]):
        assert sum(held) / len(held) > paired.LEVEL - 0.03
    assert sum(c.ratio for c in found) / len(found) == pytest.approx(truth, rel=0.02)


def test_the_directions_mirror_each_other():
    pairs = times(3, 1.07, 0.04)
    there, back = paired.compare(pairs), paired.compare([(old, new) for new, old in pairs])
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.lower == pytest.approx(1 / back.upper)


# Critical values of the signed-rank test at 5 %, one-sided, from the printed tables.
@pytest.mark.parametrize(("count", "critical"), [(5, 0), (10, 10), (15, 30), (20, 60), (30, 151)])
def test_the_distribution_is_the_tabled_one(count, critical):
    assert paired.bound_index(count) == critical


def test_the_distribution_is_what_counting_gives():
    sums = [
        sum(rank for rank, sign in enumerate(signs, 1) if sign)
        for signs in itertools.product([0, 1], repeat=9)
    ]
    assert paired.sign_patterns(9) == [sums.count(total) for total in range(46)]


def test_equal_times_have_the_ratio_one():
    assert paired.compare([(2.0, 2.0)] * 15) == paired.Comparison(1.0, 1.0, 1.0)


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_times_must_be_positive(bad):
    with pytest.raises(ValueError, match=f"bench: times must be above 0, got {bad}"):
        paired.compare([(1.0, 1.0)] * 14 + [(bad, 1.0)])


def test_four_pairs_bound_nothing():
    with pytest.raises(ValueError, match="bench: a bound needs at least 5 pairs, got 4"):
        paired.compare([(1.0, math.e)] * 4)
