"""Elements by indices and masks."""

import tessera
import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import moving, refuse


def _before(dim, x):
    return (slice(None),) * (dim % max(x.ndim, 1))


def _index_select(x, dim, index):
    return x[(*_before(dim, x), index)]


def _gather(x, dim, index, *, sparse_grad=False):
    return F.gather(x, dim, index)


def _take_along_dim(x, indices, dim=None):
    if dim is None:
        return F.gather(F.flatten(x), 0, F.flatten(indices))
    refuse(x.shape[: dim % x.ndim] != indices.shape[: dim % x.ndim], "indices that broadcast")
    refuse(len(x.shape) != len(indices.shape), "indices that broadcast")
    return F.gather(x, dim, indices)


def _scatter(x, dim, index, source, *, reduce=None):
    refuse(reduce is not None, "reduce")
    return _written(F.scatter, x, dim, index, source)


def _written(function, x, dim, index, source):
    others = [i for i in range(x.ndim) if i != dim % max(x.ndim, 1)]
    refuse(any(x.shape[i] != index.shape[i] for i in others), "an index smaller than the tensor")
    if not hasattr(source, "shape"):
        source = F.astype(F.full(index.shape, source), x.dtype)
    refuse(source.shape != index.shape, "a source larger than the index")
    return function(x, dim, index, source)


def _scatter_add(x, dim, index, source):
    return _written(F.scatter_add, x, dim, index, source)


_REDUCTIONS = {"sum": F.scatter_add, "amax": F.scatter_max, "amin": F.scatter_min}


def _scatter_reduce(x, dim, index, source, reduce, *, include_self=True):
    refuse(not include_self, "include_self=False")
    return _written(_REDUCTIONS[reduce], x, dim, index, source)


def _index_put(x, indices, values, accumulate=False):
    refuse(accumulate, "accumulate")
    out = F.copy(x)
    out[tuple(indices)] = values
    return out


def _index_add(x, dim, index, source, *, alpha=1):
    from tessera._core import ops

    source = source if alpha == 1 else source * alpha
    return ops.index_add(x, source, [index], [dim])


def _index_copy(x, dim, index, source):
    out = F.copy(x)
    out[(*_before(dim, x), index)] = source
    return out


def _index_fill(x, dim, index, value):
    out = F.copy(x)
    out[(*_before(dim, x), index)] = value
    return out


def _masked_fill(x, mask, value):
    value = (
        F.astype(value, x.dtype) if hasattr(value, "shape") else F.full((), value, dtype=x.dtype)
    )
    return F.where(mask, value, x)


def _masked_select(x, mask):
    from numpy import broadcast_shapes

    shape = broadcast_shapes(x.shape, mask.shape)
    return F.cond_take(F.broadcast_to(mask, shape), F.broadcast_to(x, shape))[0]


def _nonzero(x, *, as_tuple=False):
    refuse(as_tuple, "as_tuple")
    return F.non_zero(x)


def _take(x, index):
    return F.flatten(x)[index]


def _select_scatter(x, src, dim, index):
    out = F.copy(x)
    out[(*_before(dim, x), index)] = src
    return out


def _slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    out = F.copy(x)
    out[(*_before(dim, x), slice(start, end, step))] = src
    return out


def _one_hot(x, num_classes=-1):
    refuse(num_classes == -1, "a number of classes that data decides")
    return F.one_hot(x, num_classes)


def _embedding(weight, ids, padding_idx=None, max_norm=None, norm_type=2.0,
               scale_grad_by_freq=False, sparse=False):  # fmt: skip
    refuse(padding_idx is not None or max_norm is not None, "padding_idx or max_norm")
    refuse(scale_grad_by_freq, "scale_grad_by_freq")
    return F.embedding(ids, weight)


def _fill(x, value):
    return F.full_like(x, value) if not isinstance(value, tessera.Tensor) else F.copy(
        F.broadcast_to(F.astype(value, x.dtype), x.shape))  # fmt: skip


ROWS = moving(
    {
        "__getitem__": lambda x, key: x[key],
        "argwhere": F.non_zero,
        "fill": _fill,
        "gather": _gather,
        "index_add": _index_add,
        "index_copy": _index_copy,
        "index_fill": _index_fill,
        "index_put": _index_put,
        "index_select": _index_select,
        "masked_fill": _masked_fill,
        "masked_select": _masked_select,
        "nn.functional.embedding": _embedding,
        "nn.functional.one_hot": _one_hot,
        "nonzero": _nonzero,
        "scatter": _scatter,
        "scatter_add": _scatter_add,
        "scatter_reduce.amax": _scatter_reduce,
        "scatter_reduce.amin": _scatter_reduce,
        "scatter_reduce.sum": _scatter_reduce,
        "select_scatter": _select_scatter,
        "slice_scatter": _slice_scatter,
        "take": _take,
        "take_along_dim": _take_along_dim,
    }
)
