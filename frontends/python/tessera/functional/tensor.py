"""Other arrangements of tensors' elements."""

from .._core import ops as _ops
from ..core.symint import SymInt as _SymInt
from ._parts import repeated_sizes as _repeated_sizes
from ._parts import sections_of as _sections_of
from .creation import arange as _arange
from .creation import eye as _eye
from .generated import check_choice, export


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
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.diag(ts.tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    if inp.ndim == 1:
        size = inp.shape[0]
        is_own = _eye(size, dtype="bool", device=inp.device)
        column = _ops.expand_dims(inp, 1)
        rows = _ops.where(is_own, column, _ops.zeros_like(column))
        return _ops.pad(rows, [max(0, -k), max(0, k)], [max(0, k), max(0, -k)], 0.0)
    rows = _ops.slice(inp, [max(0, -k), max(0, k)], list(inp.shape))
    size = min(rows.shape)
    index = _arange(size, dtype="int32", device=inp.device)
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
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> [each.tolist() for each in F.meshgrid(ts.tensor([1, 2]), ts.tensor([3]))]
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

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.copy(ts.tensor([1, 2]), device="cpu0").tolist()
    [1, 2]
    """
    return _ops.copy(inp) if device is None else _ops.copy(inp).to(device)


def broadcast_to(inp, shape):
    """The tensor repeated along axes of size 1 and along new ones in front.

    `shape` is a tuple or list of ints, or of tensors and arrays of one element, or one tensor or
    array; None in it keeps an axis of inp.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.broadcast_to(ts.tensor([[1], [2]]), (2, None, 3)).shape
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

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.squeeze(ts.tensor([[1, 2]])).shape, F.squeeze(ts.tensor([[1, 2]]), ()).shape
    ((2,), (1, 2))
    """
    if isinstance(axis, (tuple, list)) and not axis:
        inp, axis = _ops.expand_dims(inp, 0), 0
    return _ops.squeeze(inp, axis)


def stack(inps, axis=0, device=None):
    """Tensors of one shape side by side along a new axis.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.stack([ts.tensor([1, 2]), ts.tensor([3, 4])], axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    whole = _ops.stack(inps, axis)
    return whole if device is None else whole.to(device)


def concat(inps, axis=0, device=None):
    """Tensors one after the other along `axis`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.concat([ts.tensor([1]), ts.tensor([2, 3])]).tolist()
    [1, 2, 3]
    """
    whole = _ops.concat(inps, axis)
    return whole if device is None else whole.to(device)


def split(inp, nsplits_or_sections, axis=0):
    """Parts along `axis`: as many as the int says, at most one for each element, or cut at the
    indices of the list, which are in order and at most the size of the axis.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> [part.tolist() for part in F.split(ts.tensor([0, 1, 2, 3, 4]), [2, 3])]
    [[0, 1], [2], [3, 4]]
    """
    sections = _sections_of(inp.shape[axis], nsplits_or_sections)
    return list(_ops.split(inp, sections, axis))


def gather(inp, axis, index):
    """Elements along `axis`, by an index for each of them.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.gather(ts.tensor([[1, 2], [3, 4]]), 1, ts.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    return _ops.gather(inp, index, axis)


def scatter(inp, axis, index, source):
    """The tensor with elements along `axis` replaced by those of `source`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.scatter(ts.tensor([1, 2, 3]), 0, ts.tensor([2, 0]), ts.tensor([7, 8])).tolist()
    [8, 2, 7]
    """
    return _ops.scatter(inp, index, source, axis)


def scatter_add(inp, axis, index, source):
    """The tensor with `source` added to elements along `axis`, every one in its order.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.scatter_add(ts.tensor([1, 2, 3]), 0, ts.tensor([2, 2]), ts.tensor([7, 8])).tolist()
    [1, 2, 18]
    """
    return _ops.scatter_add(inp, index, source, axis)


def scatter_max(inp, axis, index, source):
    """The tensor with the larger one of its elements along `axis` and `source`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.scatter_max(ts.tensor([1, 2, 3]), 0, ts.tensor([2, 0]), ts.tensor([1, 8])).tolist()
    [8, 2, 3]
    """
    return _ops.scatter_max(inp, index, source, axis)


def scatter_min(inp, axis, index, source):
    """The tensor with the smaller one of its elements along `axis` and `source`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.scatter_min(ts.tensor([1, 2, 3]), 0, ts.tensor([2, 0]), ts.tensor([1, 8])).tolist()
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
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> mask = ts.tensor([True, False, True])
        >>> [each.tolist() for each in F.cond_take(mask, ts.tensor([5, 6, 7]))]
        [[5, 7], [0, 2]]
    """
    flat = _ops.flatten(mask)
    return _ops.mask_get(_ops.flatten(x), flat), _ops.flatten(_ops.non_zero(flat))


def non_zero(condition, as_tuple=False):
    """The positions of the elements that are not zero, in row-major order: a row for each, or with
    `as_tuple` a vector for each axis.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.non_zero(ts.tensor([[1, 0], [2, 3]])).tolist()
    [[0, 0], [1, 0], [1, 1]]
    >>> [each.tolist() for each in F.non_zero(ts.tensor([[1, 0], [2, 3]]), as_tuple=True)]
    [[0, 1, 1], [0, 0, 1]]
    """
    positions = _ops.non_zero(condition)
    if not as_tuple:
        return positions
    return tuple(positions[:, axis] for axis in range(positions.shape[1]))


def repeat(inp, repeats, axis=None):
    """Each element repeated along `axis`; of the flattened tensor without one.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.repeat(ts.tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    if axis is None:
        return _ops.repeat(_ops.flatten(inp), repeats, 0)
    return _ops.repeat(inp, repeats, axis)


def tile(inp, reps):
    """The tensor repeated along its last axes, as often as `reps` says of each; more of them make
    new axes.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.tile(ts.tensor([1, 2]), 2).tolist()
    [1, 2, 1, 2]
    """
    is_one = isinstance(reps, (int, _SymInt)) or getattr(reps, "ndim", 1) == 0
    return _ops.tile(inp, [reps] if is_one else list(reps))


def roll(inp, shift, axis=None):
    """The elements moved along `axis` (one or several), around its end; flattened without one.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.roll(ts.tensor([1, 2, 3]), 1).tolist()
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
