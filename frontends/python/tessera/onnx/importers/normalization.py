"""Normalisations."""

from ..._core import ops as _ops
from ..registry import importer
from ..values import dtype_of
from .elementwise import cast


def _of_channels(x, value):
    return _ops.reshape(value, (1, -1, *[1] * (x.ndim - 2)))


@importer("BatchNormalization")
def _batch_norm(node, x, scale, bias, mean, var):
    """With training_mode also the running statistics, of which momentum stays."""
    epsilon = node["epsilon"]
    if not node["training_mode"]:
        return _normalised(x, mean, var, scale, bias, epsilon)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    own_mean = _ops.mean(x, axes, False)
    own_var = _ops.mean(_ops.square(x - _of_channels(x, own_mean)), axes, False)
    momentum = node["momentum"]
    new_mean = mean * momentum + cast(own_mean, mean.dtype.name) * (1 - momentum)
    new_var = var * momentum + cast(own_var, var.dtype.name) * (1 - momentum)
    return _normalised(x, own_mean, own_var, scale, bias, epsilon), new_mean, new_var


def _normalised(x, mean, var, scale, bias, epsilon):
    values = (_of_channels(x, cast(each, x.dtype.name)) for each in (scale, bias, mean, var))
    scale, bias, mean, var = values
    if 2 <= x.ndim <= 5:
        return _ops.batch_norm_inference(x, scale, bias, mean, var, epsilon)
    return (x - mean) / _ops.sqrt(var + epsilon) * scale + bias


@importer("InstanceNormalization")
def _instance_norm(node, x, scale, bias):
    return _ops.instance_norm(x, scale, bias, node["epsilon"])


@importer("GroupNormalization")
def _group_norm(node, x, scale, bias):
    """Scale and bias are of the channels, of the groups before opset 21."""
    groups = node["num_groups"]
    if node.version < 21:
        each = x.shape[1] // groups
        scale, bias = _ops.repeat(scale, each, 0), _ops.repeat(bias, each, 0)
    return _ops.group_norm(x, scale, bias, groups, node["epsilon"])


@importer("LayerNormalization")
def _layer_norm(node, x, scale, bias=None):
    """Also the mean and one over the deviation."""
    axes = list(range(node["axis"] % x.ndim, x.ndim))
    own = cast(x, dtype_of(node["stash_type"], str(node)))
    mean = _ops.mean(own, axes, True)
    centred = own - mean
    inverse = _ops.rsqrt(_ops.mean(_ops.square(centred), axes, True) + node["epsilon"])
    if list(scale.shape) == list(x.shape[axes[0] :]) and own is x:
        out = _ops.layer_norm(x, scale, bias, len(axes), node["epsilon"])
        return out, mean, inverse
    out = cast(centred * inverse, x.dtype.name) * scale
    return out if bias is None else out + bias, mean, inverse


@importer("RMSNormalization")
def _rms_norm(node, x, scale):
    axes = list(range(node["axis"] % x.ndim, x.ndim))
    own = cast(x, dtype_of(node["stash_type"], str(node)))
    mean = _ops.mean(_ops.square(own), axes, True)
    out = own * _ops.rsqrt(mean + node["epsilon"])
    return cast(cast(out, x.dtype.name) * scale, scale.dtype.name)


@importer("LRN")
def _lrn(node, x):
    """The sum of squares over neighbouring channels, of which alpha is divided by their number."""
    size = node["size"]
    if size % 2 and x.ndim == 4:
        alpha = node["alpha"] / size
        return _ops.local_response_norm(x, size, node["bias"], alpha, node["beta"])
    low = (size - 1) // 2
    padding = [0] * x.ndim
    low_pad, high_pad = list(padding), list(padding)
    low_pad[1], high_pad[1] = low, size - 1 - low
    squares = _ops.pad(_ops.square(x), low_pad, high_pad, 0.0)
    channels, total = x.shape[1], 0
    for first in range(size):
        starts, stops = list(padding), list(squares.shape)
        starts[1], stops[1] = first, first + channels
        total = total + _ops.slice(squares, starts, stops)
    base = total * (node["alpha"] / size) + node["bias"]
    return x / _ops.pow(base, _ops.full([], node["beta"], x.dtype.name))
