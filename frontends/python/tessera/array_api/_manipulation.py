"""The same elements in other shapes and places."""

from .. import functional as _functional
from .._core import Tensor
from .._core import ops as _ops
from ._dtypes import cast, int32, int64


def axis_of(axis, rank, name):
    """The axis from 0 on. ValueError: it must be one of the axes."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis must be in [{-rank}, {rank - 1}], got {axis}")
    return axis % rank


def axes_of(axis, rank, name):
    """The axes from 0 on, of an int, several or None for all."""
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(axis_of(each, rank, name) for each in given)


def broadcast_arrays(*arrays):
    """The tensors repeated to the shape that all broadcast to."""
    if not arrays:
        return []
    whole = _ops.full(arrays[0].shape, 0, "bool")
    for each in arrays[1:]:
        whole = _ops.logical_or(whole, _ops.full(each.shape, 0, "bool"))
    shape = tuple(whole.shape)
    return [_ops.broadcast_to(each, shape) for each in arrays]


def broadcast_to(x, /, shape):
    """The tensor repeated to the shape."""
    return _ops.broadcast_to(x, shape)


def concat(arrays, /, *, axis=0):
    """Tensors one after the other along `axis`; without one, flattened before."""
    if axis is None:
        return _ops.concat([_ops.flatten(each) for each in arrays], 0)
    return _ops.concat(arrays, axis)


def expand_dims(x, /, axis=0):
    """A new axis of size 1 at `axis` of the result. IndexError: the result must have it."""
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise IndexError(f"expand_dims: axis must be in [{-x.ndim - 1}, {x.ndim}], got {axis}")
    return _ops.expand_dims(x, axis)


def flip(x, /, *, axis=None):
    """The elements in reverse order along `axis`, several or all axes."""
    axes = axes_of(axis, x.ndim, "flip")
    whole, back = slice(None), slice(None, None, -1)
    return _ops.copy(x[tuple(back if i in axes else whole for i in range(x.ndim))])


def moveaxis(x, source, destination, /):
    """The axes `source` at the places `destination`, the others in their order."""
    rank = x.ndim
    sources = axes_of(source, rank, "moveaxis")
    places = axes_of(destination, rank, "moveaxis")
    if (
        len(sources) != len(places)
        or len({*sources}) < len(sources)
        or len({*places}) < len(places)
    ):
        raise ValueError(
            "moveaxis: source and destination must be as many distinct axes, got "
            f"{source} and {destination}"
        )
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _ops.transpose(x, order)


def permute_dims(x, /, axes):
    """The axes in the order `axes`."""
    return _ops.transpose(x, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element repeated along `axis`, a number of times or its own; flattened without one."""
    if axis is None:
        x, axis = _ops.flatten(x), 0
    if not isinstance(repeats, Tensor):
        return _ops.repeat(x, repeats, axis)
    axis = axis_of(axis, x.ndim, "repeat")
    ends = _ops.cumsum(_ops.broadcast_to(cast(repeats, int64), (x.shape[axis],)), 0)
    total = int(ends[-1].item()) if ends.shape[0] else 0
    places = _ops.searchsorted(ends, _ops.arange(total, 0, 1, int64), "right")
    return _ops.index_get(x, [places], [axis])


def reshape(x, /, shape, *, copy=None):
    """The elements in another shape, one of whose sizes may be -1.

    ValueError: with copy=False the memory must be row-major.
    """
    if copy is False and not memoryview(x).c_contiguous:
        raise ValueError(f"reshape: copy must be allowed for such memory, got {tuple(x.shape)}")
    return _ops.reshape(_ops.copy(x) if copy else x, shape)


def roll(x, /, shift, *, axis=None):
    """The elements moved along `axis`, one or several, around its end; flattened without one."""
    if axis is None:
        return _ops.reshape(_ops.roll(_ops.flatten(x), shift, 0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    for each, by in zip(axes, shifts, strict=True):
        x = _ops.roll(x, by, each)
    return x


def squeeze(x, /, axis):
    """Without axes of size 1."""
    return _functional.squeeze(x, axis)


def stack(arrays, /, *, axis=0):
    """Tensors side by side along a new axis."""
    return _ops.stack(arrays, axis)


def tile(x, repetitions, /):
    """The tensor repeated along each axis."""
    missing = x.ndim - len(repetitions)
    return _functional.tile(x, (1,) * missing + tuple(repetitions))


def unstack(x, /, *, axis=0):
    """The parts along `axis`, which goes."""
    axis = axis_of(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))


def index_tensor(x):
    """Indices as kernels take them."""
    return x if x.dtype in (int32, int64) else cast(x, int64)


def take(x, indices, /, *, axis=None):
    """The elements at `indices` along `axis`, which a vector needs not say.

    IndexError: indices must be in [-n, n - 1].
    """
    if axis is None and x.ndim != 1:
        raise ValueError(f"take: axis must be given for more axes than one, got {x.ndim} axes")
    return _ops.index_get(x, [index_tensor(indices)], [0 if axis is None else axis])


def take_along_axis(x, indices, /, *, axis=-1):
    """The elements along `axis`, by an index for each of them; other axes broadcast.

    IndexError: indices must be in [-n, n - 1].
    """
    axis = axis_of(axis, x.ndim, "take_along_axis")
    sizes = [b if a == 1 else a for a, b in zip(x.shape, indices.shape, strict=True)]
    wide = _ops.broadcast_to(x, [*sizes[:axis], x.shape[axis], *sizes[axis + 1 :]])
    places = _ops.broadcast_to(indices, [*sizes[:axis], indices.shape[axis], *sizes[axis + 1 :]])
    return _ops.gather(wide, index_tensor(places), axis)
