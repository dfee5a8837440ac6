"""tessera.data: datasets, samplers, collator."""

import pickle
import sys
from collections import namedtuple
from itertools import islice

import numpy as np
import pytest
from tessera.data import (
    ArrayDataset,
    Collator,
    ConcatDataset,
    Infinite,
    MapSampler,
    RandomSampler,
    ReplacementSampler,
    SequentialSampler,
    StreamSampler,
)

from tests.support.datasets import Count, Squares

Pair = namedtuple("Pair", "a b")


def test_array_dataset_gives_tuples():
    dataset = ArrayDataset(np.arange(4), np.arange(4) * 2)
    assert len(dataset) == 4 and dataset[3] == (3, 6)


def test_array_dataset_wants_equal_lengths():
    with pytest.raises(
        ValueError, match=r"ArrayDataset: arrays must have one length, got \[3, 4\]"
    ):
        ArrayDataset(np.zeros(3), np.zeros(4))


def test_concat_dataset_joins():
    joined = ConcatDataset([Squares(2), Squares(3)])
    assert [joined[i][1] for i in range(5)] == [0, 1, 0, 1, 4]
    assert joined[-1][1] == 4
    with pytest.raises(IndexError, match="ConcatDataset: index must be below 5, got 5"):
        joined[5]


def test_stream_has_no_length_and_no_index():
    with pytest.raises(TypeError, match="StreamDataset: a stream must"):
        len(Count())
    with pytest.raises(TypeError, match="StreamDataset: samples must be read in order"):
        Count()[0]


def test_sequential_sampler_batches():
    sampler = SequentialSampler(Squares(7), batch_size=3)
    assert list(sampler) == [[0, 1, 2], [3, 4, 5], [6]] and len(sampler) == 3
    sampler = SequentialSampler(Squares(7), batch_size=3, drop_last=True)
    assert list(sampler) == [[0, 1, 2], [3, 4, 5]] and len(sampler) == 2


def test_random_sampler_is_seeded_and_changes_every_epoch():
    first, second = (RandomSampler(Squares(50), batch_size=7, seed=3) for _ in range(2))
    epochs = [sum(first, []), sum(first, [])]
    assert epochs == [sum(second, []), sum(second, [])]
    assert sorted(epochs[0]) == list(range(50)) and epochs[0] != epochs[1]
    assert sum(RandomSampler(Squares(50), seed=4), []) != epochs[0]


def test_random_sampler_goes_on_from_an_epoch():
    whole = RandomSampler(Squares(20), seed=1)
    epochs = [sum(whole, []) for _ in range(3)]
    resumed = RandomSampler(Squares(20), seed=1)
    resumed.set_epoch(2)
    assert sum(resumed, []) == epochs[2]


def test_random_sampler_of_indices():
    assert sorted(sum(RandomSampler(Squares(9), indices=[2, 5, 7], seed=0), [])) == [2, 5, 7]


def test_replacement_sampler_follows_its_weights():
    sampler = ReplacementSampler(Squares(4), num_samples=2000, weights=[0, 1, 3, 0], seed=0)
    counts = np.bincount(sum(sampler, []), minlength=4)
    assert counts[[0, 3]].sum() == 0 and abs(counts[2] / counts[1] - 3) < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "RandomSampler: batch_size must be a positive integer, got 0"),
        ({"batch_size": 1.5}, "batch_size must be a positive integer, got 1.5"),
        ({"drop_last": 1}, "drop_last must be a bool, got 1"),
        ({"world_size": 2, "rank": 2}, "rank must be below 2, got 2"),
        ({"world_size": 0}, "world_size must be a positive integer, got 0"),
    ],
)
def test_sampler_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        RandomSampler(Squares(4), **arguments)


@pytest.mark.parametrize("weights", [[1, 2], [0, 0, 0], [1, -1, 2], [1, np.nan, 1]])
def test_replacement_weights(weights):
    with pytest.raises(ValueError, match="ReplacementSampler: weights must"):
        ReplacementSampler(Squares(3), weights=weights)


def test_ranks_share_the_samples():
    parts = [sum(SequentialSampler(Squares(7), world_size=3, rank=r), []) for r in range(3)]
    assert [len(part) for part in parts] == [3, 3, 3] and set(sum(parts, [])) == set(range(7))


def test_ranks_shuffle_alike_without_a_seed():
    parts = [sum(RandomSampler(Squares(8), world_size=2, rank=rank), []) for rank in range(2)]
    assert sorted(sum(parts, [])) == list(range(8))
    first, second = (sum(RandomSampler(Squares(50)), []) for _ in range(2))
    assert first != second  # one process alone


def test_ranks_draw_their_share():
    draws = [
        ReplacementSampler(Squares(5), num_samples=7, world_size=2, rank=rank, seed=1)
        for rank in range(2)
    ]
    alone = sum(ReplacementSampler(Squares(5), num_samples=7, seed=1), [])
    first, second = (sum(each, []) for each in draws)
    assert first == alone[0::2] and second == [*alone[1::2], alone[0]]
    assert [each.num_samples for each in draws] == [4, 4] and len(draws[0]) == 4


class Odd(MapSampler):
    """A sampler of a user: an iterator of its own keys."""

    def sample(self):
        return (f"key {number}" for number in range(1, len(self.dataset), 2))


def test_a_sampler_of_a_user():
    assert list(Odd(Squares(7), batch_size=2)) == [["key 1", "key 3"], ["key 5"]]
    parts = [sum(Odd(Squares(7), world_size=2, rank=rank), []) for rank in range(2)]
    assert parts == [["key 1", "key 5"], ["key 3", "key 1"]]


def test_infinite_starts_again():
    batches = islice(Infinite(SequentialSampler(Squares(3), batch_size=2)), 5)
    assert list(batches) == [[0, 1], [2], [0, 1], [2], [0, 1]]


def test_infinite_is_its_sampler_without_end():
    sampler = RandomSampler(Squares(7), batch_size=3, seed=5)
    endless = Infinite(sampler)
    assert (endless.batch_size, endless.seed, len(endless)) == (3, 5, sys.maxsize)
    first = next(endless)
    assert sorted(first + next(endless) + next(endless)) == list(range(7))
    assert endless.epoch == 1 and pickle.loads(pickle.dumps(Infinite([[0]]))).sampler == [[0]]
    with pytest.raises(AttributeError, match="no_such_name"):
        endless.no_such_name  # noqa: B018


def test_infinite_of_nothing_ends():
    assert list(islice(Infinite(SequentialSampler(Squares(0))), 3)) == []


def test_stream_sampler_counts():
    sampler = StreamSampler(2)
    assert list(islice(sampler, 3)) == [[0, 1], [2, 3], [4, 5]]
    for size in (0, 1.5, True):
        with pytest.raises(ValueError, match="StreamSampler: batch_size must be a positive int"):
            StreamSampler(size)


def test_collator_goes_through_containers():
    samples = [
        {"x": np.zeros(2), "y": Pair(1, [2.0, "s"])},
        {"x": np.ones(2), "y": Pair(3, [4.0, "t"])},
    ]
    batch = Collator().apply(samples)
    assert batch["x"].shape == (2, 2) and batch["y"].a.tolist() == [1, 3]
    assert isinstance(batch["y"], Pair) and batch["y"].b[1] == ["s", "t"]


def test_collator_refuses():
    with pytest.raises(TypeError, match="Collator: samples must be arrays, numbers or containers"):
        Collator().apply([object()])


UNEQUAL = {
    "shape, got (2,) and (3,)": [np.zeros(2), np.zeros(3), np.ones(2)],
    "shape, got (2,) and (3,) in field [1]": [(0, np.zeros(2)), (0, np.zeros(3))],
    "shape, got () and (1,) in field [0]['mask']": [
        [{"mask": np.array(0)}],
        [{"mask": np.zeros(1)}],
    ],
    "number of fields, got 1 and 2": [(1,), (1, 2)],
    "set of keys, got ['a'] and ['a', 'b']": [{"a": 1}, {"a": 1, "b": 2}],
}


@pytest.mark.parametrize("message", UNEQUAL)
def test_unequal_samples_are_named(message):
    with pytest.raises(ValueError) as caught:
        Collator().apply(UNEQUAL[message])
    advice = " (pad them to one, or pass a collator that does)"
    assert str(caught.value) == f"Collator: samples of a batch must have one {message}{advice}"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
