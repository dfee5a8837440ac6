"""Elements of a sorted axis: medians and quantiles."""

import math as _math

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .generated import check_choice as _check_choice

__all__ = ["median", "quantile"]

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def median(inp, axis=None, keepdims=False):
    """The element in the middle along `axis`, or the mean of the two there: NumPy's median. NaN if
    one element is.

    Args:
        inp: number[*D]
        axis: an int, several, or None for all
        keepdims: keep reduced axes with size 1

    Returns:
        float[*D / axis], of the dtype of inp; of integers float32

    Raises:
        ValueError: axis must be distinct axes of inp, and have elements
        TypeError: inp must be a tensor or an array of real numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.median(ts.tensor([3.0, 1.0, 2.0, 9.0])).item()
        2.5
    """
    return _quantiles("median", inp, [0.5], axis, keepdims, "midpoint")[0]


def quantile(inp, q, axis=None, keepdims=False, method="linear"):
    """The elements below which the share `q` of those along `axis` lies, as NumPy's quantile: at
    the place q * (n - 1) of n sorted elements, between two of them by `method`. NaN if one is.

    R. Hyndman, Y. Fan: Sample Quantiles in Statistical Packages, 1996, definition 7.

    Args:
        inp: number[*D]
        q: a number in [0, 1], or several, which give a first axis; tensors are read
        axis: an int, several, or None for all
        keepdims: keep reduced axes with size 1
        method: "linear" between the two, or "lower", "higher", "midpoint", "nearest" (halves to
            the even place)

    Returns:
        float[*Q, *D / axis], *Q the shape of q; of the dtype of inp, of integers float32

    Raises:
        ValueError: q must be in [0, 1]; axis must be distinct axes of inp, and have elements;
            method must be one of its values
        TypeError: inp must be a tensor or an array of real numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.quantile(ts.tensor([1.0, 2.0, 3.0, 5.0]), [0.5, 1.0]).tolist()
        [2.5, 5.0]
    """
    _check_choice("quantile", "method", method, _METHODS)
    shares = _np.asarray(q.numpy() if isinstance(q, _Tensor) else q, dtype=_np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():  # refuses NaN
        raise ValueError(f"quantile: q must be in [0, 1], got {q!r}")
    found = _quantiles("quantile", inp, shares.ravel().tolist(), axis, keepdims, method)
    if shares.ndim == 0:
        return found[0]
    if not found:
        raise ValueError(f"quantile: q must have a number, got {q!r}")
    whole = _ops.stack(found, 0)
    return _ops.reshape(whole, (*shares.shape, *whole.shape[1:]))


def _quantiles(name, inp, shares, axis, keepdims, method):
    """One tensor for each share."""
    inp = inp if isinstance(inp, _Tensor) else _Tensor(inp)
    if inp.dtype.kind in "biu":
        inp = _ops.astype(inp, "float32")
    lines, taken = _lines(name, inp, axis)
    count = lines.shape[-1]
    if count == 0:
        raise ValueError(f"{name}: axes must have elements, got {tuple(inp.shape)}")
    values, _ = _ops.sort(lines)
    is_nan = _ops.isnan(values[..., count - 1])  # NaN is the largest
    found = [
        _ops.where(is_nan, float("nan"), _at(values, share * (count - 1), method))
        for share in shares
    ]
    return [_ops.expand_dims(each, taken) for each in found] if keepdims and taken else found


def _lines(name, inp, axis):
    """The tensor with the axes to reduce as its last one, and which these are."""
    rank = inp.ndim
    axes = range(rank) if axis is None else axis if isinstance(axis, (tuple, list)) else [axis]
    if not {*map(type, axes)} <= {int}:
        raise TypeError(f"{name}: axis must be an int or several, got {axis!r}")
    taken = sorted(each + rank if each < 0 else each for each in axes)
    if len({*taken}) < len(taken) or not {*taken} <= {*range(rank)}:
        raise ValueError(
            f"{name}: axis must be distinct axes in [{-rank}, {rank - 1}], got {axis!r}"
        )
    if not taken:
        return _ops.expand_dims(inp, -1), taken
    if len(taken) == 1 and taken[0] == rank - 1:
        return inp, taken
    rest = [each for each in range(rank) if each not in taken]
    return _ops.flatten(_ops.transpose(inp, rest + taken), len(rest), -1), taken


def _at(values, place, method):
    """The number at a place of the sorted last axis, which may be between two of them."""
    low = _math.floor(place)
    if method == "nearest":
        return values[..., round(place)]
    below, above = values[..., low], values[..., _math.ceil(place)]
    if method == "lower" or low == place:
        return below
    if method == "higher":
        return above
    if method == "midpoint":
        return below * 0.5 + above * 0.5
    step, part = above - below, place - low
    # NumPy's form: exact at both ends, and of two equal infinities no NaN.
    between = below + step * part if part < 0.5 else above - step * (1 - part)
    return _ops.where(_ops.equal(below, above), below, between)
