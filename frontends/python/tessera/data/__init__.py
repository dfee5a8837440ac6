"""Reading training data: datasets, samplers, collators and the loader that joins them."""

from .._listed import listed as _listed
from .collator import Collator
from .dataloader import DataLoader, PreLoader
from .dataset import (
    ArrayDataset,
    ConcatDataset,
    Dataset,
    StreamDataset,
    Subset,
    random_split,
)
from .sampler import (
    Infinite,
    MapSampler,
    RandomSampler,
    ReplacementSampler,
    Sampler,
    SequentialSampler,
    StreamSampler,
    WeightedRandomSampler,
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
    "Subset",
    "Transform",
    "WeightedRandomSampler",
    "WorkerInfo",
    "get_worker_info",
    "random_split",
]

__dir__ = _listed(*__all__)
