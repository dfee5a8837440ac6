"""Making tensors of none."""

import math as _math

import numpy as _np

from .. import _core
from .._core import Tensor as _Tensor
from .._core import ops as _ops
from ..core.symint import SymInt as _SymInt
from ..core.symint import sym_max as _sym_max
from ._making import made as _made
from .generated import export

_LIMITS = {
    name: _np.iinfo(name)
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
}


def _dtype_of(value):
    if isinstance(value, bool):
        return "bool"
    return "int32" if isinstance(value, (int, _SymInt)) else "float32"


def full(shape, value, *, dtype=None, device=None):
    """A tensor with one value everywhere; its dtype is the value's where none is given.

    >>> import tessera.functional as F
    >>> F.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    if isinstance(value, _SymInt):
        value = _Tensor(value, dtype or "int32")
    if isinstance(value, _Tensor):
        value = value if dtype is None else _ops.astype(value, dtype)
        made = _ops.copy(_ops.broadcast_to(value, shape))
        return made if device is None else made.to(device)
    dtype = dtype or _dtype_of(value)
    if _is_long(value) and _limits(dtype):
        return full(shape, _Tensor(value, dtype), device=device)
    return _made(device, _ops.full, shape, value, dtype)


def _is_long(value):
    """Whether float64 may have no such number."""
    return (type(value) is int or isinstance(value, _np.integer)) and abs(value) > 1 << 53


def _limits(dtype):
    """The limits of an integer dtype; None for another one."""
    if getattr(dtype, "metadata", None):
        return None  # a quantized one
    return _LIMITS.get(_name_of(dtype))


def _name_of(dtype):
    return getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)


def full_like(inp, value):
    """A tensor of one value, in shape and dtype of another one, whose elements do not count.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.full_like(ts.Tensor([1, 2]), 7).tolist()
    [7, 7]
    """
    if _is_long(value) and _limits(inp.dtype):
        return full(inp.shape, value, dtype=inp.dtype, device=inp.device)
    return _ops.full_like(inp, value)


def zeros(shape, dtype="float32", device=None):
    """A tensor of zeros.

    Args:
        shape: an int or several
        dtype: the dtype of the result
        device: the device that holds it; None: the default one

    Returns:
        any[shape], of the given dtype

    Raises:
        ValueError: sizes must not be negative, the device must exist
        TypeError: shape must be ints, dtype a known one

    Example:
        >>> import tessera.functional as F
        >>> F.zeros((1, 2)).tolist()
        [[0.0, 0.0]]
    """
    return _made(device, _ops.full, shape, 0, dtype)


def ones(shape, dtype="float32", device=None):
    """A tensor of ones.

    Args:
        shape: an int or several
        dtype: the dtype of the result
        device: the device that holds it; None: the default one

    Returns:
        any[shape], of the given dtype

    Raises:
        ValueError: sizes must not be negative, the device must exist
        TypeError: shape must be ints, dtype a known one

    Example:
        >>> import tessera.functional as F
        >>> F.ones(2, dtype="int32").tolist()
        [1, 1]
    """
    return _made(device, _ops.full, shape, 1, dtype)


def arange(start=0, stop=None, step=1, dtype="float32", device=None):
    """The numbers from `start` to below `stop`, `step` apart; arange(n) from 0.

    >>> import tessera.functional as F
    >>> F.arange(1, 7, 2, dtype="int32").tolist()
    [1, 3, 5]
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_core.sizes_of(number) for number in (start, stop, step))
    if step == 0:
        raise ValueError("arange: step must not be 0, got 0")
    if all(isinstance(number, (int, _SymInt)) for number in (start, stop, step)):
        size = _sym_max(0, -((start - stop) // step))
    else:
        size = max(0, _math.ceil(float((stop - start) / step)))
    limits = _limits(dtype)
    if limits and limits.bits < 32:  # which may hold less than sizes that data decides
        size, start = (_number_of_data(number) for number in (size, start))
    if isinstance(start, _SymInt):
        return _made(device, _range_from, size, start, step, dtype)
    is_checked = limits and not isinstance(size, _SymInt) and size
    return _made(device, _whole_range if is_checked else _ops.arange, size, start, step, dtype)


def _number_of_data(number):
    """A size that data decides as a number, which the function looks at; others as they are."""
    return int(number) if isinstance(number, _SymInt) and number._is_of_data else number


def _range_from(size, start, step, dtype):
    """A range from a size of a trace, with the roundings of the operator."""
    wide = "float32" if _name_of(dtype) in ("float16", "bfloat16") else dtype
    return _ops.astype(_ops.arange(size, 0, step, wide) + _Tensor(start, wide), dtype)


def _whole_range(size, start, step, dtype):
    """A range of integers, which the dtype must hold, also where float64 has no such numbers."""
    limits, last = _limits(dtype), start + (size - 1) * step
    if not limits.min <= last <= limits.max:
        raise ValueError(f"arange: numbers must fit their dtype {limits.dtype}, got {last}")
    if _is_long(start) or _is_long(last):
        return _ops.arange(size, 0, step, dtype) + _Tensor(start, dtype)
    return _ops.arange(size, start, step, dtype)


def eye(N, M=None, *, dtype="float32", device=None):  # noqa: N803
    """N rows and M columns (N without M) with ones on the main diagonal; N may hold both, or one:
    a tuple, a list, an array or a tensor.

    >>> import tessera.functional as F
    >>> F.eye(2).tolist(), F.eye((1, 2)).shape
    ([[1.0, 0.0], [0.0, 1.0]], (1, 2))
    """
    sizes = _core.sizes_of(N)
    sizes = sizes.tolist() if hasattr(sizes, "tolist") else sizes
    if isinstance(sizes, (tuple, list)):
        if not 1 <= len(sizes) <= (2 if M is None else 1):
            raise ValueError(f"eye: N must hold the rows, and M or N the columns, got {N} and {M}")
        N, M = sizes[0], sizes[1] if len(sizes) == 2 else M  # noqa: N806
    return _made(device, _ops.eye, N, N if M is None else M, dtype)


def linspace(start, stop, num, dtype="float32", device=None):
    """`num` evenly spaced numbers, both ends included; those of an integer dtype lose fractions.

    >>> import tessera.functional as F
    >>> F.linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    if _np.dtype(dtype).kind in "iu":
        wide = _made(device, _ops.linspace, start, stop, num, "float64")
        whole = _ops.round(wide)  # of a sum that rounding left a little below it, too
        is_whole = _ops.less(_ops.abs(wide - whole), 1e-9 * (_ops.abs(whole) + 1))
        return _ops.astype(_ops.where(is_whole, whole, wide), dtype)
    return _made(device, _ops.linspace, start, stop, num, dtype)


export(globals())
