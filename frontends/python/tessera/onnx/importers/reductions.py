"""Many elements to one, running sums, orders of elements."""

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast, constant_like, is_float
from .shapes import flipped, moved_last


def _axes_of(node, axes):
    """The axes to reduce, empty for all; None: nothing is reduced."""
    found = node.axes(1, axes)
    if found:
        return found
    return None if node["noop_with_empty_axes"] else []


def _reduced(node, x, axes, function):
    """`function(x, axes, keepdims)` in the dtype of x."""
    axes = _axes_of(node, axes)
    if axes is None:
        return x
    return cast(function(x, axes, bool(node["keepdims"])), x.dtype.name)


def _reduction(name, before=lambda x: x, after=lambda x: x):
    """Registers the sum of `before(x)`, of which `after` is taken."""

    @importer(name)
    def _import(node, x, axes=None):
        def _function(x, axes, keepdims):
            return after(_ops.sum(before(x), axes, keepdims))

        if _axes_of(node, axes) is None:
            return cast(after(before(x)), x.dtype.name)
        return _reduced(node, x, axes, _function)


_reduction("ReduceSum")
_reduction("ReduceL1", before=_ops.abs)
_reduction("ReduceL2", before=_ops.square, after=lambda x: _ops.sqrt(_floating(x)))
_reduction("ReduceSumSquare", before=_ops.square)
_reduction("ReduceLogSum", after=lambda x: _ops.log(_floating(x)))


def _floating(x):
    return x if is_float(x) else _ops.astype(x, "float64")


@importer("ReduceMean")
def _mean(node, x, axes=None):
    return _reduced(node, x, axes, lambda x, *rest: _ops.mean(_floating(x), *rest))


@importer("ReduceProd")
def _prod(node, x, axes=None):
    return _reduced(node, x, axes, _ops.prod)


@importer("ReduceLogSumExp")
def _log_sum_exp(node, x, axes=None):
    return _reduced(node, x, axes, _log_of_sum)


def _log_of_sum(x, axes, keepdims):
    """Of no elements -inf."""
    if any(x.shape[axis] == 0 for axis in axes or range(x.ndim)):
        return _ops.log(_ops.sum(_floating(x), axes, keepdims))
    return _ops.logsumexp(_floating(x), axes, keepdims)


def _extremum(name, function):
    """Of bool, false is below true."""

    @importer(name)
    def _import(node, x, axes=None):
        def _function(x, axes, keepdims):
            return function(x, axes, keepdims, True)

        if x.dtype.name != "bool":
            return _reduced(node, x, axes, _function)
        return cast(_reduced(node, cast(x, "uint8"), axes, _function), "bool")


_extremum("ReduceMax", _ops.max)
_extremum("ReduceMin", _ops.min)


def _index_of_extremum(name, function):
    @importer(name)
    def _import(node, x):
        axis, keepdims = node["axis"] % x.ndim, bool(node["keepdims"])
        if not node["select_last_index"]:
            return cast(function(x, axis, keepdims), "int64")
        found = cast(function(flipped(x, [axis]), axis, keepdims), "int64")
        return x.shape[axis] - 1 - found


_index_of_extremum("ArgMax", _ops.argmax)
_index_of_extremum("ArgMin", _ops.argmin)


def _running(name, function):
    @importer(name)
    def _import(node, x, axis):
        axis = int(node.number(1, axis))
        return function(x, axis, bool(node["exclusive"]), bool(node["reverse"]))


_running("CumSum", _ops.cumsum)
_running("CumProd", _ops.cumprod)


@importer("TopK")
def _topk(node, x, k=None):
    """The number is an attribute before opset 10."""
    count = node["k"] if k is None else node.sizes(1, k)
    count = count[0] if isinstance(count, list) else count
    last, back = moved_last(x, node["axis"])
    largest = True if node["largest"] is None else bool(node["largest"])
    values, indices = _ops.topk(last, count, largest)
    return back(values), back(cast(indices, "int64"))


@importer("LpNormalization")
def _lp_normalization(node, x):
    norm = _ops.norm(x, [node["axis"]], True, float(node["p"]))
    zero = constant_like(norm, 0)
    return _ops.where(_ops.equal(norm, zero), zero, x / norm)


@importer("MeanVarianceNormalization")
def _mean_variance(node, x):
    axes = list(node["axes"])
    centred = x - _ops.mean(x, axes, True)
    variance = _ops.mean(_ops.square(centred), axes, True)
    return centred / (_ops.sqrt(variance) + 1e-9)
