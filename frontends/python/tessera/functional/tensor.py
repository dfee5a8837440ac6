"""Making tensors, and other arrangements of their elements."""

import math as _math

import numpy as _np

from .. import _core
from .._core import Tensor as _Tensor
from .._core import ops as _ops
from ..core.symint import SymInt as _SymInt
from ..core.symint import sym_max as _sym_max
from ._making import made as _made
from ._parts import repeated_sizes as _repeated_sizes
from ._parts import sections_of as _sections_of
from .generated import check_choice, export

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

    >>> full((2, 2), 7).tolist()
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
    return _LIMITS.get(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype))


def full_like(inp, value):
    """A tensor of one value, in shape and dtype of another one, whose elements do not count.

    >>> full_like(_Tensor([1, 2]), 7).tolist()
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
        >>> zeros((1, 2)).tolist()
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
        >>> ones(2, dtype="int32").tolist()
        [1, 1]
    """
    return _made(device, _ops.full, shape, 1, dtype)


def arange(start=0, stop=None, step=1, dtype="float32", device=None):
    """The numbers from `start` to below `stop`, `step` apart; arange(n) from 0.

    >>> arange(1, 7, 2, dtype="int32").tolist()
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
    limits = None if isinstance(size, _SymInt) or isinstance(start, _SymInt) else _limits(dtype)
    return _made(device, _whole_range if limits and size else _ops.arange, size, start, step, dtype)


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

    >>> eye(2).tolist(), eye((1, 2)).shape
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

    >>> linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    if _np.dtype(dtype).kind in "iu":
        wide = _made(device, _ops.linspace, start, stop, num, "float64")
        whole = _ops.round(wide)  # of a sum that rounding left a little below it, too
        is_whole = _ops.less(_ops.abs(wide - whole), 1e-9 * (_ops.abs(whole) + 1))
        return _ops.astype(_ops.where(is_whole, whole, wide), dtype)
    return _made(device, _ops.linspace, start, stop, num, dtype)


def diag(inp, k=0):
    """The diagonal `k` of a matrix, or a matrix with a vector on its diagonal `k`.

    Args:
        inp: number[N] or number[N, M]
        k: how far right of the main diagonal; negative: left

    Returns:
        number[N + abs(k), N + abs(k)], or number of the diagonal's length; of the dtype of inp

    Raises:
        ValueError: inp must have one axis or two, k must lie in the matrix
        TypeError: inp must be a tensor or an array

    Example:
        >>> from tessera import tensor
        >>> diag(tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    if inp.ndim == 1:
        size = inp.shape[0]
        is_own = eye(size, dtype="bool", device=inp.device)
        column = _ops.expand_dims(inp, 1)
        rows = _ops.where(is_own, column, _ops.zeros_like(column))
        return _ops.pad(rows, [max(0, -k), max(0, k)], [max(0, k), max(0, -k)], 0.0)
    rows = _ops.slice(inp, [max(0, -k), max(0, k)], list(inp.shape))
    size = min(rows.shape)
    index = arange(size, dtype="int32", device=inp.device)
    return _ops.index_get(rows, [index, index], [0, 1])


def meshgrid(*inputs, indexing="xy"):
    """The coordinates of a grid: each vector along an axis of its own, the others' repeated.

    Args:
        inputs: any number of any[N]
        indexing: "xy": the first two axes change places, as in plots; "ij": axes in their order

    Returns:
        as many tensors any[*N], of the dtypes of inputs

    Raises:
        ValueError: inputs must have one axis; indexing must be one of its values
        TypeError: inputs must be tensors or arrays

    Example:
        >>> from tessera import tensor
        >>> [each.tolist() for each in meshgrid(tensor([1, 2]), tensor([3]))]
        [[[1, 2]], [[3, 3]]]
    """
    check_choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    for each in inputs:
        if each.ndim != 1:
            raise ValueError(f"meshgrid: inputs must have one axis, got {tuple(each.shape)}")
    places = list(range(len(inputs)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    shape = [inputs[place].shape[0] for place in places]
    others = [[axis for axis in range(len(inputs)) if axis != place] for place in places]
    spread = [_ops.expand_dims(each, axes) for each, axes in zip(inputs, others, strict=True)]
    return tuple(_ops.broadcast_to(each, shape) for each in spread)


def copy(inp, device=None):
    """The elements in memory of their own, on `device` where one is given.

    >>> from tessera import tensor
    >>> copy(tensor([1, 2]), device="cpu0").tolist()
    [1, 2]
    """
    return _ops.copy(inp) if device is None else _ops.copy(inp).to(device)


def broadcast_to(inp, shape):
    """The tensor repeated along axes of size 1 and along new ones in front.

    `shape` is a tuple or list of ints, or of tensors and arrays of one element, or one tensor or
    array; None in it keeps an axis of inp.

    >>> from tessera import tensor
    >>> broadcast_to(tensor([[1], [2]]), (2, None, 3)).shape
    (2, 2, 3)
    """
    if type(shape) is tuple:
        for size in shape:  # a loop takes half as long as functions over the sizes
            if type(size) is not int or size < 0:
                break
        else:
            return _ops.broadcast_to(inp, shape)
    return _ops.broadcast_to(inp, _repeated_sizes(inp, shape))


def squeeze(inp, axis=None):
    """The tensor without axes of size 1: all of them, those of `axis`, or none with `()`.

    >>> squeeze(ones((1, 2))).shape, squeeze(ones((1, 2)), ()).shape
    ((2,), (1, 2))
    """
    if isinstance(axis, (tuple, list)) and not axis:
        inp, axis = _ops.expand_dims(inp, 0), 0
    return _ops.squeeze(inp, axis)


def stack(inps, axis=0, device=None):
    """Tensors of one shape side by side along a new axis.

    >>> from tessera import tensor
    >>> stack([tensor([1, 2]), tensor([3, 4])], axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    whole = _ops.stack(inps, axis)
    return whole if device is None else whole.to(device)


def concat(inps, axis=0, device=None):
    """Tensors one after the other along `axis`.

    >>> from tessera import tensor
    >>> concat([tensor([1]), tensor([2, 3])]).tolist()
    [1, 2, 3]
    """
    whole = _ops.concat(inps, axis)
    return whole if device is None else whole.to(device)


def split(inp, nsplits_or_sections, axis=0):
    """Parts along `axis`: as many as the int says, at most one for each element, or cut at the
    indices of the list, which are in order and at most the size of the axis.

    >>> [part.tolist() for part in split(arange(5, dtype="int32"), [2, 3])]
    [[0, 1], [2], [3, 4]]
    """
    sections = _sections_of(inp.shape[axis], nsplits_or_sections)
    return list(_ops.split(inp, sections, axis))


def gather(inp, axis, index):
    """Elements along `axis`, by an index for each of them.

    >>> from tessera import tensor
    >>> gather(tensor([[1, 2], [3, 4]]), 1, tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return _ops.gather(inp, index, axis)


def scatter(inp, axis, index, source):
    """The tensor with elements along `axis` replaced by those of `source`.

    >>> from tessera import tensor
    >>> scatter(tensor([1, 2, 3]), 0, tensor([2, 0]), tensor([7, 8])).tolist()
    [8, 2, 7]
    """
    return _ops.scatter(inp, index, source, axis)


def scatter_add(inp, axis, index, source):
    """The tensor with `source` added to elements along `axis`, every one in its order.

    >>> from tessera import tensor
    >>> scatter_add(tensor([1, 2, 3]), 0, tensor([2, 2]), tensor([7, 8])).tolist()
    [1, 2, 18]
    """
    return _ops.scatter_add(inp, index, source, axis)


def scatter_max(inp, axis, index, source):
    """The tensor with the larger one of its elements along `axis` and `source`.

    >>> from tessera import tensor
    >>> scatter_max(tensor([1, 2, 3]), 0, tensor([2, 0]), tensor([1, 8])).tolist()
    [8, 2, 3]
    """
    return _ops.scatter_max(inp, index, source, axis)


def scatter_min(inp, axis, index, source):
    """The tensor with the smaller one of its elements along `axis` and `source`.

    >>> from tessera import tensor
    >>> scatter_min(tensor([1, 2, 3]), 0, tensor([2, 0]), tensor([1, 8])).tolist()
    [1, 2, 1]
    """
    return _ops.scatter_min(inp, index, source, axis)


def cond_take(mask, x):
    """The elements where the mask is true, and their positions in the flattened tensor.

    Args:
        mask: bool[*D]
        x: any[*D]

    Returns:
        any[n], of the dtype of x, and int32[n]

    Raises:
        ValueError: mask and x must have the same shape
        TypeError: mask must be bool

    Example:
        >>> from tessera import tensor
        >>> [each.tolist() for each in cond_take(tensor([True, False, True]), tensor([5, 6, 7]))]
        [[5, 7], [0, 2]]
    """
    flat = _ops.flatten(mask)
    return _ops.mask_get(_ops.flatten(x), flat), _ops.flatten(_ops.non_zero(flat))


def non_zero(condition, as_tuple=False):
    """The positions of the elements that are not zero, in row-major order: a row for each, or with
    `as_tuple` a vector for each axis.

    >>> from tessera import tensor
    >>> non_zero(tensor([[1, 0], [2, 3]])).tolist()
    [[0, 0], [1, 0], [1, 1]]
    >>> [each.tolist() for each in non_zero(tensor([[1, 0], [2, 3]]), as_tuple=True)]
    [[0, 1, 1], [0, 0, 1]]
    """
    positions = _ops.non_zero(condition)
    if not as_tuple:
        return positions
    return tuple(positions[:, axis] for axis in range(positions.shape[1]))


def repeat(inp, repeats, axis=None):
    """Each element repeated along `axis`; of the flattened tensor without one.

    >>> from tessera import tensor
    >>> repeat(tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    if axis is None:
        return _ops.repeat(_ops.flatten(inp), repeats, 0)
    return _ops.repeat(inp, repeats, axis)


def tile(inp, reps):
    """The tensor repeated along its last axes, as often as `reps` says of each; more of them make
    new axes.

    >>> from tessera import tensor
    >>> tile(tensor([1, 2]), 2).tolist()
    [1, 2, 1, 2]
    """
    return _ops.tile(inp, [reps] if isinstance(reps, (int, _SymInt)) else list(reps))


def roll(inp, shift, axis=None):
    """The elements moved along `axis` (one or several), around its end; flattened without one.

    >>> from tessera import tensor
    >>> roll(tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    if axis is None:
        return _ops.reshape(_ops.roll(_ops.flatten(inp), shift, 0), inp.shape)
    if isinstance(axis, int):
        return _ops.roll(inp, shift, axis)
    for each, by in zip(axis, shift, strict=True):
        inp = _ops.roll(inp, by, each)
    return inp


export(globals())
