"""Sizes as users give them: parts of an axis, shapes to repeat to, axes of a transposition."""

from itertools import pairwise

import numpy as np

from .._core import sizes_of
from ..core.symint import SymInt

_MOST_PARTS = 1 << 16  # limit for an axis whose size data decides


def sections_of(size, given):
    """The sizes of the parts of an axis: as many as the int `given`, or cut at its indices."""
    is_of_data = isinstance(size, SymInt) and size._is_of_data  # whom nobody asks
    if isinstance(given, (int, SymInt)):
        if given <= 0:
            raise ValueError(f"split: number of parts must be positive, got {given}")
        if given > (_MOST_PARTS if is_of_data else size):
            most = f"at most the size of the axis, which is {size}"
            raise ValueError(f"split: number of parts must be {most}, got {given}")
        return [(size + given - 1 - part) // given for part in range(given)]
    cuts = [0, *map(_cut, given), size]
    sections = [after - before for before, after in pairwise(cuts)]
    if not is_of_data and any(each < 0 for each in sections):
        raise ValueError(
            f"split: indices must be in order and in [0, {size}], got {[*map(_cut, given)]}"
        )
    return sections


def _cut(index):
    return index if isinstance(index, (int, SymInt)) else int(index)


def repeated_sizes(inp, shape):
    """A shape for the operator broadcast_to, which keeps the axes of size -1."""
    sizes = sizes_of(shape)
    sizes = sizes.tolist() if hasattr(sizes, "tolist") else sizes
    sizes = list(sizes) if isinstance(sizes, (tuple, list)) else [sizes]
    new = len(sizes) - np.ndim(inp)
    for axis, size in enumerate(sizes):
        if size is None:
            if axis < new:
                raise ValueError(
                    f"broadcast_to: None must stand for an axis of inp, got {sizes} for "
                    f"{tuple(inp.shape)}"
                )
            sizes[axis] = -1
        elif not isinstance(size, SymInt) and size < 0:
            raise ValueError(
                f"broadcast_to: sizes must not be negative, None keeps an axis, got {sizes}"
            )
    return sizes
