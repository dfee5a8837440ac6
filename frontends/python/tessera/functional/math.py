"""Reductions, products, and questions about values."""

import math as _math

from .._core import ops as _ops
from .generated import export


def sum(inp, axis=None, keepdims=False):
    """The sum along `axis`: an int, several, or None for all."""
    return _ops.sum(inp, axis, keepdims)


def prod(inp, axis=None, keepdims=False):
    """The product along `axis`: an int, several, or None for all."""
    return _ops.prod(inp, axis, keepdims)


def mean(inp, axis=None, keepdims=False):
    """The mean along `axis`: an int, several, or None for all."""
    return _ops.mean(inp, axis, keepdims)


def max(inp, axis=None, keepdims=False):
    """The largest element along `axis`: an int, several, or None for all."""
    return _ops.max(inp, axis, keepdims)


def min(inp, axis=None, keepdims=False):
    """The smallest element along `axis`: an int, several, or None for all."""
    return _ops.min(inp, axis, keepdims)


def var(inp, axis=None, keepdims=False):
    """The mean square distance from the mean along `axis`: an int, several, or None for all."""
    return _ops.var(inp, axis, keepdims)


def std(inp, axis=None, keepdims=False):
    """The square root of the variance along `axis`: an int, several, or None for all."""
    return _ops.std(inp, axis, keepdims)


def argmax(inp, axis=None, keepdims=False):
    """The index of the first largest element along `axis`, of the flattened tensor without one."""
    if axis is None:
        return _ops.argmax(_ops.flatten(inp), 0, False)
    return _ops.argmax(inp, axis, keepdims)


def argmin(inp, axis=None, keepdims=False):
    """The index of the first smallest element along `axis`, of the flattened tensor without one."""
    if axis is None:
        return _ops.argmin(_ops.flatten(inp), 0, False)
    return _ops.argmin(inp, axis, keepdims)


def norm(inp, ord=None, axis=None, keepdims=False):
    """The `ord`-norm along `axis` (2 without one; infinite ones are extrema)."""
    ord = 2 if ord is None else ord
    if _math.isinf(ord):
        return (max if ord > 0 else min)(_ops.abs(inp), axis, keepdims)
    if ord == 2:
        return _ops.sqrt(sum(_ops.square(inp), axis, keepdims))
    return sum(_ops.abs(inp) ** ord, axis, keepdims) ** (1.0 / ord)


def normalize(inp, ord=None, axis=None, eps=1e-12):
    """The tensor divided by its norm along `axis`, or by `eps` where that is larger."""
    return inp / _ops.maximum(norm(inp, ord, axis, keepdims=axis is not None), eps)


def matmul(inp1, inp2, transpose_a=False, transpose_b=False, compute_mode="default"):
    """The matrix product over the last two axes; leading axes broadcast, vectors get an axis."""
    return _ops.matmul(inp1, inp2, transpose_a, transpose_b)


def dot(inp1, inp2):
    """The sum of the products of two vectors."""
    return _ops.sum(_ops.mul(inp1, inp2))


def sort(inp, descending=False):
    """Elements in order along the last axis, and where they were."""
    return _ops.argsort(inp, descending)


def topk_accuracy(logits, target, topk=1):
    """The share of rows whose target is among the `topk` largest; a list where topk is one."""
    if isinstance(topk, (tuple, list)):
        return [topk_accuracy(logits, target, k) for k in topk]
    _, indices = _ops.topk(logits, topk, True)
    return mean(max(_ops.equal(indices, _ops.expand_dims(target, [1])), 1))


export(globals(), "functional.math")
