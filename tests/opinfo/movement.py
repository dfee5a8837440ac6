"""Functions that place elements: shapes, axes, parts, borders, and new tensors."""

import math

import tessera.functional as F  # noqa: N812
from tessera._core import ops

from tests.opinfo.rows import composed, moving, refuse, summing


def _sizes(sizes):
    """The sizes of `f(2, 3)` and of `f((2, 3))`."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes


def _permute(x, *dims):
    return F.transpose(x, _sizes(dims))


def _move(x, source, destination):
    one = isinstance(source, int)
    pairs = zip([source] if one else source, [destination] if one else destination, strict=True)
    taken = {to % x.ndim: start % x.ndim for start, to in pairs}
    others = iter(axis for axis in range(x.ndim) if axis not in taken.values())
    return F.transpose(x, [taken[to] if to in taken else next(others) for to in range(x.ndim)])


def _transpose_two(x):
    return F.transpose(x, (1, 0)) if x.ndim == 2 else F.copy(x)


def _reshape(x, *shape):
    return F.reshape(x, _sizes(shape))


def _unflatten(x, dim, sizes):
    dim = dim % max(x.ndim, 1)
    return F.reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


def _expand(x, *sizes):
    sizes = _sizes(sizes)
    added = len(sizes) - x.ndim
    return F.broadcast_to(x, [x.shape[i - added] if n == -1 else n for i, n in enumerate(sizes)])


def _squeeze(x, dim=None):
    if dim is None:
        return F.squeeze(x)
    dims = [dim] if isinstance(dim, int) else list(dim)
    ones = [each % x.ndim for each in dims if x.ndim and x.shape[each] == 1]
    return F.squeeze(x, ones) if ones else F.copy(x)


def _split(x, size, dim=0):
    if not isinstance(size, int):
        return _by_sizes(x, size, dim)
    length = x.shape[dim]
    return _by_sizes(x, [min(size, length - at) for at in range(0, length, size)], dim)


def _by_sizes(x, split_sizes, dim=0):
    cuts = [sum(split_sizes[: i + 1]) for i in range(len(split_sizes) - 1)]
    return F.split(x, cuts, dim)


def _chunk(x, chunks, dim=0):
    return _split(x, max(1, math.ceil(x.shape[dim] / chunks)), dim)


def _tensor_split(x, indices_or_sections, dim=0):
    refuse(hasattr(indices_or_sections, "shape"), "sections of a tensor")
    return F.split(x, indices_or_sections, dim)


def _repeat(x, *sizes):
    return F.tile(x, list(_sizes(sizes)))


def _repeat_interleave(x, repeats, dim=None, *, output_size=None):
    refuse(not isinstance(repeats, int), "a number of repeats for each element")
    return F.repeat(x, repeats, dim)


def _roll(x, shifts, dims=None):
    if dims is None or dims == ():
        return F.roll(x, shifts if isinstance(shifts, int) else shifts[0])
    return F.roll(x, shifts, dims)


def _flip(x, dims):
    return ops.flip(x, list(dims))


def _diag(x, diagonal=0):
    return F.diag(x, diagonal)


def _narrow(x, dim, start, length):
    start = int(start.item()) if hasattr(start, "item") else start
    start = start + x.shape[dim] if start < 0 else start
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, start + length),)]


def _select(x, dim, index):
    return x[(slice(None),) * (dim % x.ndim) + (index,)]


def _slice(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _pairs(x, pad):
    """Tessera's widths of PyTorch's, which begin at the last axis."""
    given = [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)][::-1]
    return [(0, 0)] * (x.ndim - len(given)) + given


def _constant_pad(x, pad, value=0):
    return F.pad(x, _pairs(x, pad), "constant", value)


def _pad(x, pad, mode="constant", value=None):
    return F.pad(x, _pairs(x, pad), mode, 0.0 if value is None else value)


def _meshgrid(first, *rest, indexing="ij"):
    tensors = first if isinstance(first, (list, tuple)) else (first, *rest)
    return F.meshgrid(*[F.flatten(each) for each in tensors], indexing=indexing)


def _full_like(x, value, *, dtype=None, **layout):
    if dtype is None:
        return F.full_like(x, value)
    return F.full(x.shape, value, dtype=dtype)


def _like(value, make):
    def call(x, *, dtype=None, **layout):
        return make(x) if dtype is None else F.full(x.shape, value, dtype=dtype)

    return call


def _new(value):
    def call(x, size, *fill, dtype=None, **layout):
        return F.full(size, value if value is not None else fill[0], dtype=dtype or x.dtype)

    return call


def _broadcast_tensors(*tensors):
    from numpy import broadcast_shapes

    shape = broadcast_shapes(*(each.shape for each in tensors))
    return [F.broadcast_to(each, shape) for each in tensors]


def _at_least(axes):
    """Axes of size 1 before the others; where there are to be three, one of them comes last."""

    def one(x):
        if axes == 3:
            return F.reshape(x, {0: (1, 1, 1), 1: (1, *x.shape, 1), 2: (*x.shape, 1)}[x.ndim])
        return F.reshape(x, (1,) * (axes - x.ndim) + tuple(x.shape))

    def call(*tensors):
        tensors = _sizes(tensors)
        found = [each if each.ndim >= axes else one(each) for each in tensors]
        return found if len(found) > 1 else found[0]

    return call


def _stacked(axes, axis):
    def call(tensors):
        grown = [_at_least(axes)(each) for each in tensors]
        return F.concat(grown, min(axis, grown[0].ndim - 1))

    return call


def _column_stack(tensors):
    columns = [F.reshape(x, (-1, 1)) if x.ndim < 2 else x for x in tensors]
    return F.concat(columns, 1)


def _hermitian(x):
    return F.conj(F.swapaxes(x, -1, -2)) if x.ndim > 1 else F.conj(x)


def _copies(calls):
    """The same function under the name of the one that copies."""
    return {f"{name}_copy": call for name, call in calls.items()}


_COPIED = {
    "expand": _expand,
    "narrow": _narrow,
    "permute": _permute,
    "split_with_sizes": _by_sizes,
    "squeeze": _squeeze,
    "t": _transpose_two,
    "transpose": lambda x, dim0, dim1: F.swapaxes(x, dim0, dim1) if x.ndim else F.copy(x),
    "unbind": lambda x, dim=0: list(_move(x, dim, 0)),
    "unsqueeze": lambda x, dim: F.expand_dims(x, dim),
    "view": _reshape,
}
_MOVES = {
    "H": _hermitian,
    "T": lambda x: x.T,
    "alias_copy": F.copy,
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "atleast_3d": _at_least(3),
    "broadcast_tensors": _broadcast_tensors,
    "broadcast_to": lambda x, shape: _expand(x, shape),
    "cat": lambda tensors, dim=0: F.concat(tensors, dim),
    "chunk": _chunk,
    "column_stack": _column_stack,
    "clone": lambda x, **layout: F.copy(x),
    "constant_pad_nd": _constant_pad,
    "contiguous": lambda x, **layout: F.copy(x),
    "diag": _diag,
    "diagflat": lambda x, offset=0: F.diag(F.flatten(x), offset),
    "dsplit": lambda x, sections: F.split(x, sections, 2),
    "dstack": _stacked(3, 2),
    "expand_as": lambda x, other: F.broadcast_to(x, other.shape),
    "flatten": lambda x, start_dim=0, end_dim=-1: F.flatten(x, start_dim, end_dim),
    "flip": _flip,
    "fliplr": lambda x: _flip(x, (1,)),
    "flipud": lambda x: _flip(x, (0,)),
    "full_like": _full_like,
    "hsplit": lambda x, sections: F.split(x, sections, 0 if x.ndim == 1 else 1),
    "hstack": _stacked(1, 1),
    "mH": _hermitian,
    "mT": lambda x: F.swapaxes(x, -1, -2),
    "meshgrid.list_of_tensors": _meshgrid,
    "meshgrid.variadic_tensors": _meshgrid,
    "movedim": _move,
    "new_full": _new(None),
    "new_ones": _new(1),
    "new_zeros": _new(0),
    "nn.functional.pad.constant": _pad,
    "nn.functional.pad.reflect": _pad,
    "nn.functional.pad.replicate": _pad,
    "nn.functional.pad.replicate_negative": _pad,
    "nn.functional.pixel_shuffle": lambda x, upscale_factor: F.pixel_shuffle(x, upscale_factor),
    "ones_like": _like(1, F.ones_like),
    "ravel": lambda x: F.flatten(x),
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "reshape": _reshape,
    "reshape_as": lambda x, other: F.reshape(x, other.shape),
    "roll": _roll,
    "rot90": lambda x, k=1, dims=(0, 1): F.rot90(x, k, dims),
    "select": _select,
    "slice": _slice,
    "split": _split,
    "split.list_args": _split,
    "squeeze.multiple": _squeeze,
    "stack": lambda tensors, dim=0: F.stack(tensors, dim),
    "tensor_split": _tensor_split,
    "tile": lambda x, *dims: F.tile(x, list(_sizes(dims))),
    "tril": lambda x, diagonal=0: F.tril(x, diagonal),
    "triu": lambda x, diagonal=0: F.triu(x, diagonal),
    "unflatten": _unflatten,
    "unsafe_chunk": _chunk,
    "unsafe_split": _split,
    "view_as": lambda x, other: F.reshape(x, other.shape),
    "vsplit": lambda x, sections: F.split(x, sections, 0),
    "vstack": _stacked(2, 0),
    "zeros_like": _like(0, F.zeros_like),
}


def _dtype(dtype):
    return "float32" if dtype is None else dtype


def _arange(start, end=None, step=1, *, dtype=None, **layout):
    return F.arange(start, end, step, dtype=_dtype(dtype))


def _eye(n, m=None, *, dtype=None, **layout):
    return F.eye(n, m, dtype=_dtype(dtype))


def _linspace(start, end, steps, *, dtype=None, **layout):
    return F.linspace(start, end, steps, dtype=_dtype(dtype))


def _full(size, value, *, dtype=None, **layout):
    return F.full(size, value, dtype=dtype)


_NEW = {
    "eye": _eye,
    "full": _full,
    "scalar_tensor": lambda value, *, dtype=None, **layout: _full((), value, dtype=dtype),
    "ones": lambda *size, dtype=None, **layout: F.ones(_sizes(size), dtype=_dtype(dtype)),
    "zeros": lambda *size, dtype=None, **layout: F.zeros(_sizes(size), dtype=_dtype(dtype)),
}
# A start and a multiple of a step, which may cancel.
_SPACED = {"arange": _arange, "linspace": _linspace}


def _sum_to(x, *size):
    return ops.sum_to(x, ops.full(list(_sizes(size)), 0.0, "float32"))


ROWS = (
    moving(_MOVES | _COPIED | _copies(_COPIED) | _NEW)
    | composed(_SPACED, roundings=1)
    | summing({"kron": F.kron, "sum_to_size": _sum_to}, 8)
)
