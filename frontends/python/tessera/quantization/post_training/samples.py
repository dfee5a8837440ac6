"""Samples as calls of a model."""

from collections.abc import Mapping

import numpy as np

from ..._tree import flatten
from ...tensor import Tensor


def calls_of(samples):
    """(args, kwargs) of a call for each sample: a tensor, a tuple or list of arguments, or a dict
    of arguments by name.

    TypeError: samples must be an iterable of these. ValueError: there must be one, and finite
    numbers in them.

    >>> from tessera import tensor
    >>> from tessera.quantization.post_training.samples import calls_of
    >>> [len(args) for args, _ in calls_of([tensor([1.0]), (tensor([1.0]), tensor([2.0]))])]
    [1, 2]
    """
    if isinstance(samples, (Tensor, np.ndarray, Mapping, str)) or not hasattr(samples, "__iter__"):
        raise TypeError(
            f"quantize_model: samples must be an iterable of inputs, such as a list of batches, "
            f"got {type(samples).__name__}"
        )
    calls = [_call_of(sample) for sample in samples]
    if not calls:
        raise ValueError("quantize_model: samples must be one at least, got none")
    tensors = [leaf for leaf in flatten(calls)[0] if isinstance(leaf, Tensor)]
    floats = [each.numpy() for each in tensors if np.dtype(each.dtype).kind == "f"]
    if floats and not any(np.isfinite(each).any() for each in floats):
        raise ValueError("quantize_model: samples must have finite numbers, got NaN or infinity")
    return calls


def _call_of(sample):
    if isinstance(sample, Mapping):
        return (), {name: _tensor(value) for name, value in sample.items()}
    values = sample if isinstance(sample, (tuple, list)) else (sample,)
    call = tuple(map(_tensor, values)), {}
    if not any(isinstance(leaf, Tensor) for leaf in flatten(call)[0]):
        raise TypeError(
            f"quantize_model: a sample must be a tensor, or a tuple, list or dict with tensors, "
            f"got {type(sample).__name__}"
        )
    return call


def _tensor(value):
    return Tensor(value) if isinstance(value, np.ndarray) else value
