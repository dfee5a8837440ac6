"""Oracles of the records that NumPy and SciPy do not have under one name. Plain loops, float64."""

import ml_dtypes  # noqa: F401  # gives NumPy the names of bfloat16 and float8
import numpy as np

from tests.records.oracles.fft import fft_c2c, fft_c2r, fft_r2c  # noqa: F401
from tests.records.oracles.index import (  # noqa: F401
    add_along_axes,
    argsort,
    bincount,
    index_add,
    index_get,
    index_set,
    indexing_one_hot,
    max_along_axes,
    min_along_axes,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    searchsorted,
    set_along_axes,
    take_along_axes,
    topk,
)
from tests.records.oracles.linalg import (  # noqa: F401
    eigh,
    of_symmetric,
    positive_definite,
    solve_triangular,
    svd,
)
from tests.records.oracles.local_conv import (  # noqa: F401
    deformable_conv2d,
    deformable_psroi_pooling,
    local_conv2d,
    region_restricted_conv,
    sliding_window,
    sliding_window_transpose,
)
from tests.records.oracles.loss import (  # noqa: F401
    binary_cross_entropy,
    cosine_similarity,
    cross_entropy,
    hinge_loss,
    huber_loss,
    kl_div,
    nll_loss,
    reduce,
    smooth_l1_loss,
    triplet_margin_loss,
)
from tests.records.oracles.quantized import (  # noqa: F401
    dequantize,
    fake_quant,
    integer_conv,
    integer_conv_transpose,
    integer_matmul,
    quantize,
    quantized_conv,
    simulated_conv,
    simulated_conv_transpose,
    simulated_linear,
    simulated_matmul,
    weight_only_linear,
)
from tests.records.oracles.random import dropout, philox_normal, philox_uniform  # noqa: F401
from tests.records.oracles.vision import (  # noqa: F401
    correlation,
    cvt_color,
    flip,
    nms,
    remap,
    resize,
    roi_align,
    roi_pooling,
    warp_affine,
    warp_perspective,
)
from tests.records.oracles.window import (  # noqa: F401
    adaptive_pool,
    avg_pool,
    avg_pool_backward,
    conv,
    conv_backward_data,
    conv_backward_weight,
    conv_transpose,
    local_response_norm,
    max_pool,
    max_pool_backward,
    pixel_shuffle,
)


def sum_to(x, shape):
    """The sum over the axes along which `shape` would broadcast to x."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))), dtype=x.dtype)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
    return x.sum(axis=axes, keepdims=True, dtype=x.dtype)


def complex_of(real, imag):
    """Complex numbers of their parts."""
    return real + 1j * np.asarray(imag)


def norm(x, axes, keepdims, order):
    """The norm over axes, of all of them as one vector."""
    axes = axes or tuple(range(x.ndim))
    size = np.abs(x)
    if np.isinf(order):
        return (np.max if order > 0 else np.min)(size, axis=axes, keepdims=keepdims)
    return (size**order).sum(axis=axes, keepdims=keepdims) ** (1 / order)


def broadcast_to(x, shape):
    """Axes repeated; an entry -1 keeps the size of x."""
    added = len(shape) - x.ndim
    return np.broadcast_to(x, [x.shape[i - added] if n == -1 else n for i, n in enumerate(shape)])


def flatten(x, start_axis, end_axis):
    """The axes from start to end as one."""
    start, end = (axis % max(x.ndim, 1) for axis in (start_axis, end_axis))
    middle = int(np.prod(x.shape[start : end + 1]))
    return x.reshape(*x.shape[:start], middle, *x.shape[end + 1 :])


def pad(x, low, high, value):
    """A border; negative sizes crop."""
    if x.ndim == 0:
        return x
    x = np.pad(
        x, [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)], constant_values=value
    )
    cut = zip(low, high, x.shape, strict=True)
    return x[tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in cut)]


def slice_set(x, value, starts, stops, steps):
    """A copy with a slice replaced."""
    out = np.array(np.broadcast_arrays(x, np.zeros((), np.result_type(x, value)))[0])
    steps = steps or [1] * x.ndim
    index = []
    for start, stop, step, size in zip(starts, stops, steps, x.shape, strict=True):
        index.append(slice(start, None if step < 0 and stop < -size else stop, step))
    out[tuple(index)] = value
    return out


# Running results.


def scan(accumulate, start, x, axis, exclusive, reverse):
    """What accumulate gives along an axis; exclusive: each place has the result before it."""
    step = -1 if reverse else 1
    out = accumulate(np.moveaxis(x, axis, 0)[::step], axis=0)
    if exclusive:
        out = np.concatenate([np.full_like(out[:1], start), out[:-1]])
    return np.moveaxis(out[::step], 0, axis)


def linear_recurrence(x, weight, axis, exclusive, reverse):
    """out[t] = out[t - 1] * weight[t] + x[t]."""
    weights = np.moveaxis(weight, axis, 0)[:: -1 if reverse else 1]

    def accumulate(rows, axis):
        out = np.array(rows)
        for t in range(1, out.shape[axis]):
            out[t] += out[t - 1] * weights[t]
        return out

    return scan(accumulate, 0, x, axis, exclusive, reverse)


def lowest(dtype):
    """What every number of a dtype is at least."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype):
    """What every number of a dtype is at most."""
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


# Normalisation, updates; losses are in loss.py, windows in window.py.


def batch_norm(x, scale, bias, running_mean, running_var, momentum, epsilon):
    """Output and moved statistics, the variance unbiased; those of before where x is empty."""
    axes = (0, *range(2, x.ndim))
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    count = np.prod([x.shape[axis] for axis in axes])
    out = (x - mean) / np.sqrt(var + epsilon) * scale + bias
    if count == 0:
        return out, running_mean, running_var
    unbiased = var * count / (count - 1)
    moved = ((running_mean, mean), (running_var, unbiased))
    return out, *(momentum * old + (1 - momentum) * new for old, new in moved)


def _scores(query, key, attn_mask, is_causal, scale):
    scores = (query.shape[-1] ** -0.5 if scale is None else scale) * query @ key.swapaxes(-1, -2)
    if attn_mask is not None:
        is_bool = attn_mask.dtype == bool
        scores = np.where(attn_mask, scores, -np.inf) if is_bool else scores + attn_mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return scores


def attention(query, key, value, attn_mask, is_causal, scale):
    """Attention Is All You Need, eq. 1, and its weights; zeros where no key is left."""
    scores = _scores(query, key, attn_mask, is_causal, scale)
    top = scores.max(-1, keepdims=True, initial=np.finfo(float).min)
    e = np.exp(scores - top)
    weights = e / np.maximum(e.sum(-1, keepdims=True), np.finfo(float).tiny)
    out = weights @ value
    return out, np.broadcast_to(weights, (*out.shape[:-1], weights.shape[-1]))


def attention_and_sums(query, key, value, attn_mask, is_causal, scale):
    """The result of attention, and the logarithms of the sums of its exponentials."""
    out, _ = attention(query, key, value, attn_mask, is_causal, scale)
    scores = _scores(query, key, attn_mask, is_causal, scale)
    with np.errstate(divide="ignore"):
        sums = np.logaddexp.reduce(scores, -1, initial=-np.inf)
    return out, np.broadcast_to(sums, out.shape[:-1])


def gradients_of_attention(query, key, value, logsumexp, delta, dout, attn_mask, is_causal,
                           scale):  # fmt: skip
    """The gradients of queries, keys and values, from weights that sums give."""
    scores = _scores(query, key, attn_mask, is_causal, scale)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = np.exp(scores - logsumexp[..., None])
    dscores = weights * (dout @ value.swapaxes(-1, -2) - delta[..., None])
    dquery = scale * dscores @ key
    dkey = scale * dscores.swapaxes(-1, -2) @ query
    dvalue = weights.swapaxes(-1, -2) @ dout
    leading = dscores.shape[:-2]
    return tuple(
        np.broadcast_to(each, (*leading, *each.shape[-2:])) for each in (dquery, dkey, dvalue)
    )


def attention_backward(query, key, value, weights, dout, dweights, scale):
    """The derivative of a softmax between those of two products."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    dweights = dout @ value.swapaxes(-1, -2) + (0 if dweights is None else dweights)
    dscores = weights * (dweights - (weights * dweights).sum(-1, keepdims=True))
    dkey = scale * dscores.swapaxes(-1, -2) @ query
    return scale * dscores @ key, dkey, weights.swapaxes(-1, -2) @ dout, dscores


def layer_norm(x, scale, bias, axes, epsilon):
    """Normalisation over the last axes."""
    last = tuple(range(x.ndim - axes, x.ndim))
    out = (x - x.mean(last, keepdims=True)) / np.sqrt(x.var(last, keepdims=True) + epsilon)
    return out * (1 if scale is None else scale) + (0 if bias is None else bias)


def rms_norm(x, scale, axes, epsilon):
    """Division by the root mean square over the last axes."""
    last = tuple(range(x.ndim - axes, x.ndim))
    out = x / np.sqrt((x * x).mean(last, keepdims=True) + epsilon)
    return out * (1 if scale is None else scale)


def general_norm(x, scale, bias, axes, epsilon):
    """Normalisation over axes, all without any, parameters in their order."""
    axes = axes or tuple(range(x.ndim))
    moved = np.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
    out = layer_norm(moved, scale, bias, len(axes), epsilon)
    return np.moveaxis(out, range(x.ndim - len(axes), x.ndim), axes)


def group_norm(x, scale, bias, num_groups, epsilon):
    """Normalisation within groups of channels."""
    rows = x.reshape(x.shape[0], num_groups, -1) if x.size else x
    out = layer_norm(rows, None, None, 1, epsilon).reshape(x.shape)
    channels = (-1, *(1,) * (x.ndim - 2))
    out = out if scale is None else out * scale.reshape(channels)
    return out if bias is None else out + bias.reshape(channels)


def rotary_embedding(x, cos, sin, interleaved):
    """Pairs as complex numbers, turned."""
    pairs = x.reshape(*x.shape[:-1], -1, 2) if interleaved else np.stack(np.split(x, 2, -1), -1)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * (cos + 1j * sin)
    parts = turned.real, turned.imag
    return np.stack(parts, -1).reshape(x.shape) if interleaved else np.concatenate(parts, -1)


def cross(a, b, axisa, axisb, axisc):
    """NumPy's of vectors of three elements; a third one that is missing is 0."""
    vectors = [np.moveaxis(each, axis, -1) for each, axis in ((a, axisa), (b, axisb))]
    flat = all(each.shape[-1] == 2 for each in vectors)
    a, b = (np.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, 3 - v.shape[-1])]) for v in vectors)
    out = np.cross(a, b)
    return out[..., 2] if flat else np.moveaxis(out, -1, axisc)


def sgd_update(param, grad, momentum_buf, lr, momentum, weight_decay, nesterov):
    """One step of SGD."""
    g = grad + weight_decay * param
    buf = momentum * momentum_buf + g
    return param - lr * (g + momentum * buf if nesterov else buf), buf


def adam_update(param, grad, exp_avg, exp_avg_sq, lr, step, beta1, beta2, epsilon, weight_decay,
                decoupled):  # fmt: skip
    """One step of Adam, or of AdamW."""
    g = grad if decoupled else grad + weight_decay * param
    avg = beta1 * exp_avg + (1 - beta1) * g
    square = beta2 * exp_avg_sq + (1 - beta2) * g * g
    delta = avg / (1 - beta1**step) / (np.sqrt(square / (1 - beta2**step)) + epsilon)
    delta = delta + weight_decay * param if decoupled else delta
    return param - lr * delta, avg, square


LOW_BIT = {"intb1": 1, "intb2": 3, "intb4": 15}  # the largest number


def odd(x, dtype):
    """The nearest of a low-bit dtype's odd integers: even ones away from zero, 0 and NaN to 1."""
    size = np.minimum(np.nan_to_num(np.abs(np.float64(x))), LOW_BIT[dtype]).astype(np.int8) | 1
    return np.where(np.float64(x) < 0, -size, size)


def cast(x, dtype):
    """The elements as another dtype, of NumPy's or of few bits."""
    return odd(x, dtype) if dtype in LOW_BIT else x.astype(dtype)


def masked(x, made):
    """`made`, and 0 where x is 0 and it is NaN."""
    return np.where((x == 0) & np.isnan(made), 0.0, made)
