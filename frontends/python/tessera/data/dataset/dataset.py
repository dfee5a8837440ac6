"""Datasets: samples by index, or a stream of samples."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from itertools import accumulate


class Dataset(ABC):
    """Samples by index. A subclass gives `__getitem__` and `__len__`."""

    @abstractmethod
    def __getitem__(self, index):
        """The sample number `index`, usually a tuple."""

    @abstractmethod
    def __len__(self):
        """How many samples there are."""


class StreamDataset(Dataset):
    """Samples in the order in which they come. A subclass gives `__iter__`."""

    @abstractmethod
    def __iter__(self):
        """One sample after the other, from the start."""

    def __getitem__(self, index):
        raise TypeError(f"StreamDataset: samples must be read in order, got index {index!r}")

    def __len__(self):
        raise TypeError(
            "StreamDataset: a stream must be read to its end, got a request for its length"
        )


class ArrayDataset(Dataset):
    """Arrays of equal length; sample `i` is the tuple of their entries `i`."""

    def __init__(self, *arrays):
        lengths = [len(array) for array in arrays]
        if not arrays or len(set(lengths)) != 1:
            raise ValueError(f"ArrayDataset: arrays must have one length, got {lengths}")
        self.arrays = arrays

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __len__(self):
        return len(self.arrays[0])


class ConcatDataset(Dataset):
    """Several datasets, one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: at least one dataset must be given, got none")
        streams = [type(d).__name__ for d in self.datasets if isinstance(d, StreamDataset)]
        if streams:
            raise TypeError(f"ConcatDataset: datasets must have a length, got {streams}")
        self.ends = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index):
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"ConcatDataset: index must be below {len(self)}, got {index}")
        which = bisect_right(self.ends, position)
        return self.datasets[which][position - (self.ends[which - 1] if which else 0)]

    def __len__(self):
        return self.ends[-1]
