"""Clipping of gradients, in place."""

import math

from .. import _core
from .. import functional as F  # noqa: N812
from ..autodiff.modes import no_grad
from ..tensor import Tensor


def _with_grad(tensors):
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    kept = [tensor for tensor in tensors if tensor.grad is not None]
    for tensor in kept:
        _core.note_grad(tensor)
    return kept


@no_grad()
def clip_grad_norm(tensors, max_norm, ord=2.0):
    """Scales all gradients so that their joint norm is at most `max_norm`; returns the norm.

    The norm of float16 and bfloat16 gradients is computed in float32.

    Args:
        tensors: one tensor or several, float[*D] each; those without a gradient are left out
        max_norm: a number
        ord: above 0; may be infinite

    Returns:
        the norm before, float32[]; gradients keep shape and dtype

    Raises:
        ValueError: ord must be positive

    Example:
        >>> import tessera as ts
        >>> from tessera.optimizer import clip_grad_norm
        >>> weight = ts.Tensor([0.0, 0.0])
        >>> weight.grad = ts.Tensor([3.0, 4.0])
        >>> clip_grad_norm(weight, 0.5).item(), weight.grad.numpy().round(3).tolist()
        (5.0, [0.30000001192092896, 0.4000000059604645])
    """
    if ord <= 0:
        raise ValueError(f"clip_grad_norm: ord must be positive, got {ord}")
    tensors = _with_grad(tensors)
    if not tensors:
        return Tensor(0.0)
    if math.isinf(ord):
        norm = F.stack([F.max(F.abs(_wide(tensor.grad))) for tensor in tensors]).max()
    else:
        powers = [F.sum(F.pow(F.abs(_wide(tensor.grad)), ord)) for tensor in tensors]
        norm = F.pow(F.sum(F.stack(powers)), 1.0 / ord)
    scale = F.minimum(max_norm / (norm + 1e-6), 1.0)
    for tensor in tensors:
        tensor.grad._reset((tensor.grad * scale).astype(tensor.grad.dtype))
    return norm


def _wide(grad):
    """Float32 for half precision, in which powers of gradients overflow or vanish."""
    return grad.astype("float32") if grad.dtype.itemsize == 2 else grad


@no_grad()
def clip_grad_value(tensors, lower, upper):
    """Limits every element of every gradient to [lower, upper].

    Args:
        tensors: one tensor or several, float[*D] each; those without a gradient are left out
        lower, upper: numbers

    Returns:
        None; gradients keep shape and dtype

    Raises:
        ValueError: lower must be <= upper

    Example:
        >>> import tessera as ts
        >>> from tessera.optimizer import clip_grad_value
        >>> weight = ts.Tensor([0.0, 0.0])
        >>> weight.grad = ts.Tensor([-3.0, 0.5])
        >>> clip_grad_value(weight, -1, 1)
        >>> weight.grad.tolist()
        [-1.0, 0.5]
    """
    if lower > upper:
        raise ValueError(f"clip_grad_value: lower must be <= upper, got {lower} and {upper}")
    for tensor in _with_grad(tensors):
        tensor.grad._reset(F.clip(tensor.grad, lower, upper))
