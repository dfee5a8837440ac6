"""Layers as functions: convolution, pooling, normalisation, activations."""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .generated import export

_PAD_MODES = {"replicate": "edge", "reflect": "reflect"}


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of images [N, C, H, W] with `weight` [O, C/groups, H, W], plus `bias` [1, O, 1,
    1].

    A grouped weight may have five axes: [groups, O/groups, C/groups, H, W].
    """
    if weight.ndim == 5:
        weight = _ops.flatten(weight, 0, 1)
    geometry = (_pair(stride), _pair(padding), _pair(dilation), groups)
    out = _ops.conv2d(inp, weight, *geometry)
    return out if bias is None else out + bias


def linear(inp, weight, bias=None, compute_mode="default"):
    """inp @ weight.T + bias, over the last axis."""
    return _ops.linear(inp, weight) if bias is None else _ops.linear(inp, weight, bias)


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of [N, C, H, W] images."""
    kernel = _pair(kernel_size)
    strides = kernel if stride is None else _pair(stride)
    return _ops.max_pool2d(inp, kernel, strides, _pair(padding))


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window of [N, C, H, W] images; `mode` says whether padding counts."""
    kernel = _pair(kernel_size)
    strides = kernel if stride is None else _pair(stride)
    return _ops.avg_pool2d(inp, kernel, strides, _pair(padding), mode == "average")


def adaptive_avg_pool2d(inp, oshp):
    """Means of windows of [N, C, H, W] images, of sizes such that the result has size `oshp`."""
    return _ops.adaptive_avg_pool2d(inp, _pair(oshp))


def _parameter(tensor, inp, value):
    """A batch norm parameter, or `value` for every channel where there is none."""
    if tensor is not None:
        return tensor
    return _ops.full((1, inp.shape[1]) + (1,) * (inp.ndim - 2), value, inp.dtype)


def batch_norm(inp, running_mean=None, running_var=None, weight=None, bias=None, *, training=False,
               momentum=0.9, eps=1e-5, inplace=True):  # fmt: skip
    """Normalises [N, C, ...] by channel, with the batch's statistics in training.

    In training the running statistics, where given, move towards the batch's by 1 - `momentum`, in
    place; without `inplace` the result is (output, new mean, new variance).
    """
    affine = _parameter(weight, inp, 1), _parameter(bias, inp, 0)
    running = _parameter(running_mean, inp, 0), _parameter(running_var, inp, 1)
    if not training:
        return _ops.batch_norm_inference(inp, *affine, *running, eps)
    out, *moved = _ops.batch_norm(inp, *affine, *running, momentum, eps)
    if not inplace:
        return out, *moved
    for old, new in zip((running_mean, running_var), moved, strict=True):
        if old is not None:
            old._reset(new.detach())
    return out


def _softmax_axis(inp, axis):
    if axis is not None:
        return axis
    return 0 if inp.ndim in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """Normalised exponentials along `axis`; without one along axis 1, or 0 for 0, 1 and 3 axes."""
    return _ops.softmax(inp, _softmax_axis(inp, axis))


def logsoftmax(inp, axis):
    """The logarithm of softmax."""
    return _ops.log_softmax(inp, axis)


def dropout(inp, drop_prob, training=True):
    """Sets each element to 0 with probability `drop_prob` and scales the rest up, in training."""
    if not training or drop_prob == 0:
        return inp
    from ..random import default_rng

    return default_rng.draw(lambda s, o: _ops.dropout(inp, s, o, drop_prob), inp.size)


def prelu(inp, weight):
    """The element above 0, `weight` times it below."""
    return _ops.maximum(inp, 0) + weight * _ops.minimum(inp, 0)


def embedding(inp, weight):
    """Rows of `weight`, by the indices `inp`."""
    return _ops.embedding(weight, inp)


def layer_norm(inp, normalized_shape, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalisation over the last axes, those of `normalized_shape`."""
    axes = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return _ops.layer_norm(inp, *((weight, bias) if affine else (None, None)), axes, eps)


def pad(src, pad_width, mode="constant", constant_value=0.0):
    """A border: of `constant_value`, of the nearest element ("replicate"), or a mirror ("reflect").

    `pad_width` gives (before, after) for each axis.
    """
    if mode == "constant":
        return _ops.pad(src, *map(list, zip(*pad_width, strict=True)), constant_value)
    if mode not in _PAD_MODES:
        raise ValueError(f"pad: mode must be one of {['constant', *_PAD_MODES]}, got {mode!r}")
    for axis, width in enumerate(pad_width):
        if any(width):
            index = _np.pad(_np.arange(src.shape[axis]), width, _PAD_MODES[mode])
            src = _ops.index_get(src, [_Tensor(index)], [axis])
    return src


export(globals(), "functional.nn")
