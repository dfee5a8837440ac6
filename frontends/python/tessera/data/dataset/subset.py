"""Parts of a dataset."""

import math
import operator

import numpy as np

from .dataset import Dataset, StreamDataset


class Subset(Dataset):
    """The samples of `dataset` at `indices`, in their order.

    TypeError: the dataset must not be a stream, indices must be integers. IndexError: indices must
    be those of samples.

    >>> from tessera.data import Subset
    >>> from tessera.data import ArrayDataset
    >>> Subset(ArrayDataset([5, 6, 7]), [2, 0])[0]
    (7,)
    """

    def __init__(self, dataset, indices):
        if isinstance(dataset, StreamDataset):
            kind = type(dataset).__name__
            raise TypeError(f"Subset: dataset must have a length, got {kind}")
        self.dataset = dataset
        self.indices = [operator.index(index) for index in indices]
        size = len(dataset)
        wrong = [index for index in self.indices if not -size <= index < size]
        if wrong:
            raise IndexError(f"Subset: indices must be in [{-size}, {size - 1}], got {wrong[0]}")

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, seed=None):
    """Parts of `dataset` that share no sample, drawn by chance; returns a list of Subset.

    `lengths` are their sizes, which add up to that of the dataset, or their shares, which add up to
    1: of these each part is rounded down, and what is left goes to the first parts, one sample
    each. Equal seeds split alike; without one the split is a new one each time.

    ValueError: lengths must be as said. TypeError: dataset must have a length.

    >>> from tessera.data import random_split
    >>> from tessera.data import ArrayDataset
    >>> [len(part) for part in random_split(ArrayDataset(range(10)), [0.75, 0.25], seed=0)]
    [8, 2]
    """
    sizes = _sizes(len(dataset), list(lengths))
    order = np.random.default_rng(seed).permutation(len(dataset)).tolist()
    ends = np.cumsum(sizes).tolist()
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes(total, lengths):
    """The size of each part."""
    if not lengths or any(not length >= 0 for length in lengths):  # refuses NaN
        raise ValueError(f"random_split: lengths must be numbers >= 0, got {lengths}")
    if all(isinstance(length, (int, np.integer)) for length in lengths):
        if sum(lengths) != total:
            raise ValueError(f"random_split: lengths must add up to {total}, got {lengths}")
        return [int(length) for length in lengths]
    if not math.isclose(sum(lengths), 1):
        raise ValueError(f"random_split: shares must add up to 1, got {lengths}")
    sizes = [math.floor(total * share) for share in lengths]
    for part in range(total - sum(sizes)):
        sizes[part % len(sizes)] += 1
    return sizes
