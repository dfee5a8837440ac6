"""Datasets: samples by index, streams of samples, and those of vision."""

from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset

__all__ = ["ArrayDataset", "ConcatDataset", "Dataset", "StreamDataset"]
