"""Samplers: which samples make up which batch.

Shuffling depends on the seed and the epoch alone, so it is the same for every number of workers,
and `set_epoch` continues a run where a checkpoint left it.
"""

import math
from abc import ABC, abstractmethod

import numpy as np


def _check(name, holds, must, value):
    if not holds:
        raise ValueError(f"{name}: {must}, got {value!r}")


class Sampler(ABC):
    """Yields lists of indices, one list for each batch."""

    @abstractmethod
    def __iter__(self):
        """The batches of one epoch."""


class MapSampler(Sampler):
    """Batches of a dataset with a length. A subclass gives `sample`, the indices of one epoch."""

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None,
                 world_size=None, rank=None, seed=None):  # fmt: skip
        name = type(self).__name__
        good = isinstance(batch_size, (int, np.integer)) and batch_size > 0
        _check(
            name,
            good and not isinstance(batch_size, bool),
            "batch_size must be a positive integer",
            batch_size,
        )
        _check(name, isinstance(drop_last, bool), "drop_last must be a bool", drop_last)
        _check(
            name,
            num_samples is None or num_samples > 0,
            "num_samples must be positive",
            num_samples,
        )
        self.dataset, self.batch_size, self.drop_last = dataset, int(batch_size), drop_last
        self._num_samples = num_samples
        self.world_size, self.rank = world_size or 1, rank or 0
        _check(
            name, 0 <= self.rank < self.world_size, f"rank must be below {self.world_size}", rank
        )
        self.seed = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
        self.epoch = 0

    @property
    def num_samples(self):
        """Samples of one epoch, over all ranks."""
        return len(self.dataset) if self._num_samples is None else self._num_samples

    @abstractmethod
    def sample(self):
        """The indices of one epoch, in order."""

    def set_epoch(self, epoch):
        """The next iteration is number `epoch`; counting starts at 0."""
        self.epoch = epoch

    def generator(self):
        """Random numbers of this epoch."""
        return np.random.RandomState([int(self.seed) & 0xFFFFFFFF, self.epoch])

    def scatter(self, indices):
        """This rank's share; the first indices are repeated until every rank has as many."""
        share = math.ceil(len(indices) / self.world_size)
        padded = np.resize(indices, share * self.world_size) if len(indices) else indices
        return padded[self.rank :: self.world_size]

    def batch(self):
        """The batches of one epoch."""
        indices = self.scatter(np.asarray(self.sample(), dtype=np.int64)).tolist()
        self.epoch += 1
        for start in range(0, len(indices), self.batch_size):
            batch = indices[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __iter__(self):
        return self.batch()

    def __len__(self):
        share = math.ceil(self.num_samples / self.world_size)
        return share // self.batch_size if self.drop_last else math.ceil(share / self.batch_size)


class SequentialSampler(MapSampler):
    """The samples in order, or `indices` in their order."""

    def __init__(
        self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None
    ):
        super().__init__(dataset, batch_size, drop_last, None, world_size, rank, seed=0)
        self.indices = indices

    @property
    def num_samples(self):
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
    def num_samples(self):
        """Samples of one epoch, over all ranks."""
        return len(self.dataset) if self.indices is None else len(self.indices)

    def sample(self):
        """The indices of one epoch, in order."""
        order = self.generator().permutation(self.num_samples)
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
        return self.generator().choice(len(self.dataset), self.num_samples, p=share)


class Infinite(Sampler):
    """A sampler that starts again when it is at its end."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from self.sampler

    def __len__(self):
        raise TypeError(
            "Infinite: an endless sampler must be stopped by its user, got a request for its length"
        )


class StreamSampler(Sampler):
    """How many samples of a StreamDataset make a batch."""

    def __init__(self, batch_size=1):
        _check("StreamSampler", batch_size > 0, "batch_size must be positive", batch_size)
        self.batch_size = batch_size

    def __iter__(self):
        while True:
            yield range(self.batch_size)
