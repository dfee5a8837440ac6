"""Datasets for test_data.py and test_loader.py: workers import them by name."""

import os
import random
import resource
import time
from collections import namedtuple

import numpy as np
from tessera.data import ArrayDataset, Dataset, StreamDataset, Transform, get_worker_info

Pair = namedtuple("Pair", "a b")


class Squares(Dataset):
    """(index, index squared), and trouble at chosen indices."""

    def __init__(self, length, fails=None, sleeps=None, dies=None):
        self.length, self.fails, self.sleeps, self.dies = length, fails, sleeps, dies

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index == self.fails:
            raise KeyError(f"no sample {index}")
        if index == self.sleeps:
            time.sleep(60)
        if index == self.dies:
            os._exit(7)
        return np.full(3, index, dtype=np.float32), index * index


class Noise(Dataset):
    """Samples that come from the global generators."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return np.random.rand(2), random.random()


class Count(StreamDataset):
    """0 to 10, shared out among workers."""

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.idx, info.num_workers) if info else (0, 1)
        return iter(range(first, 11, step))


class PickyError(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class Picky(Dataset):
    """Raises PickyError."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        raise PickyError(1, 2)


class RandomTensors(Dataset):
    """Samples that come from the generator of tensors."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        import tessera

        return tessera.random.uniform().item()


class Computes(Dataset):
    """Uses tensors in the worker."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        import tessera

        x = tessera.tensor(np.full((64, 64), index, dtype=np.float32))
        return (x @ x).numpy()


class Stalls(StreamDataset):
    """One sample; the next takes a minute."""

    def __iter__(self):
        yield 0
        time.sleep(60)
        yield 1


class Slow(Dataset):
    """Odd samples take a minute."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index % 2:
            time.sleep(60)
        return index


class Large(Dataset):
    """Arrays that go through shared memory, and an empty one."""

    def __init__(self, length, limit=None):
        self.length, self.limit = length, limit

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit, self.limit))
        single = np.full((300, 200), index, dtype=np.float32)
        return single, np.full((100, 200), index - 0.5), np.zeros(0)


class Whole(Dataset):
    """What get_worker_info tells, -1 where it tells nothing."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        info = get_worker_info()
        return (info.idx, info.worker, info.num_workers, info.seed) if info else (-1,) * 4


class WorkerOf(Transform):
    """Puts the number of the worker beside a sample."""

    def apply(self, input):
        time.sleep(0.01)
        return input, get_worker_info().idx


class Tagged(Transform):
    """Puts random numbers beside a sample, or names the parts of a pair."""

    def __init__(self, named=False):
        self.named = named

    @staticmethod
    def pairs():
        """A dataset of one sample."""
        return ArrayDataset(np.zeros((1, 2)), np.ones((1, 3)))

    def apply(self, input):
        if self.named:
            return Pair(input[0], {"x": input[1], "name": "s"})
        return input, np.random.rand(), random.random()
