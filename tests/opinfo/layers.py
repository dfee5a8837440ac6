"""Convolutions, poolings, normalisations, attention, images."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import Row, moving, refuse, summing


def _batched(function, axes):
    """`function` of [N, C, *S], also of [C, *S]."""

    def call(x, *args, **kwargs):
        refuse("same" in args or "valid" in args, "padding by name")
        refuse(kwargs.get("padding") in ("same", "valid"), "padding by name")
        refuse(kwargs.get("ceil_mode") is True, "ceil_mode")
        refuse(kwargs.get("return_indices") is True, "indices")
        if x.ndim == axes + 2:
            return function(x, *args, **kwargs)
        return F.squeeze(function(F.expand_dims(x, 0), *args, **kwargs), 0)

    return call


def _conv(axes):
    function = getattr(F, f"conv{axes}d")

    def call(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        bias = None if bias is None else F.reshape(bias, (1, -1) + (1,) * axes)
        return function(x, weight, bias, stride, padding, dilation, groups)

    return _batched(call, axes)


def _conv_transpose(axes):
    function = getattr(F, f"conv_transpose{axes}d")

    def call(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        bias = None if bias is None else F.reshape(bias, (1, -1) + (1,) * axes)
        return function(x, weight, bias, stride, padding, output_padding, dilation, groups)

    return _batched(call, axes)


def _max_pool(axes):
    function = getattr(F, f"max_pool{axes}d")

    def call(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
             return_indices=False):  # fmt: skip
        refuse(dilation not in (1, (1,) * axes), "dilation")
        refuse(ceil_mode, "ceil_mode")
        refuse(return_indices, "indices")
        return function(x, kernel_size, stride or None, padding)

    return _batched(call, axes)


def _avg_pool(axes):
    function = getattr(F, f"avg_pool{axes}d")

    def call(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
             divisor_override=None):  # fmt: skip
        refuse(ceil_mode, "ceil_mode")
        refuse(divisor_override is not None, "divisor_override")
        mode = "average" if count_include_pad else "average_count_exclude_padding"
        return function(x, kernel_size, stride or None, padding, mode)

    return _batched(call, axes)


def _adaptive(kind, axes):
    function = getattr(F, f"adaptive_{kind}_pool{axes}d")

    def call(x, output_size, return_indices=False):
        refuse(return_indices, "indices")
        sizes = [output_size] * axes if isinstance(output_size, int) else list(output_size)
        sizes = [n if n is not None else x.shape[2 + i] for i, n in enumerate(sizes)]
        return function(x, sizes if axes > 1 else sizes[0], uneven=True)

    return _batched(call, axes)


def _channels(parameter, x):
    return None if parameter is None else F.reshape(parameter, (1, -1) + (1,) * (x.ndim - 2))


def _batch_norm(x, running_mean=None, running_var=None, weight=None, bias=None, training=False,
                momentum=0.1, eps=1e-5):  # fmt: skip
    mean, var, weight, bias = (_channels(p, x) for p in (running_mean, running_var, weight, bias))
    return F.batch_norm(x, mean, var, weight, bias, training=training, momentum=1 - momentum,
                        eps=eps)  # fmt: skip


def _instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None,
                   use_input_stats=True, momentum=0.1, eps=1e-5):  # fmt: skip
    refuse(not use_input_stats, "use_input_stats=False")
    return F.instance_norm(x, True, weight, bias, eps)


def _group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    return F.group_norm(x, num_groups, True, weight, bias, eps)


def _layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return F.layer_norm(x, normalized_shape, True, weight, bias, eps)


def _native_layer_norm(x, normalized_shape, weight, bias, eps):
    return _layer_norm(x, normalized_shape, weight, bias, eps)


def _native_group_norm(x, weight, bias, n, c, size, groups, eps):
    return _group_norm(x, groups, weight, bias, eps)


def _native_batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    return _batch_norm(x, mean, var, weight, bias, training, momentum, eps)


def _rms_norm(x, normalized_shape, weight=None, eps=None):
    refuse(eps is None, "an eps of the dtype")
    return F.rms_norm(x, weight, len(normalized_shape), eps)


def _normalize(x, p=2.0, dim=1, eps=1e-12):
    refuse(p == 0, "ord 0")
    return F.normalize(x, p, dim, eps)


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
               enable_gqa=False):  # fmt: skip
    refuse(dropout_p != 0, "dropout")
    refuse(enable_gqa, "grouped queries")
    return F.scaled_dot_product_attention(query, key, value, attn_mask, 0.0, is_causal, scale)


def _interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None,
                 recompute_scale_factor=None, antialias=False):  # fmt: skip
    refuse(antialias, "antialias")
    refuse(scale_factor is not None and recompute_scale_factor is not True,
           "a scale that is not that of the sizes")  # fmt: skip
    if mode == "bicubic":
        refuse(align_corners, "align_corners of bicubic")
        align_corners = None
    return F.interpolate(x, size, scale_factor, mode, align_corners)


def _upsample(mode, align_corners):
    def call(x, size=None, scale_factor=None):
        return _interpolate(x, size, scale_factor, mode, align_corners)

    return call


def _unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    windows = F.sliding_window(x, kernel_size, padding, stride, dilation)
    n, c, h, w, p, q = windows.shape
    return F.reshape(F.transpose(windows, (0, 1, 4, 5, 2, 3)), (n, c * p * q, h * w))


def _dropout(x, p=0.5, training=True, inplace=False):
    refuse(training and p != 0, "random numbers")
    return F.dropout(x, p, training)


# With a bias, which is added by an operator of its own.
_CONVOLUTIONS = {
    **{f"conv{axes}d": _conv(axes) for axes in (1, 2, 3)},
    **{f"conv_transpose{axes}d": _conv_transpose(axes) for axes in (1, 2, 3)},
}
# Divided by deviations of as little as the root of eps: what was lost before is that much larger.
_NORMALISING = {
    "batch_norm": _batch_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
}
_SUMMING = {
    **{f"avg_pool{axes}d": _avg_pool(axes) for axes in (1, 2, 3)},
    **{f"adaptive_avg_pool{axes}d": _adaptive("avg", axes) for axes in (1, 2, 3)},
    "interpolate.bicubic": _interpolate,
    "interpolate.bilinear": _interpolate,
    "interpolate.linear": _interpolate,
    "interpolate.trilinear": _interpolate,
    "normalize": _normalize,
    "scaled_dot_product_attention": _attention,
    "upsample_bilinear": _upsample("bilinear", True),
}
_PLACING = {
    **{f"max_pool{axes}d": _max_pool(axes) for axes in (1, 2, 3)},
    **{f"adaptive_max_pool{axes}d": _adaptive("max", axes) for axes in (1, 2, 3)},
    "dropout": _dropout,
    "interpolate.nearest": _interpolate,
    "unfold": _unfold,
    "upsample_nearest": _upsample("nearest", None),
}
# Of their results the first one has a counterpart.
_FIRST_RESULTS = {
    "native_batch_norm": _native_batch_norm,
    "native_group_norm": _native_group_norm,
    "native_layer_norm": _native_layer_norm,
}


def _named(calls):
    return {f"nn.functional.{name}": call for name, call in calls.items()}


ROWS = (
    summing(_named(_SUMMING), 32)
    | summing(_named(_CONVOLUTIONS), 32, roundings=2)
    | {name: Row(call, None, 32, 4000) for name, call in _named(_NORMALISING).items()}
    | moving(_named(_PLACING))
    | {name: Row(call, (0,), 32, 4000) for name, call in _FIRST_RESULTS.items()}
)
