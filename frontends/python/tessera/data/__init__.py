"""Reading training data: datasets, samplers, collators and the loader that joins them."""

from .collator import Collator
from .dataloader import DataLoader, PreLoader
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
from .transform import PseudoTransform, Transform
from .worker_info import WorkerInfo, get_worker_info

__all__ = [
    "ArrayDataset",
    "Collator",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "Infinite",
    "MapSampler",
    "PreLoader",
    "PseudoTransform",
    "RandomSampler",
    "ReplacementSampler",
    "Sampler",
    "SequentialSampler",
    "StreamDataset",
    "StreamSampler",
    "Transform",
    "WorkerInfo",
    "get_worker_info",
]
