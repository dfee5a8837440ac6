"""Reductions, products, and questions about values."""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._core import sizes_of as _sizes_of
from ..core.symint import sym_max as _sym_max
from .generated import check_compute_mode, export


def _rank_of(name, inp):
    """The number of axes of what makes a tensor: a class of NumPy has `ndim`, too."""
    rank = _np.ndim(inp)
    if not isinstance(rank, int):
        raise TypeError(f"{name}: inp must be a Tensor, got {inp!r}")
    return rank


def _index_in_all(operator, inp, keepdims):
    index = operator(_ops.flatten(inp), 0, keepdims)
    return _ops.reshape(index, (1,) * _np.ndim(inp)) if keepdims else index


def _index_in(name, inp, axes, keepdims):
    """The index into several axes flattened together, in their order in the tensor."""
    rank, operator = _rank_of(name, inp), getattr(_ops, name)
    if not axes:
        return _index_in_all(operator, inp, keepdims)
    if not all(isinstance(axis, (int, _np.integer)) for axis in axes):
        raise TypeError(f"{name}: axis must be an int or several, got {axes!r}")
    taken = [axis + rank if axis < 0 else axis for axis in axes]
    if len({*taken}) < len(taken) or not all(0 <= axis < rank for axis in taken):
        raise ValueError(
            f"{name}: axis must be distinct axes in [{-rank}, {rank - 1}], got {tuple(axes)}"
        )
    if not isinstance(keepdims, bool):
        raise TypeError(f"{name}: keepdims must be a bool, got {keepdims!r}")
    taken, rest = sorted(taken), [axis for axis in range(rank) if axis not in taken]
    index = operator(_ops.flatten(_ops.transpose(inp, rest + taken), len(rest), -1), -1)
    return _ops.expand_dims(index, taken) if keepdims else index


def argmax(inp, axis=None, keepdims=False):
    """The index of the first largest element along `axis`, of the flattened tensor without one.

    Of several axes it is the index into these flattened together. With `keepdims` they stay with
    size 1; without an axis all of them do.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.argmax(ts.tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
    [1, 0]
    """
    if axis is None:
        return _index_in_all(_ops.argmax, inp, keepdims)
    if isinstance(axis, (tuple, list)):
        return _index_in("argmax", inp, axis, keepdims)
    return _ops.argmax(inp, axis, keepdims)


def argmin(inp, axis=None, keepdims=False):
    """The index of the first smallest element along `axis`, of the flattened tensor without one.

    Of several axes it is the index into these flattened together. With `keepdims` they stay with
    size 1; without an axis all of them do.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.argmin(ts.tensor([[1.0, 5.0], [7.0, 0.5]])).item()
    3
    """
    if axis is None:
        return _index_in_all(_ops.argmin, inp, keepdims)
    if isinstance(axis, (tuple, list)):
        return _index_in("argmin", inp, axis, keepdims)
    return _ops.argmin(inp, axis, keepdims)


def norm(inp, ord=None, axis=None, keepdims=False):
    """The `ord`-norm along `axis` (2 without one; infinite ones are extrema).

    Args:
        inp: float[*D]
        ord: a number other than 0, inf and -inf too
        axis: an int, several, or None for all
        keepdims: keep reduced axes with size 1

    Returns:
        float[*D / axis], of the dtype of inp

    Raises:
        ValueError: ord must not be 0; axis must be distinct axes of inp
        TypeError: inp must be a tensor, an array or a number

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.norm(ts.tensor([3.0, 4.0])).item()
        5.0
    """
    return _ops.norm(inp, axis, keepdims, 2.0 if ord is None else ord)


def normalize(inp, ord=None, axis=None, eps=1e-12):
    """The tensor divided by its norm along `axis`, or by `eps` where that is larger.

    Args:
        inp: float[*D]
        ord, axis: as those of norm
        eps: the smallest divisor

    Returns:
        float[*D], of the dtype of inp

    Raises:
        ValueError, TypeError: as norm

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.normalize(ts.tensor([[3.0, 4.0]]), axis=1).shape
        (1, 2)
    """
    return _ops.normalize(inp, axis, 2.0 if ord is None else ord, eps)


def matmul(inp1, inp2, transpose_a=False, transpose_b=False, compute_mode="default", dtype=None):
    """The matrix product over the last two axes; leading axes broadcast, vectors get an axis.

    With `dtype="float32"` the sums of narrower floats are not rounded, and the two may differ.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.matmul(ts.tensor([[1.0, 2.0]]), ts.tensor([[3.0, 4.0]]), transpose_b=True).tolist()
    [[11.0]]
    """
    check_compute_mode("matmul", compute_mode)
    return _ops.matmul(inp1, inp2, transpose_a, transpose_b, dtype)


def _check_descending(name, descending, axis="dim= is the axis"):
    """TypeError for a number, which PyTorch's and NumPy's functions take for an axis."""
    if not isinstance(descending, (bool, _np.bool_)):
        raise TypeError(f"{name}: descending must be a bool ({axis}), got {descending!r}")


def sort(inp, descending=False, dim=-1):
    """The elements in order along the axis `dim`, and where they were; equal ones keep their order.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> [each.tolist() for each in F.sort(ts.tensor([[3, 1], [2, 4]]), dim=0)]
    [[[2, 1], [3, 4]], [[1, 0], [0, 1]]]
    """
    _check_descending("sort", descending)
    if dim == -1:
        return _ops.sort(inp, descending)
    rank = _rank_of("sort", inp)
    if rank == 0 or dim == rank - 1:
        return _ops.sort(inp, descending)
    if not -rank <= dim < rank:
        raise ValueError(f"sort: dim must be in [{-rank}, {rank - 1}], got {dim}")
    values, indices = _ops.sort(_ops.swapaxes(inp, dim, -1), descending)
    return _ops.swapaxes(values, dim, -1), _ops.swapaxes(indices, dim, -1)


def argsort(inp, descending=False, dim=-1):
    """Where the elements in order along the axis `dim` were; equal ones keep their order.

    Args:
        inp: number[*D]
        descending: largest first
        dim: an axis of inp

    Returns:
        int32[*D]: int32 whatever the dtype of inp

    Raises:
        ValueError: inp must have rank >= 1, dim be one of its axes
        TypeError: inp must be a tensor or array of numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.argsort(ts.tensor([3.0, 1.0, 2.0])).tolist()
        [1, 2, 0]
    """
    _check_descending("argsort", descending)
    return sort(inp, descending, dim)[1]


def topk(inp, k, descending=True, kth_only=False, no_sort=False):
    """The first `k` elements in order along the last axis, and their indices.

    The largest ones; the smallest ones without `descending`. With `kth_only` the k-th alone, and
    the last axis goes. With `no_sort` any order will do; they are in order all the same.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> [each.tolist() for each in F.topk(ts.tensor([3.0, 1.0, 2.0]), 2)]
    [[3.0, 2.0], [0, 2]]
    >>> [each.item() for each in F.topk(ts.tensor([3.0, 1.0, 2.0]), 2, kth_only=True)]
    [2.0, 2]
    """
    if not isinstance(descending, (bool, _np.bool_)):
        raise TypeError(
            f"topk: descending must be a bool (along the last axis), got {descending!r}"
        )
    if not isinstance(no_sort, bool):
        raise TypeError(f"topk: no_sort must be a bool, got {no_sort!r}")
    values, indices = _ops.topk(inp, k, descending)
    if not kth_only:
        return values, indices
    last, axis = [_Tensor(k - 1)], [values.ndim - 1]
    return _ops.index_get(values, last, axis), _ops.index_get(indices, last, axis)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product of vectors of two or three elements; `axis` stands for all three axes.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.cross(ts.tensor([1.0, 0.0, 0.0]), ts.tensor([0.0, 1.0, 0.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    return _ops.cross(a, b, axisa, axisb, axisc)


def topk_accuracy(logits, target, topk=1):
    """The share of rows whose target is among the `topk` largest; a list where topk is one.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.topk_accuracy(ts.tensor([[1.0, 3.0], [2.0, 1.0]]), ts.tensor([1, 1])).item()
    0.5
    """
    if isinstance(topk, (tuple, list)):
        return [_ops.topk_accuracy(logits, target, k) for k in topk]
    return _ops.topk_accuracy(logits, target, topk)


def bincount(inp, weights=None, minlength=0):
    """How often each number from 0 on occurs in `inp`, or the sum of its `weights`.

    The result is as long as the largest number wants, which is read from the tensor, or `minlength`
    where that is more.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.bincount(ts.tensor([0, 2, 2], dtype="int32")).tolist()
    [1, 0, 2]
    """
    inp = inp if isinstance(inp, _Tensor) else _Tensor(inp)
    largest = _sizes_of(_ops.max(inp)) if inp.size else -1
    length = (int(largest.item()) if isinstance(largest, _Tensor) else largest) + 1
    if weights is None:
        weights = _ops.astype(_ops.ones_like(inp), "int32")
    return _ops.bincount(inp, weights, _sym_max(length, minlength))


def einsum(equation, *operands):
    """A sum of products by Einstein's convention, as NumPy's einsum of an equation.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.einsum("ij,j->i", ts.tensor([[1.0, 2.0], [3.0, 4.0]]), ts.tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    return _ops.einsum(operands, equation)


def svd(inp, full_matrices=False, compute_uv=True):
    """Matrices as `u diag(s) vh`: (u, s, vh), or without `compute_uv` the singular values s alone.

    u and vh have as many columns and rows as s has values: `full_matrices` must be False.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> u, s, vh = F.svd(ts.tensor([[0.0, 2.0], [3.0, 0.0]]))
    >>> s.tolist()
    [3.0, 2.0]
    """
    if full_matrices:
        raise ValueError(f"svd: full_matrices must be False, got {full_matrices!r}")
    return _ops.svd(inp) if compute_uv else _ops.svdvals(inp)


def unique(inp, return_inverse=False, return_counts=False):
    """The distinct elements in order, NaN as one and last.

    With `return_inverse` also which of them each element of `inp` is, and with `return_counts` how
    often each occurs, both int32. How many there are is known when the elements are.

    Args:
        inp: number[*D]
        return_inverse, return_counts: whether these are returned, too

    Returns:
        number[U] of the dtype of inp, or a tuple of it, int32[*D] and int32[U]

    Raises:
        TypeError: inp must be a tensor of numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> values, counts = F.unique(ts.tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    inp = inp if isinstance(inp, _Tensor) else _Tensor(inp)
    values, order = _ops.sort(_ops.flatten(inp))
    left, right = values[:-1], values[1:]
    both_nan = _ops.logical_and(left != left, right != right)  # only NaN differs from itself
    differs = _ops.logical_and(left != right, _ops.logical_not(both_nan))
    is_first = _ops.concat([order[:1] >= 0, differs])
    found = _ops.mask_get(values, is_first)
    group = _ops.cumsum(_ops.astype(is_first, "int32"), 0) - 1
    results = [found]
    if return_inverse:
        places = _ops.scatter(_ops.zeros_like(order), order, group)
        results.append(_ops.reshape(places, tuple(inp.shape)))
    if return_counts:
        nothing = _ops.zeros_like(_ops.mask_get(order, is_first))
        results.append(_ops.index_add(nothing, _ops.ones_like(group), [group], [0]))
    return tuple(results) if len(results) > 1 else found


export(globals())
