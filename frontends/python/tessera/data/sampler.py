"""Samplers: which samples make up which batch.

Shuffling depends on the seed and the epoch alone, so it is the same for every number of workers,
and `set_epoch` continues a run where a checkpoint left it.
"""

import math
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import count, cycle, islice

import numpy as np


def _check(name, holds, must, value):
    if not holds:
        raise ValueError(f"{name}: {must}, got {value!r}")


def _is_positive(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 0


def _seed(seed, world_size):
    if seed is None:  # ranks that share the samples of an epoch must shuffle alike
        return 0 if world_size > 1 else int(np.random.SeedSequence().generate_state(1)[0])
    return seed


class Sampler(ABC):
    """Yields lists of indices, one list for each batch."""

    @abstractmethod
    def __iter__(self):
        """The batches of one epoch."""


class MapSampler(Sampler):
    """Batches of a dataset with a length. A subclass gives `sample`, the indices of one epoch.

    `num_samples` counts the samples of one epoch (all, when it is None). Of `world_size` processes
    this is number `rank`, and gets its share of them; without a `seed` such processes take seed 0,
    and one process alone takes a new one.
    """

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None,
                 world_size=None, rank=None, seed=None):  # fmt: skip
        name, good = type(self).__name__, _is_positive(batch_size)
        _check(name, good, "batch_size must be a positive integer", batch_size)
        _check(name, isinstance(drop_last, bool), "drop_last must be a bool", drop_last)
        good = num_samples is None or _is_positive(num_samples)
        _check(name, good, "num_samples must be a positive integer", num_samples)
        good = world_size is None or _is_positive(world_size)
        _check(name, good, "world_size must be a positive integer", world_size)
        self.world_size, self.rank = world_size or 1, rank or 0
        good = 0 <= self.rank < self.world_size
        _check(name, good, f"rank must be below {self.world_size}", rank)
        self.dataset, self.batch_size, self.drop_last = dataset, int(batch_size), drop_last
        self._total = num_samples
        self.seed, self.epoch = _seed(seed, self.world_size), 0

    @property
    def total_samples(self):
        """Samples of one epoch, over all ranks."""
        return len(self.dataset) if self._total is None else self._total

    @property
    def num_samples(self):
        """Samples of one epoch on this rank: the ranks' share, rounded up."""
        return math.ceil(self.total_samples / self.world_size)

    @abstractmethod
    def sample(self):
        """The indices of one epoch, in order, over all ranks."""

    def set_epoch(self, epoch):
        """The next iteration is number `epoch`; counting starts at 0."""
        self.epoch = epoch

    def generator(self):
        """Random numbers of this epoch."""
        return np.random.RandomState([int(self.seed) & 0xFFFFFFFF, self.epoch])

    def scatter(self, indices):
        """This rank's share; the first indices are repeated until every rank has as many.

        `indices` is the list of one epoch. A subclass may deal it out in another way.
        """
        total = self.world_size * math.ceil(len(indices) / self.world_size)
        return list(islice(cycle(indices), total))[self.rank :: self.world_size]

    def batch(self):
        """The batches of one epoch."""
        indices = self.sample()
        indices = indices.tolist() if isinstance(indices, np.ndarray) else list(indices)
        if self.world_size > 1:
            indices = self.scatter(indices)
        self.epoch += 1
        for start in range(0, len(indices), self.batch_size):
            batch = indices[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __iter__(self):
        return self.batch()

    def __len__(self):
        share = self.num_samples
        return share // self.batch_size if self.drop_last else math.ceil(share / self.batch_size)


class SequentialSampler(MapSampler):
    """The samples in order, or `indices` in their order."""

    def __init__(
        self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None
    ):
        super().__init__(dataset, batch_size, drop_last, None, world_size, rank, seed=0)
        self.indices = indices

    @property
    def total_samples(self):
        """Samples of one epoch, over all ranks."""
        return len(self.dataset) if self.indices is None else len(self.indices)

    def sample(self):
        """The indices of one epoch, in order."""
        return np.arange(len(self.dataset)) if self.indices is None else self.indices


class RandomSampler(MapSampler):
    """Every sample once an epoch, in random order."""

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None,
                 world_size=None, rank=None, seed=None):  # fmt: skip
        super().__init__(dataset, batch_size, drop_last, None, world_size, rank, seed)
        self.indices = indices

    @property
    def total_samples(self):
        """Samples of one epoch, over all ranks."""
        return len(self.dataset) if self.indices is None else len(self.indices)

    def sample(self):
        """The indices of one epoch, in order."""
        order = self.generator().permutation(self.total_samples)
        return order if self.indices is None else np.asarray(self.indices)[order]


class ReplacementSampler(MapSampler):
    """`num_samples` draws with replacement, with probabilities in proportion to `weights`."""

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None, weights=None,
                 world_size=None, rank=None, seed=None):  # fmt: skip
        super().__init__(dataset, batch_size, drop_last, num_samples, world_size, rank, seed)
        self.weights = None
        if weights is not None:
            self.weights = np.asarray(weights, dtype=np.float64)
            self._check_weights()

    def _check_weights(self):
        name, weights = type(self).__name__, self.weights
        _check(
            name,
            len(weights) == len(self.dataset),
            f"weights must number {len(self.dataset)}",
            len(weights),
        )
        good = np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0
        _check(name, good, "weights must be finite, not negative and not all 0", weights.tolist())

    def sample(self):
        """The indices of one epoch, in order."""
        share = None if self.weights is None else self.weights / self.weights.sum()
        return self.generator().choice(len(self.dataset), self.total_samples, p=share)


class WeightedRandomSampler(MapSampler):
    """`num_samples` draws of the numbers of samples, with probabilities in proportion to `weights`,
    one for each sample; without `replacement` no sample is drawn twice. As PyTorch's, with batches.

    ValueError: weights must be finite, not negative and not all 0; without replacement so many of
    them as num_samples must be above 0.

    >>> from tessera.data import WeightedRandomSampler
    >>> sampler = WeightedRandomSampler([0.0, 1.0], 3, batch_size=2)
    >>> list(sampler)
    [[1, 1], [1]]
    """

    def __init__(self, weights, num_samples, replacement=True, batch_size=1, drop_last=False,
                 world_size=None, rank=None, seed=None):  # fmt: skip
        weights = np.asarray(weights, dtype=np.float64)
        good = weights.ndim == 1 and np.isfinite(weights).all() and (weights >= 0).all()
        must = "weights must be a row of finite numbers, not negative and not all 0"
        _check("WeightedRandomSampler", good and weights.sum() > 0, must, weights.tolist())
        _check("WeightedRandomSampler", num_samples is not None,
               "num_samples must be a positive integer", num_samples)  # fmt: skip
        super().__init__(weights, batch_size, drop_last, num_samples, world_size, rank, seed)
        most = int(np.count_nonzero(weights))
        must = f"num_samples must be at most {most}, the weights above 0, without replacement"
        _check("WeightedRandomSampler", replacement or num_samples <= most, must, num_samples)
        self.weights, self.replacement = weights, replacement

    def sample(self):
        """The indices of one epoch, in order."""
        share = self.weights / self.weights.sum()
        return self.generator().choice(len(share), self.total_samples, self.replacement, share)


class Infinite(Sampler):
    """A sampler that starts again when it is at its end; it has all the attributes of `sampler`.

    A new iteration goes on where the last one was left.
    """

    def __init__(self, sampler):
        self.sampler = sampler
        self._batches = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._batches is not None:
            with suppress(StopIteration):
                return next(self._batches)
        self._batches = iter(self.sampler)
        return next(self._batches)

    def __len__(self):
        return sys.maxsize

    def __getattr__(self, name):
        if name == "sampler":  # not there yet, while it is copied
            raise AttributeError(f"Infinite: sampler must be set, got a request for {name!r}")
        return getattr(self.sampler, name)


class StreamSampler(Sampler):
    """How many samples of a StreamDataset make a batch."""

    def __init__(self, batch_size=1):
        good = _is_positive(batch_size)
        _check("StreamSampler", good, "batch_size must be a positive integer", batch_size)
        self.batch_size = int(batch_size)

    def sample(self):
        """The numbers of the samples, without end."""
        return count()

    def batch(self):
        """Lists of `batch_size` numbers, without end."""
        samples = iter(self.sample())
        while batch := list(islice(samples, self.batch_size)):
            yield batch

    def __iter__(self):
        return self.batch()
