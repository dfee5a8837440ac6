"""Datasets: samples by index, streams of samples, and those of vision.

Those of vision are imported at their first use.
"""

import importlib

from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset

_VISION = [
    "CIFAR10",
    "CIFAR100",
    "COCO",
    "Cityscapes",
    "ImageFolder",
    "ImageNet",
    "MNIST",
    "Objects365",
    "PascalVOC",
    "VisionDataset",
]

__all__ = ["ArrayDataset", "ConcatDataset", "Dataset", "StreamDataset", *_VISION]


def __getattr__(name):
    if name != "vision" and name not in _VISION:
        raise AttributeError(f"dataset: name must be that of a dataset, got {name!r}")
    vision = importlib.import_module(".vision", __name__)
    return vision if name == "vision" else getattr(vision, name)
