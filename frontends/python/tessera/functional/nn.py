"""Layers as functions: convolution, pooling, normalisation, activations."""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._known_form import in_known_form as _in_known_form
from ..core.symint import SymInt as _SymInt
from ._heads import join_masks as _join_masks
from ._heads import split_heads as _split_heads
from ._making import made as _made
from ._rounding import rounded_once as _rounded_once
from .generated import check_choice, check_compute_mode, check_conv_modes, export

# MegEngine has these in both modules.
from .loss import binary_cross_entropy, cross_entropy, hinge_loss, l1_loss, square_loss  # noqa: F401
from .math import normalize  # noqa: F401
from .recurrent import gru, lstm, rnn  # noqa: F401

_PAD_MODES = {"replicate": "edge", "reflect": "reflect"}


def _pair(value):
    return [value, value] if isinstance(value, (int, _SymInt)) else list(value)


def conv1d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of sequences [N, C, L] with `weight` [O, C/groups, K], plus `bias` [1, O, 1].

    Args:
        inp: float[N, C, L]
        weight: float[O, C/groups, K], or float[groups, O/groups, C/groups, K]
        bias: float[1, O, 1] or None
        stride, padding, dilation, groups: ints

    Returns:
        float[N, O, L'], of the promoted dtype

    Raises:
        ValueError, TypeError: as conv2d with images of height 1

    Example:
        >>> from tessera.functional import ones
        >>> conv1d(ones((1, 2, 5)), ones((3, 2, 3))).shape
        (1, 3, 3)
    """
    check_conv_modes("conv1d", conv_mode, compute_mode)
    images, kernels = _ops.expand_dims(inp, -2), _ops.expand_dims(weight, -2)
    out = conv2d(images, kernels, None, (1, stride), (0, padding), (1, dilation), groups)
    out = _ops.squeeze(out, -2)
    return out if bias is None else out + bias


def conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of images [N, C, H, W] with `weight` [O, C/groups, H, W], plus `bias` [1, O, 1,
    1].

    A grouped weight may have five axes: [groups, O/groups, C/groups, H, W].

    >>> from tessera.functional import ones
    >>> conv2d(ones((1, 2, 5, 5)), ones((3, 2, 3, 3)), stride=2).shape
    (1, 3, 2, 2)
    """
    check_conv_modes("conv2d", conv_mode, compute_mode)
    if weight.ndim == 5:
        weight = _ops.flatten(weight, 0, 1)
    out = _ops.conv2d(inp, weight, _pair(stride), _pair(padding), _pair(dilation), groups)
    return out if bias is None else out + bias


def linear(inp, weight, bias=None, compute_mode="default"):
    """inp @ weight.T + bias, over the last axis.

    >>> from tessera.functional import ones
    >>> linear(ones((4, 3)), ones((2, 3)), ones(2)).shape
    (4, 2)
    """
    check_compute_mode("linear", compute_mode)
    return _ops.linear(inp, weight) if bias is None else _ops.linear(inp, weight, bias)


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of [N, C, H, W] images.

    >>> from tessera.functional import ones
    >>> max_pool2d(ones((1, 2, 4, 4)), 2).shape
    (1, 2, 2, 2)
    """
    kernel = _pair(kernel_size)
    strides = kernel if stride is None else _pair(stride)
    return _ops.max_pool2d(inp, kernel, strides, _pair(padding))


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window of [N, C, H, W] images; with mode "average" padding counts.

    >>> from tessera.functional import ones
    >>> avg_pool2d(ones((1, 1, 2, 2)), 2, padding=1, mode="average").tolist()
    [[[[0.25, 0.25], [0.25, 0.25]]]]
    """
    check_choice("avg_pool2d", "mode", mode, ("average", "average_count_exclude_padding"))
    kernel = _pair(kernel_size)
    strides = kernel if stride is None else _pair(stride)
    return _ops.avg_pool2d(inp, kernel, strides, _pair(padding), mode == "average")


def adaptive_avg_pool2d(inp, oshp):
    """Means of windows of [N, C, H, W] images, of sizes such that the result has size `oshp`.

    >>> from tessera.functional import ones
    >>> adaptive_avg_pool2d(ones((1, 2, 5, 7)), 3).shape
    (1, 2, 3, 3)
    """
    return _ops.adaptive_avg_pool2d(inp, _pair(oshp))


def _parameter(tensor, inp, value):
    """A batch norm parameter, or `value` for every channel where there is none."""
    if tensor is not None:
        return tensor
    shape = (1, inp.shape[1]) + (1,) * (inp.ndim - 2)
    return _made(inp.device, _ops.full, shape, value, inp.dtype)


def batch_norm(inp, running_mean=None, running_var=None, weight=None, bias=None, *, training=False,
               momentum=0.9, eps=1e-5, inplace=True):  # fmt: skip
    """Normalises [N, C, ...] by channel, with the batch's statistics in training.

    In training the running statistics, where given, move towards the batch's by 1 - `momentum`, in
    place; without `inplace` the result is (output, new mean, new variance).

    >>> from tessera.functional import ones
    >>> batch_norm(ones((4, 3, 2, 2)), training=True).shape
    (4, 3, 2, 2)
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


def group_norm(inp, num_groups, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises [N, C, ...] within groups of channels; then `weight` and `bias` of each channel.

    Args:
        inp: float[N, C, *D]
        num_groups: an int that divides C
        affine: weight and bias are used
        weight, bias: float[C] or None

    Returns:
        float[N, C, *D], of the promoted dtype

    Raises:
        ValueError: reshape: num_groups must divide C
        TypeError: operands must be tensors or arrays

    Example:
        >>> from tessera.functional import ones
        >>> group_norm(ones((2, 4, 3)), 2).shape
        (2, 4, 3)
    """
    channel = (-1, *(1,) * (inp.ndim - 2))

    def normalised(x, scale, shift):
        """Of one dtype."""
        rows = _ops.reshape(x, (x.shape[0], num_groups, x.shape[1] // num_groups, -1))
        out = _ops.reshape(_ops.layer_norm(rows, None, None, 2, eps), x.shape)
        out = out if scale is None else out * _ops.reshape(scale, channel)
        return out if shift is None else out + _ops.reshape(shift, channel)

    return _rounded_once(normalised, inp, *((weight, bias) if affine else (None, None)))


def instance_norm(inp, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises each channel of each sample of [N, C, ...]: group_norm with C groups.

    Args:
        inp: float[N, C, *D]
        affine, weight, bias: as those of group_norm

    Returns:
        float[N, C, *D], of the promoted dtype

    Raises:
        ValueError, TypeError: as group_norm

    Example:
        >>> from tessera.functional import ones
        >>> instance_norm(ones((2, 4, 3, 3))).shape
        (2, 4, 3, 3)
    """
    return group_norm(inp, inp.shape[1], affine, weight, bias, eps)


def pixel_shuffle(inp, upscale_factor):
    """Images [N, C r r, H, W] as [N, C, H r, W r], r the factor: channels become pixels.

    Args:
        inp: any[*B, C r r, H, W]
        upscale_factor: an int above 0

    Returns:
        any[*B, C, H r, W r], of the dtype of inp

    Raises:
        ValueError: reshape: the factor's square must divide the channels
        TypeError: inp must be a tensor or an array

    Example:
        >>> from tessera.functional import ones
        >>> pixel_shuffle(ones((1, 8, 2, 3)), 2).shape
        (1, 2, 4, 6)
    """
    *batch, channels, height, width = inp.shape
    r = upscale_factor
    split = _ops.reshape(inp, (-1, channels // (r * r), r, r, height, width))
    pixels = _ops.transpose(split, (0, 1, 4, 2, 5, 3))
    return _ops.reshape(pixels, (*batch, channels // (r * r), height * r, width * r))


def _softmax_axis(inp, axis):
    if axis is not None:
        return axis
    return 0 if getattr(inp, "ndim", 0) in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """Normalised exponentials along `axis`; without one along axis 1, or 0 for 0, 1 and 3 axes.

    >>> from tessera import tensor
    >>> softmax(tensor([[2.0, 2.0]])).tolist()
    [[0.5, 0.5]]
    """
    return _ops.softmax(inp, _softmax_axis(inp, axis))


def dropout(inp, drop_prob, training=True):
    """Sets each element to 0 with probability `drop_prob` and scales the rest up, in training.

    >>> from tessera import tensor
    >>> dropout(tensor([1.0, 2.0]), 0.5, training=False).tolist()
    [1.0, 2.0]
    """
    if not training or drop_prob == 0:
        return inp
    from ..random import default_rng

    own = default_rng.on(inp.device)
    return own.draw(lambda s, o: _ops.dropout(inp, s, o, drop_prob), inp.size)


def _attend(query, key, value, mask, is_causal, scale, drop_prob):
    out, weights = _ops.scaled_dot_product_attention(query, key, value, mask, is_causal, scale)
    return (_ops.matmul(dropout(weights, drop_prob), value) if drop_prob else out), weights


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 scale=None):  # fmt: skip
    """softmax(scale * query @ key^T + attn_mask) @ value, the softmax over the keys.

    `attn_mask` broadcasts to (*B, L, S): of bool it says which keys take part, of floats it is
    added. With `is_causal` query i sees keys 0 to i. A query that no key is left for gets zeros.
    Without a `scale` it is 1 / sqrt(E). With `dropout_p` weights are dropped, training or not.

    >>> from tessera.functional import ones
    >>> scaled_dot_product_attention(ones((2, 3, 4)), ones((2, 5, 4)), ones((2, 5, 6))).shape
    (2, 3, 6)
    """
    return _attend(query, key, value, attn_mask, is_causal, scale, dropout_p)[0]


def multi_head_attention(
    query, key, value, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, out_proj_weight,
    q_proj_bias=None, k_proj_bias=None, v_proj_bias=None, out_proj_bias=None, *,
    key_padding_mask=None, attn_mask=None, attn_dropout=0.0, out_dropout=0.0, training=True,
    need_weights=False, average_attn_weights=False, is_causal=False,
):  # fmt: skip
    """Attention of `num_heads` heads between linear layers (Vaswani et al. 2017, section 3.2.2).

    Args:
        query: float[*B, L, E], *B one axis or none
        key, value: float[*B, S, K] and float[*B, S, V]
        num_heads: an int that divides E
        q_proj_weight, k_proj_weight, v_proj_weight, out_proj_weight: float[E, E], [E, K], [E, V]
            and [E, E], each with a bias float[E] or None
        key_padding_mask: bool[*B, S], True where a key is left out, or floats to add
        attn_mask: bool[L, S] or [B * num_heads, L, S], True where a key is left out, or floats
        attn_dropout, out_dropout: probabilities, for weights and results in training
        need_weights, average_attn_weights, is_causal: bools

    Returns:
        float[*B, L, E], and float[*B, num_heads, L, S], the weights (without the axis of heads
        where they are averaged), or None; both of the promoted dtype

    Raises:
        ValueError: reshape: num_heads must divide E; attn_mask must broadcast to the weights
        TypeError: operands must be tensors or arrays

    Example:
        >>> from tessera.functional import ones
        >>> out, weights = multi_head_attention(ones((2, 3, 4)), ones((2, 5, 4)), ones((2, 5, 4)),
        ...                                     2, *[ones((4, 4))] * 4, need_weights=True)
        >>> out.shape, weights.shape
        ((2, 3, 4), (2, 2, 3, 5))
    """
    if attn_mask is not None and attn_mask.ndim == query.ndim == 3:
        attn_mask = _ops.reshape(attn_mask, (-1, num_heads, *attn_mask.shape[1:]))
    if key_padding_mask is not None:
        key_padding_mask = _ops.expand_dims(key_padding_mask, (-2, -3))
    mask = _join_masks([each for each in (attn_mask, key_padding_mask) if each is not None])
    q = _split_heads(linear(query, q_proj_weight, q_proj_bias), num_heads)
    k = _split_heads(linear(key, k_proj_weight, k_proj_bias), num_heads)
    v = _split_heads(linear(value, v_proj_weight, v_proj_bias), num_heads)
    out, weights = _attend(q, k, v, mask, is_causal, None, attn_dropout if training else 0.0)
    out = _ops.reshape(_ops.swapaxes(out, -3, -2), query.shape)
    out = dropout(linear(out, out_proj_weight, out_proj_bias), out_dropout, training)
    if not need_weights:
        return out, None
    return out, _ops.mean(weights, -3) if average_attn_weights else weights


def prelu(inp, weight):
    """The element above 0, `weight` times it below.

    Args:
        inp: float[*D]
        weight: float[*D], which broadcasts

    Returns:
        float[*D], of the promoted dtype

    Raises:
        ValueError: operands must broadcast
        TypeError: operands must be tensors, arrays or numbers

    Example:
        >>> from tessera import tensor
        >>> prelu(tensor([2.0, -2.0]), 0.25).tolist()
        [2.0, -0.5]
    """
    return _ops.maximum(inp, 0) + weight * _ops.minimum(inp, 0)


def embedding(inp, weight):
    """Rows of `weight`, by the indices `inp`.

    >>> from tessera import tensor
    >>> embedding(tensor([1, 0]), tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    return _ops.embedding(weight, inp)


def layer_norm(inp, normalized_shape, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalisation over the last axes, those of `normalized_shape`.

    >>> from tessera import tensor
    >>> layer_norm(tensor([[1.0, 3.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    try:  # costs nothing; a decorator would cost a call
        axes = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
        return _ops.layer_norm(inp, *((weight, bias) if affine else (None, None)), axes, eps)
    except (TypeError, ValueError) as error:
        raise _in_known_form(layer_norm, error, (inp, normalized_shape, affine), {})  # noqa: B904


def pad(src, pad_width, mode="constant", constant_value=0.0):
    """A border: of `constant_value`, of the nearest element ("replicate"), or a mirror ("reflect").

    `pad_width` gives (before, after) for each axis.

    >>> from tessera import tensor
    >>> pad(tensor([1, 2, 3]), ((2, 1),), mode="reflect").tolist()
    [3, 2, 1, 2, 3, 2]
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


export(globals())
