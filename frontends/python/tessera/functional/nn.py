"""Layers as functions: convolution, pooling, normalisation, activations."""

from .. import random as _random
from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._known_form import in_known_form as _in_known_form
from ._borders import bordered as _bordered
from ._heads import join_masks as _join_masks
from ._heads import split_heads as _split_heads
from ._making import made as _made
from ._states import padding_row as _padding_row
from .conv import (  # noqa: F401
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .generated import check_choice, check_compute_mode, check_none, export

# MegEngine has these in both modules.
from .local_conv import (  # noqa: F401
    deformable_conv2d,
    deformable_psroi_pooling,
    local_conv2d,
    region_restricted_conv,
    sliding_window,
    sliding_window_transpose,
)
from .loss import binary_cross_entropy, cross_entropy, hinge_loss, l1_loss, square_loss  # noqa: F401
from .loss import ctc_loss as ctc_loss
from .math import normalize  # noqa: F401
from .pool import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .recurrent import gru, lstm, rnn  # noqa: F401
from .vision import (  # noqa: F401
    correlation,
    cvt_color,
    interpolate,
    nms,
    nvof,
    remap,
    roi_align,
    roi_pooling,
    warp_affine,
    warp_perspective,
)


def linear(inp, weight, bias=None, compute_mode="default"):
    """inp @ weight.T + bias, over the last axis.

    >>> import tessera.functional as F
    >>> F.linear(F.ones((4, 3)), F.ones((2, 3)), F.ones(2)).shape
    (4, 2)
    """
    check_compute_mode("linear", compute_mode)
    return _ops.linear(inp, weight) if bias is None else _ops.linear(inp, weight, bias)


def gelu(x, approximate="none"):
    """x * Phi(x), Phi the distribution function of the normal distribution; with `approximate`
    "tanh" by a hyperbolic tangent, `gelu_tanh`.

    ValueError: approximate must be "none" or "tanh".

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.gelu(ts.tensor([0.0, 1.0]), approximate="tanh").tolist()
    [0.0, 0.8411920070648193]
    """
    check_choice("gelu", "approximate", approximate, ("none", "tanh"))
    return _ops.gelu(x) if approximate == "none" else _ops.gelu_tanh(x)


_MOST_SHUFFLED = 6  # axes of an input of the record pixel_shuffle


def _parameters(inp, *pairs):
    """Parameters of batch norm: of each pair the tensor, or the number for every channel, in the
    dtype of the other tensors.
    """
    dtype = next((tensor.dtype for tensor, _ in pairs if tensor is not None), inp.dtype)
    shape = (1, inp.shape[1]) + (1,) * (inp.ndim - 2)
    return [
        _made(inp.device, _ops.full, shape, value, dtype) if tensor is None else tensor
        for tensor, value in pairs
    ]


def batch_norm(inp, running_mean=None, running_var=None, weight=None, bias=None, *, training=False,
               momentum=0.9, eps=1e-5, inplace=True):  # fmt: skip
    """Normalises [N, C, ...] by channel, with the batch's statistics in training.

    In training the running statistics, where given, move towards the batch's by 1 - `momentum`, in
    place; without `inplace` the result is (output, new mean, new variance), None for one that is
    not given, and the output alone where neither is. Otherwise they must be given. The input may be
    of another dtype than all parameters, such as float16 beside float32: the result has its dtype.

    >>> import tessera.functional as F
    >>> F.batch_norm(F.ones((4, 3, 2, 2)), training=True).shape
    (4, 3, 2, 2)
    """
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise ValueError(
            f"batch_norm: running_mean and running_var must be given without training, got no "
            f"{missing}"
        )
    parameters = _parameters(inp, (weight, 1), (bias, 0), (running_mean, 0), (running_var, 1))
    if not training:
        return _ops.batch_norm_inference(inp, *parameters, eps)
    out, *moved = _ops.batch_norm(inp, *parameters, momentum, eps)
    running = running_mean, running_var
    moved = [None if old is None else new for old, new in zip(running, moved, strict=True)]
    if not inplace and any(old is not None for old in running):
        return out, *moved
    for old, new in zip(running, moved, strict=True):
        if old is not None:
            old._reset(new.detach())
    return out


def sync_batch_norm(inp, running_mean, running_var, weight=None, bias=None, training=False,
                    momentum=0.9, eps=1e-5, eps_mode="additive", group=None):  # fmt: skip
    """`batch_norm` over the batch of all processes.

    Args:
        inp: float[N, C, *S]
        running_mean, running_var: float[1, C, 1, ...], moved in place in training, or None
        weight, bias: float[1, C, 1, ...], or None for 1 and 0
        training: whether the statistics are the batch's; else they are the running ones
        momentum: a float; the running statistics move by 1 - momentum
        eps: a float, added to the variance, which `eps_mode` "additive" says
        group: None, this process

    Returns:
        float[N, C, *S], of the dtype of inp

    Raises:
        ValueError: eps_mode must be "additive"; group must be None

    >>> import tessera.functional as F
    >>> F.sync_batch_norm(F.ones((4, 3, 2, 2)), F.zeros((1, 3, 1, 1)), F.ones((1, 3, 1, 1))).shape
    (4, 3, 2, 2)
    """
    check_choice("sync_batch_norm", "eps_mode", eps_mode, ("additive",))
    if group is not None:
        raise ValueError(f"sync_batch_norm: group must be None in one process, got {group!r}")
    return batch_norm(inp, running_mean, running_var, weight, bias, training=training,
                      momentum=momentum, eps=eps)  # fmt: skip


def pixel_shuffle(inp, upscale_factor):
    """Channels made pixels: [..., C * r * r, H, W] becomes [..., C, H * r, W * r], r being
    `upscale_factor`.

    >>> import tessera.functional as F
    >>> F.pixel_shuffle(F.ones((2, 8, 3, 3)), 2).shape
    (2, 2, 6, 6)
    """
    if inp.ndim <= _MOST_SHUFFLED:
        return _ops.pixel_shuffle(inp, upscale_factor)
    out = _ops.pixel_shuffle(_ops.flatten(inp, 0, inp.ndim - 4), upscale_factor)
    return _ops.reshape(out, (*inp.shape[:-3], *out.shape[-3:]))


def group_norm(inp, num_groups, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises [N, C, ...] within groups of channels; then `weight` and `bias` of each channel.

    >>> import tessera.functional as F
    >>> F.group_norm(F.ones((2, 4, 3)), 2).shape
    (2, 4, 3)
    """
    return _ops.group_norm(inp, *((weight, bias) if affine else (None, None)), num_groups, eps)


def instance_norm(inp, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises each channel of each sample of [N, C, ...]: group_norm with C groups.

    >>> import tessera.functional as F
    >>> F.instance_norm(F.ones((2, 4, 3, 3))).shape
    (2, 4, 3, 3)
    """
    return _ops.instance_norm(inp, *((weight, bias) if affine else (None, None)), eps)


def general_norm(inp, normalized_axis, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalisation over the axes `normalized_axis`; `weight` and `bias` have their sizes.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.general_norm(ts.tensor([[1.0, 5.0], [3.0, 7.0]]), 0, eps=0.0).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    axes = [normalized_axis] if isinstance(normalized_axis, int) else list(normalized_axis)
    if not axes:
        raise ValueError("general_norm: normalized_axis must name an axis, got none")
    return _ops.general_norm(inp, *((weight, bias) if affine else (None, None)), axes, eps)


def _softmax_axis(inp, axis):
    if axis is not None:
        return axis
    return 0 if getattr(inp, "ndim", 0) in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """Normalised exponentials along `axis`; without one along axis 1, or 0 for 0, 1 and 3 axes.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.softmax(ts.tensor([[2.0, 2.0]])).tolist()
    [[0.5, 0.5]]
    """
    return _ops.softmax(inp, _softmax_axis(inp, axis))


def dropout(inp, drop_prob, training=True):
    """Sets each element to 0 with probability `drop_prob` and scales the rest up, in training.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.dropout(ts.tensor([1.0, 2.0]), 0.5, training=False).tolist()
    [1.0, 2.0]
    """
    if not training or drop_prob == 0:
        return inp
    own = _random.default_rng.on(inp.device)
    return own.draw(lambda s, o: _ops.dropout(inp, s, o, drop_prob), inp.size)


def _attend(query, key, value, mask, is_causal, scale, drop_prob, need_weights=False):
    if not (drop_prob or need_weights):
        return _ops.attention(query, key, value, mask, is_causal, scale)[0], None
    out, weights = _ops.scaled_dot_product_attention(query, key, value, mask, is_causal, scale)
    return (_ops.matmul(dropout(weights, drop_prob), value) if drop_prob else out), weights


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 scale=None):  # fmt: skip
    """softmax(scale * query @ key^T + attn_mask) @ value, the softmax over the keys.

    `attn_mask` broadcasts to (*B, L, S): of bool it says which keys take part, of floats it is
    added. With `is_causal` query i sees keys 0 to i. A query that no key is left for gets zeros.
    Without a `scale` it is 1 / sqrt(E). With `dropout_p` weights are dropped, training or not, and
    the matrix of all weights is in memory; without, memory grows with L and S, not their product.

    >>> import tessera.functional as F
    >>> query, key, value = F.ones((2, 3, 4)), F.ones((2, 5, 4)), F.ones((2, 5, 6))
    >>> F.scaled_dot_product_attention(query, key, value).shape
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
        where they are averaged), or None; both of the promoted dtype. Only weights that are
        needed, or dropped, are in memory

    Raises:
        ValueError: reshape: num_heads must divide E; attn_mask must broadcast to the weights
        TypeError: operands must be tensors or arrays

    Example:
        >>> import tessera.functional as F
        >>> query, key, eye = F.ones((2, 3, 4)), F.ones((2, 5, 4)), F.eye(4)
        >>> out, weights = F.multi_head_attention(query, key, key, 2, eye, eye, eye, eye,
        ...                                       need_weights=True)
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
    dropped = attn_dropout if training else 0.0
    out, weights = _attend(q, k, v, mask, is_causal, None, dropped, need_weights)
    out = _ops.reshape(_ops.swapaxes(out, -3, -2), query.shape)
    out = dropout(linear(out, out_proj_weight, out_proj_bias), out_dropout, training)
    if not need_weights:
        return out, None
    return out, _ops.mean(weights, -3) if average_attn_weights else weights


def embedding(inp, weight, padding_idx=None, max_norm=None, norm_type=None):
    """Rows of `weight`, by the indices `inp`; the row `padding_idx` gets no gradient, and none is
    scaled: max_norm and norm_type must be None.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.embedding(ts.tensor([1, 0]), ts.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    if padding_idx is max_norm is norm_type is None:
        return _ops.embedding(weight, inp)
    check_none("embedding", max_norm=max_norm, norm_type=norm_type)
    return _padding_without_gradient(inp, weight, padding_idx)


def _padding_without_gradient(ids, weight, padding_idx):
    """The rows, of which those of number `padding_idx` let no gradient through."""
    ids, weight = (x if isinstance(x, _Tensor) else _Tensor(x) for x in (ids, weight))
    rows = _ops.embedding(weight, ids)  # it checks both
    row = _padding_row("embedding", padding_idx, weight.shape[0])
    is_padding = _ops.logical_or(_ops.equal(ids, row), _ops.equal(ids, row - weight.shape[0]))
    return _ops.where(_ops.expand_dims(is_padding, -1), rows.detach(), rows)


def layer_norm(inp, normalized_shape, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalisation over the last axes, those of `normalized_shape`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.layer_norm(ts.tensor([[1.0, 3.0]]), 2, eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    try:  # costs nothing; a decorator would cost a call
        axes = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
        return _ops.layer_norm(inp, *((weight, bias) if affine else (None, None)), axes, eps)
    except (TypeError, ValueError) as error:
        raise _in_known_form(layer_norm, error, (inp, normalized_shape, affine), {})  # noqa: B904


def pad(src, pad_width, mode="constant", constant_value=0.0):
    """A border: of `constant_value`, of the nearest element ("replicate" or "edge"), or a mirror
    ("reflect"), in any case of letters.

    `pad_width` gives (before, after) for each axis; the axes behind its last one have no border.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.pad(ts.tensor([1, 2, 3]), ((2, 1),), mode="reflect").tolist()
    [3, 2, 1, 2, 3, 2]
    """
    pad_width = [*pad_width, *[(0, 0)] * (getattr(src, "ndim", 0) - len(pad_width))]
    kind = mode.lower() if isinstance(mode, str) else mode
    check_choice("pad", "mode", kind, ("constant", "replicate", "edge", "reflect"))
    if kind == "constant":
        _check_exact(src, constant_value)
        return _ops.pad(src, *map(list, zip(*pad_width, strict=True)), constant_value)
    return _bordered(src, pad_width, kind)


def _check_exact(src, value):
    """ValueError for an integer of a border that would become another one."""
    is_rounded = type(value) is int and value != int(float(value))
    if is_rounded and getattr(src, "dtype", None) in ("int64", "uint64"):
        raise ValueError(f"pad: constant_value must be a number of float64, got {value}")


export(globals())
