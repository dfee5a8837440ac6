"""Sequences of which only the first steps count."""

from .._core import Tensor
from .._core import ops as _ops


def from_zero(number, size, what):
    """`number` itself; IndexError, when the kernel runs: it must be in [0, size)."""
    numbers = _ops.reshape(_ops.astype(number, "int32"), (-1,))
    shifted = _ops.where(numbers < 0, numbers - size, numbers)
    known = _ops.take_along_axes(_ops.arange(size, dtype="int32"), [shifted], [0], what)
    return _ops.reshape(known, number.shape)


def marked(name, inputs, lengths):
    """float[L, N, I + 1]: `inputs`, float[L, N, I], with a last feature that is 1 where a step
    counts, else 0.
    """
    lengths = lengths if isinstance(lengths, Tensor) else Tensor(lengths)
    steps, count, _ = inputs.shape
    if lengths.dtype.kind not in "iu":
        raise TypeError(f"{name}: lengths must be integers, got {lengths.dtype}")
    if lengths.ndim != 1 or lengths.shape[0] != count:
        shape = tuple(lengths.shape)
        raise ValueError(f"{name}: lengths must have shape ({count},), got {shape}")
    lengths = from_zero(lengths, steps + 1, f"{name}: lengths")
    times = _ops.expand_dims(_ops.arange(steps, dtype="int32"), 1)
    is_there = _ops.expand_dims(_ops.less(times, lengths), 2)
    return _ops.concat([inputs, _ops.astype(is_there, inputs.dtype)], 2)


def chosen(condition, one, other):
    """The tensor, or the tensors of a tuple, of one state or the other."""
    if isinstance(one, tuple):
        return tuple(_ops.where(condition, *pair) for pair in zip(one, other, strict=True))
    return _ops.where(condition, one, other)
