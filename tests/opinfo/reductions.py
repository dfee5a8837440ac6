"""Reductions, running results, order, and questions about many elements."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import Row, elementwise, refuse, summing


def _as(x, dtype):
    return x if dtype is None else F.astype(x, dtype)


def _axes(dim):
    return None if dim is None or isinstance(dim, (list, tuple)) and not dim else dim


def _sum(x, dim=None, keepdim=False, *, dtype=None):
    return F.sum(_as(x, dtype), _axes(dim), keepdim)


def _mean(x, dim=None, keepdim=False, *, dtype=None):
    return F.mean(_as(x, dtype), _axes(dim), keepdim)


def _prod(x, dim=None, keepdim=False, *, dtype=None):
    return F.prod(_as(x, dtype), dim, keepdim)


def _amax(x, dim=None, keepdim=False):
    return F.max(x, _axes(dim), keepdim)


def _amin(x, dim=None, keepdim=False):
    return F.min(x, _axes(dim), keepdim)


def _max_with_dim(x, dim, keepdim=False):
    return F.max(x, dim, keepdim), F.argmax(x, dim, keepdim)


def _min_with_dim(x, dim, keepdim=False):
    return F.min(x, dim, keepdim), F.argmin(x, dim, keepdim)


def _aminmax(x, *, dim=None, keepdim=False):
    return F.min(x, dim, keepdim), F.max(x, dim, keepdim)


def _uncorrected(dim, unbiased, correction):
    """The axes where the sum of squares is divided by n, as Tessera does."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 0 if unbiased is False else 1
    refuse(correction != 0, "a correction other than 0")
    return _axes(dim)


def _var(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return F.var(x, _uncorrected(dim, unbiased, correction), keepdim)


def _std(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return F.std(x, _uncorrected(dim, unbiased, correction), keepdim)


def _var_mean(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    axes = _uncorrected(dim, unbiased, correction)
    return F.var(x, axes, keepdim), F.mean(x, axes, keepdim)


def _std_mean(x, dim=None, unbiased=None, keepdim=False, *, correction=None):
    axes = _uncorrected(dim, unbiased, correction)
    return F.std(x, axes, keepdim), F.mean(x, axes, keepdim)


def _vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    refuse(ord == 0, "ord 0")
    return F.norm(_as(x, dtype), ord, _axes(dim), keepdim)


def _norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    refuse(p == "nuc", "the nuclear norm")
    return _vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def _linalg_norm(x, ord=None, dim=None, keepdim=False, *, dtype=None):
    is_vector = ord is None or isinstance(dim, int) or (dim is None and x.ndim == 1)
    refuse(not is_vector and ord != "fro", "a norm of matrices")
    return _vector_norm(x, 2 if ord in (None, "fro") else ord, dim, keepdim, dtype=dtype)


def _logsumexp(x, dim, keepdim=False):
    return F.logsumexp(x, _axes(dim), keepdim)


def _cumulative(function):
    def call(x, dim, *, dtype=None):
        return function(_as(x, dtype), dim)

    return call


def _along(x, dim, function):
    """A function of the last axis along another one."""
    if dim in (-1, x.ndim - 1) or not x.ndim:
        return function(x)
    return [F.swapaxes(each, dim, -1) for each in function(F.swapaxes(x, dim, -1))]


def _sort(x, dim=-1, descending=False, *, stable=None):
    return F.sort(x, descending, dim)


def _topk(x, k, dim=-1, largest=True, sorted=True):
    return _along(x, dim, lambda last: F.topk(last, k, largest))


def _kthvalue(x, k, dim=-1, keepdim=False):
    found = _along(x, dim, lambda last: [each[..., k - 1 : k] for each in F.topk(last, k, False)])
    return found if keepdim or not x.ndim else [F.squeeze(each, dim) for each in found]


def _searchsorted(x, values, *, out_int32=False, right=False, side=None, sorter=None):
    refuse(sorter is not None, "a sorter")
    refuse(not hasattr(values, "shape"), "a number as value")
    return F.searchsorted(x, values, side or ("right" if right else "left"))


def _bucketize(x, boundaries, *, out_int32=False, right=False):
    flat = F.searchsorted(boundaries, F.flatten(x), "right" if right else "left")
    return F.reshape(flat, x.shape)


def _unique(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    refuse(dim is not None, "an axis")
    return F.unique(x, return_inverse, return_counts)


_SUMS = {
    "cumprod": _cumulative(F.cumprod),
    "cumsum": _cumulative(F.cumsum),
    "linalg.norm": _linalg_norm,
    "linalg.norm.subgradients_at_zero": _linalg_norm,
    "linalg.vector_norm": _vector_norm,
    "logcumsumexp": _cumulative(F.logcumsumexp),
    "logsumexp": _logsumexp,
    "mean": _mean,
    "norm": _norm,
    "norm.fro": _norm,
    "norm.inf": _norm,
    "prod": _prod,
    "std": _std,
    "std.unbiased": _std,
    "std_mean": _std_mean,
    "std_mean.unbiased": _std_mean,
    "sum": _sum,
    "trace": F.trace,
    "var": _var,
    "var.unbiased": _var,
    "var_mean": _var_mean,
    "var_mean.unbiased": _var_mean,
}
_CHOICES = {
    "amax": _amax,
    "amin": _amin,
    "aminmax": _aminmax,
    "argmax": lambda x, dim=None, keepdim=False: F.argmax(x, dim, keepdim),
    "argmin": lambda x, dim=None, keepdim=False: F.argmin(x, dim, keepdim),
    "bincount": lambda x, weights=None, minlength=0: F.bincount(x, weights, minlength),
    "bucketize": _bucketize,
    "kthvalue": _kthvalue,
    "max.reduction_no_dim": F.max,
    "max.reduction_with_dim": _max_with_dim,
    "min.reduction_no_dim": F.min,
    "min.reduction_with_dim": _min_with_dim,
    "searchsorted": _searchsorted,
    "sort": _sort,
    "topk": _topk,
    "unique": _unique,
}
_PARTS = {
    "argsort": Row(lambda *args, **kwargs: _sort(*args, **kwargs)[1]),
    "cummax": Row(lambda x, dim: F.cummax(x, dim), picks=(0,)),
    "cummin": Row(lambda x, dim: F.cummin(x, dim), picks=(0,)),
    "msort": Row(lambda x: _sort(x, 0)[0]),
}
ROWS = summing(_SUMS) | elementwise(_CHOICES) | _PARTS
