"""Parts of datasets, weighted draws, and loaders that are given numbers in place of a sampler."""

from collections import Counter

import numpy as np
import pytest
from tessera.data import (
    ArrayDataset,
    DataLoader,
    SequentialSampler,
    Subset,
    WeightedRandomSampler,
    random_split,
)

from tests.support.datasets import Count, Squares

TEN = ArrayDataset(np.arange(10))


def numbers(dataset):
    return [int(dataset[i][0]) for i in range(len(dataset))]


def test_a_subset_has_its_samples_in_order():
    part = Subset(TEN, np.array([7, 0, -1]))
    assert numbers(part) == [7, 0, 9] and len(part) == 3
    assert numbers(Subset(part, [2])) == [9]
    with pytest.raises(IndexError, match=r"Subset: indices must be in \[-10, 9\], got 10"):
        Subset(TEN, [10])
    with pytest.raises(TypeError, match="Subset: dataset must have a length, got Count"):
        Subset(Count(), [0])


@pytest.mark.parametrize(("lengths", "sizes"), [
    ([7, 3], [7, 3]), ([0.5, 0.3, 0.2], [5, 3, 2]), ([0.75, 0.25], [8, 2]), ([10, 0], [10, 0]),
    ([1 / 3] * 3, [4, 3, 3]), ([np.int64(4), 6], [4, 6]),
])  # fmt: skip
def test_a_split_has_each_sample_once(lengths, sizes):
    parts = random_split(TEN, lengths, seed=3)
    assert [len(part) for part in parts] == sizes
    assert sorted(sum(map(numbers, parts), [])) == list(range(10))
    again = random_split(TEN, lengths, seed=3)
    assert [numbers(part) for part in parts] == [numbers(part) for part in again]


def test_a_split_without_a_seed_is_another_one_each_time():
    splits = {tuple(numbers(random_split(TEN, [5, 5])[0])) for _ in range(8)}
    assert len(splits) > 1


@pytest.mark.parametrize(("lengths", "text"), [
    ([7, 4], r"lengths must add up to 10, got \[7, 4\]"),
    ([0.5, 0.4], r"shares must add up to 1, got \[0.5, 0.4\]"),
    ([-1, 11], r"lengths must be numbers >= 0, got"), ([], "lengths must be numbers"),
    ([float("nan"), 1.0], "lengths must be numbers"),
])  # fmt: skip
def test_lengths_that_do_not_fit(lengths, text):
    with pytest.raises(ValueError, match=f"random_split: {text}"):
        random_split(TEN, lengths)


def test_weighted_draws_have_the_weights():
    sampler = WeightedRandomSampler([1.0, 0.0, 3.0], 4000, batch_size=7, seed=1)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 572 and len(batches[0]) == 7
    count = Counter(sum(batches, []))
    assert count[1] == 0 and abs(count[2] / 4000 - 0.75) < 0.03
    assert list(WeightedRandomSampler([1.0, 0.0, 3.0], 4000, batch_size=7, seed=1)) == batches
    once = WeightedRandomSampler([1.0, 0.0, 3.0], 2, replacement=False, batch_size=2)
    assert sorted(next(iter(once))) == [0, 2]


@pytest.mark.parametrize(("arguments", "text"), [
    (([1.0, -1.0], 2), "weights must be a row of finite numbers"),
    (([0.0, 0.0], 2), "weights must be a row"), (([[1.0]], 2), "weights must be a row"),
    (([1.0, 0.0], 2, False), "num_samples must be at most 1, the weights above 0, .* got 2"),
    (([1.0], 0), "num_samples must be a positive integer, got 0"),
    (([1.0], None), "num_samples must be a positive integer, got None"),
])  # fmt: skip
def test_weights_that_do_not_fit(arguments, text):
    with pytest.raises(ValueError, match=f"WeightedRandomSampler: {text}"):
        WeightedRandomSampler(*arguments)


def labels(loader):
    return [y.tolist() for _, y in loader]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_of_batches(workers):
    loader = DataLoader(Squares(5), batch_size=2, num_workers=workers)
    assert labels(loader) == [[0, 1], [4, 9], [16]] and len(loader) == 3
    loader.close()
    loader = DataLoader(Squares(5), batch_size=2, drop_last=True, num_workers=workers)
    assert labels(loader) == [[0, 1], [4, 9]] and len(loader) == 2
    loader.close()


def test_a_loader_that_shuffles():
    loader = DataLoader(Squares(20), batch_size=4, shuffle=True, seed=5)
    first, second = labels(loader), labels(loader)
    assert first != second
    for epoch in (first, second):
        assert sorted(sum(epoch, [])) == [n * n for n in range(20)]
    again = DataLoader(Squares(20), batch_size=4, shuffle=True, seed=5)
    assert [labels(again), labels(again)] == [first, second]


def test_a_loader_of_a_stream():
    loader = DataLoader(Count(), batch_size=3)
    assert len(next(iter(loader))) == 3
    with pytest.raises(ValueError, match="shuffle and drop_last must be False for a stream"):
        DataLoader(Count(), shuffle=True)


def test_what_a_loader_refuses():
    sampler = SequentialSampler(Squares(5))
    with pytest.raises(ValueError, match="must be the sampler's where one is given, got batch"):
        DataLoader(Squares(5), sampler, batch_size=2)
    with pytest.raises(TypeError, match=r"sampler must yield .*batch_size=n.*, got 32"):
        DataLoader(Squares(5), 32)
    with pytest.raises(ValueError, match="batch_size must be a positive integer, got 0"):
        DataLoader(Squares(5), batch_size=0)
    with pytest.raises(TypeError, match="DataLoader: shuffle must be a bool, got 1"):
        DataLoader(Squares(5), shuffle=1)
