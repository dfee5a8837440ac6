"""Datasets for test_data.py: workers import them by name."""

import os
import random
import time

import numpy as np
from tessera.data import Dataset, StreamDataset, get_worker_info


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


class Computes(Dataset):
    """Uses tensors in the worker."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        import tessera

        x = tessera.tensor(np.full((64, 64), index, dtype=np.float32))
        return (x @ x).numpy()
