"""Making batches of samples, in this process or in a worker."""

import random
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import NamedTuple

import numpy as np


class Stream(Enum):
    """What comes instead of a batch."""

    END = 0


@dataclass
class BatchMaker:
    """Dataset, transform and collator: all that a worker is sent."""

    dataset: object
    transform: object
    collator: object
    seed: int

    def finish(self, samples):
        """Samples to a batch."""
        if hasattr(self.transform, "apply_batch"):
            samples = self.transform.apply_batch(samples)
        else:
            samples = [self.transform(sample) for sample in samples]
        return self.collator.apply(samples)

    def from_indices(self, epoch, number, indices):
        """Batch `number`; the global generators depend on seed, epoch and number alone."""
        with _seeded([self.seed, epoch, number]):
            return self.finish([self.dataset[index] for index in indices])

    def from_samples(self, epoch, number, samples):
        """Batch `number` of the samples of a stream, or Stream.END; seeded as `from_indices`."""
        if samples is Stream.END:
            return samples
        with _seeded([self.seed, epoch, number]):
            return self.finish(samples)


class Reader:
    """Samples of a stream, anew for every iteration of the loader."""

    def __init__(self, dataset):
        self.dataset, self.iteration, self.samples = dataset, None, None

    def read(self, iteration, size):
        """The next samples, at most `size`, or Stream.END."""
        if iteration != self.iteration:
            self.iteration, self.samples = iteration, iter(self.dataset)
        return list(islice(self.samples, size)) or Stream.END


class Run(NamedTuple):
    """One iteration over the loader: its number, and the sampler's epoch."""

    iteration: int
    epoch: int


@contextmanager
def _seeded(numbers):
    ours, theirs = np.random.get_state(), random.getstate()
    np.random.seed([number & 0xFFFFFFFF for number in numbers])
    random.seed(repr(numbers))
    try:
        yield
    finally:
        np.random.set_state(ours)
        random.setstate(theirs)
