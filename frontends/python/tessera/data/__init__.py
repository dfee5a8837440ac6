"""Reading training data: datasets, samplers, collators and the loader that joins them."""

from .collator import Collator
from .dataloader import DataLoader
from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .sampler import (
    Infinite,
    MapSampler,
    RandomSampler,
    ReplacementSampler,
    Sampler,
    SequentialSampler,
    StreamSampler,
)
from .worker import WorkerInfo, get_worker_info

__all__ = [
    "ArrayDataset",
    "Collator",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "Infinite",
    "MapSampler",
    "RandomSampler",
    "ReplacementSampler",
    "Sampler",
    "SequentialSampler",
    "StreamDataset",
    "StreamSampler",
    "WorkerInfo",
    "get_worker_info",
]
