"""PyTorch's side of the recorder: its samples, and its tensors as arrays."""

import random

import numpy as np
import torch

from tests.opinfo import arguments, compare, pools

MOST_SAMPLES = 24  # of a kind, evenly spread over all
MOST_ELEMENTS = 2000  # of all tensors of a sample
LARGE = 3, 30_000  # where all are larger: how many, of at most how many elements


def name_of(info):
    """The name of an OpInfo: name, a dot, the variant."""
    return ".".join(filter(None, (info.name, info.variant_test_name)))


def short(dtype):
    """The name of PyTorch's dtype."""
    return str(dtype).removeprefix("torch.")


def numpy_of(tensor):
    """The elements, wide."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    kind = "c" if tensor.is_complex() else "f" if tensor.is_floating_point() else "i"
    wide = {"c": torch.complex128, "f": torch.float64}.get(kind)
    return (tensor if wide is None else tensor.to(wide)).cpu().contiguous().numpy(force=True)


def rounded(array):
    """Numbers that every float dtype has, where they fit: eight bits of mantissa."""
    parts = np.ascontiguousarray(array).ravel().view("float64")
    near = parts.astype(pools.dtype("bfloat16")).astype("float64")
    return near.view(array.dtype).reshape(array.shape)


def leaves(value):
    """The tensors of arguments or results."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return []
    return [leaf for each in value for leaf in leaves(each)]


def results_of(value):
    """The results as tensors; numbers and truth values become some."""
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value)]
    return leaves(value)


def start(result, number):
    """The cotangent of a result."""
    array = arguments.cotangent(tuple(result.shape), number, result.is_complex())
    return torch.from_numpy(np.array(array)).to(result.dtype)


def _elements(sample):
    return sum(each.numel() for each in leaves([sample.input, sample.args, sample.kwargs]))


def small(info, dtype):
    """The small samples of an OpInfo."""
    for seed in (torch.manual_seed, np.random.seed, random.seed):
        seed(0)
    with_gradient = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    samples = list(info.sample_inputs("cpu", dtype, requires_grad=with_gradient))
    found = [sample for sample in samples if _elements(sample) <= MOST_ELEMENTS]
    if found or not samples:
        return found
    count, most = LARGE
    return [
        sample for sample in sorted(samples, key=_elements)[:count] if _elements(sample) <= most
    ]


def few(samples):
    """At most MOST_SAMPLES of them, evenly spread."""
    count = min(len(samples), MOST_SAMPLES)
    return [samples[i * len(samples) // count] for i in range(count)]


def stands_for(narrow, wide, dtype, terms):
    """Whether a wide result is the narrow one but for PyTorch's own rounding, which is not ours.

    Of half precision it is: what is rounded once has no overflow within.
    """
    if narrow.dtype != wide.dtype or dtype in ("float16", "bfloat16"):
        return narrow.dtype == wide.dtype
    bound = compare.Bound(16 * max(min(terms, 64.0), 1.0), 1.0)
    return not compare.different(narrow, wide, dtype, bound).any()
