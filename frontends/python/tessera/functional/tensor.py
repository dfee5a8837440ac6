"""Making tensors, and other arrangements of their elements."""

import math as _math
from itertools import pairwise as _pairwise

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .generated import export


def _dtype_of(value):
    if isinstance(value, bool):
        return "bool"
    return "int32" if isinstance(value, int) else "float32"


def full(shape, value, *, dtype=None, device=None):
    """A tensor with one value everywhere; its dtype is the value's where none is given."""
    if isinstance(value, _Tensor):
        value = value if dtype is None else _ops.astype(value, dtype)
        return _ops.copy(_ops.broadcast_to(value, shape))
    return _ops.full(shape, value, dtype or _dtype_of(value))


def zeros(shape, dtype="float32", device=None):
    """A tensor of zeros."""
    return _ops.full(shape, 0, dtype)


def ones(shape, dtype="float32", device=None):
    """A tensor of ones."""
    return _ops.full(shape, 1, dtype)


def arange(start=0, stop=None, step=1, dtype="float32", device=None):
    """The numbers from `start` to below `stop`, `step` apart; arange(n) from 0."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step must not be 0, got 0")
    return _ops.arange(max(0, _math.ceil((stop - start) / step)), start, step, dtype)


def eye(N, M=None, *, dtype="float32", device=None):  # noqa: N803
    """N rows and M columns (N without M) with ones on the main diagonal."""
    return _ops.eye(N, N if M is None else M, dtype)


def linspace(start, stop, num, dtype="float32", device=None):
    """`num` evenly spaced numbers, both ends included."""
    return _ops.linspace(start, stop, num, dtype)


def concat(inps, axis=0, device=None):
    """Tensors one after the other along `axis`."""
    return _ops.concat(inps, axis)


def split(inp, nsplits_or_sections, axis=0):
    """Parts along `axis`: as many as the int says, or cut at the indices of the list."""
    size = inp.shape[axis]
    if isinstance(nsplits_or_sections, int):
        count = nsplits_or_sections
        if count <= 0:
            raise ValueError(f"split: number of parts must be positive, got {count}")
        sections = [size // count + (i < size % count) for i in range(count)]
    else:
        cuts = [0, *nsplits_or_sections, size]
        sections = [after - before for before, after in _pairwise(cuts)]
    return list(_ops.split(inp, sections, axis))


def gather(inp, axis, index):
    """Elements along `axis`, by an index for each of them."""
    return _ops.gather(inp, index, axis)


def scatter(inp, axis, index, source):
    """The tensor with elements along `axis` replaced by those of `source`."""
    return _ops.scatter(inp, index, source, axis)


def cond_take(mask, x):
    """The elements where the mask is true, and their positions in the flattened tensor."""
    flat = _ops.flatten(mask)
    return _ops.mask_get(_ops.flatten(x), flat), _ops.flatten(_ops.non_zero(flat))


def repeat(inp, repeats, axis=None):
    """Each element repeated along `axis`; of the flattened tensor without one."""
    return (
        _ops.repeat(_ops.flatten(inp), repeats, 0)
        if axis is None
        else _ops.repeat(inp, repeats, axis)
    )


def tile(inp, reps):
    """The tensor repeated along each axis."""
    reps = [reps] if isinstance(reps, int) else list(reps)
    reps = [1] * (inp.ndim - len(reps)) + reps
    return _ops.tile(_ops.reshape(inp, (1,) * (len(reps) - inp.ndim) + tuple(inp.shape)), reps)


def roll(inp, shift, axis=None):
    """The elements moved along `axis` (one or several), around its end; flattened without one."""
    if axis is None:
        return _ops.reshape(_ops.roll(_ops.flatten(inp), shift, 0), inp.shape)
    if isinstance(axis, int):
        return _ops.roll(inp, shift, axis)
    for each, by in zip(axis, shift, strict=True):
        inp = _ops.roll(inp, by, each)
    return inp


export(globals(), "functional.tensor")
