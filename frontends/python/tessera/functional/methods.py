"""Methods of Tensor that take what MegEngine's take."""

from .._core import Tensor, ops
from . import math


def _sizes(sizes):
    return sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes


def reshape(self, *shape):
    """The same elements in another shape, as ints or one sequence; one may be -1."""
    return ops.reshape(self, _sizes(shape))


def transpose(self, *pattern):
    """Axes in another order, given as ints or as one sequence; reversed without any."""
    return ops.transpose(self, _sizes(pattern))


def attach():
    """Puts the methods into the class."""
    for name in ("sum", "prod", "mean", "max", "min"):
        setattr(Tensor, name, getattr(math, name))
    for name in ("astype", "flatten"):
        setattr(Tensor, name, getattr(ops, name))
    Tensor.reshape, Tensor.transpose = reshape, transpose
