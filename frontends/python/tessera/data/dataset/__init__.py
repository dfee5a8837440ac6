"""Datasets: samples by index, streams of samples, and those of vision.

Those of vision are imported at their first use.
"""

from ..lazy import from_part
from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .subset import Subset, random_split

VISION = [  # the public names of .vision
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

__all__ = [
    "ArrayDataset",
    "ConcatDataset",
    "Dataset",
    "StreamDataset",
    "Subset",
    "random_split",
    *VISION,
]
__getattr__ = from_part(__name__, "vision", VISION, "dataset")
