"""Sequences, first states and tables that networks over sequences are given."""

from .._core import Tensor
from .creation import zeros


def first_state(inp, weight):
    """Zeros for every sequence: what `weight` multiplies."""
    return zeros((inp.shape[1], weight.shape[-1]), dtype=inp.dtype, device=inp.device)


def described(x):
    """The dtype and shape of a tensor in a message."""
    return f"{x.dtype}{list(x.shape)}"


def check_sequence(name, inp):
    """TypeError unless it is a tensor; ValueError unless it has 3 axes: a matrix would broadcast
    against the state.
    """
    if not isinstance(inp, Tensor):
        raise TypeError(f"{name}: inp must be a tensor, got {inp!r}")
    if inp.ndim != 3:
        raise ValueError(f"{name}: inp must have 3 axes, got {described(inp)}")


def check_axes(name, what, x, most, least=None):
    """TypeError unless `x` is a tensor or an array; ValueError unless it has `least` (by default as
    many as most) to `most` axes.
    """
    if not hasattr(x, "ndim"):
        raise TypeError(f"{name}: {what} must be a tensor or an array, got {x!r}")
    if not (least or most) <= x.ndim <= most:
        said = f"{least} to {most}" if least else most
        raise ValueError(f"{name}: {what} must have {said} axes, got {tuple(x.shape)}")


def padding_row(name, padding_idx, rows):
    """The number of a row of a table, from 0; ValueError unless the table has it."""
    if not isinstance(padding_idx, int) or isinstance(padding_idx, bool):
        raise TypeError(f"{name}: padding_idx must be an int or None, got {padding_idx!r}")
    if not -rows <= padding_idx < rows:
        raise ValueError(f"{name}: padding_idx must be in [{-rows}, {rows - 1}], got {padding_idx}")
    return padding_idx % rows


def check_pair(name, hx):
    """TypeError unless the state is (h, c)."""
    if not isinstance(hx, (tuple, list)) or len(hx) != 2:
        raise TypeError(f"{name}: hx must be a pair of tensors (h, c), got {hx!r}")
