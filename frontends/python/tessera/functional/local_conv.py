"""Windows of images, and convolutions whose weights, windows or elements depend on the place."""

from .._core import ops as _ops
from ._windows import each as _each
from .generated import check_conv_modes, export


def _pair(value):
    return _each(value, 2)


def _biased(name, out, bias):
    if bias is None:
        return out
    if bias.ndim != 4 or bias.shape[0] != 1:
        raise ValueError(
            f"{name}: bias must have 4 axes, the first of size 1, got {tuple(bias.shape)}"
        )
    return out + bias


def sliding_window(inp, kernel_size, padding=0, stride=1, dilation=1):
    """The windows of images [N, C, H, W], as [N, C, OH, OW, KH, KW].

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.sliding_window(ts.tensor([[[[1.0, 2.0, 3.0]]]]), (1, 2)).tolist()
    [[[[[[1.0, 2.0]], [[2.0, 3.0]]]]]]
    """
    return _ops.sliding_window(inp, *map(_pair, (kernel_size, stride, padding, dilation)))


def sliding_window_transpose(inp, output_size, kernel_size, padding=0, stride=1, dilation=1):
    """Images of height and width `output_size` that windows [N, C, OH, OW, KH, KW] add up to.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> windows = ts.tensor([[[[[[1.0, 2.0]], [[3.0, 4.0]]]]]])
    >>> F.sliding_window_transpose(windows, (1, 3), (1, 2)).tolist()
    [[[[1.0, 5.0, 4.0]]]]
    """
    windows = map(_pair, (output_size, kernel_size, stride, padding, dilation))
    return _ops.sliding_window_transpose(inp, *windows)


def local_conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1,
                 conv_mode="cross_correlation"):  # fmt: skip
    """Convolution of images with a weight for each place, [groups, OH, OW, C / groups, KH, KW,
    O / groups], plus `bias` [1, O, OH, OW].

    >>> import tessera.functional as F
    >>> F.local_conv2d(F.ones((1, 2, 4, 4)), F.ones((1, 3, 3, 2, 2, 2, 5))).shape
    (1, 5, 3, 3)
    """
    check_conv_modes("local_conv2d", conv_mode, "default")
    out = _ops.local_conv2d(inp, weight, *map(_pair, (stride, padding, dilation)))
    return _biased("local_conv2d", out, bias)


def _kernel(weight):
    """A weight without an axis of groups."""
    return _ops.flatten(weight, 0, 1) if weight.ndim == 5 else weight


def region_restricted_conv(inp, weight, rin, rout, bias=None, stride=1, padding=0, dilation=1,
                           groups=1, conv_mode="cross_correlation",
                           compute_mode="default"):  # fmt: skip
    """Convolution of images [N, C, H, W] within regions: of a window those elements count whose
    number in `rin` [N, H, W] is that of the place in `rout` [N, OH, OW].

    `weight` is [O, C / groups, KH, KW], or has 5 axes: [groups, O / groups, C / groups, KH, KW].

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> regions = ts.tensor([[[0, 0, 1]]])
    >>> image, weight = F.ones((1, 1, 1, 3)), F.ones((1, 1, 1, 3))
    >>> F.region_restricted_conv(image, weight, regions, regions, padding=(0, 1)).tolist()
    [[[[2.0, 2.0, 1.0]]]]
    """
    check_conv_modes("region_restricted_conv", conv_mode, compute_mode)
    windows = map(_pair, (stride, padding, dilation))
    out = _ops.region_restricted_conv(inp, _kernel(weight), rin, rout, *windows, groups)
    return _biased("region_restricted_conv", out, bias)


def deformable_conv2d(inp, weight, offset, mask, bias=None, stride=1, padding=0, dilation=1,
                      groups=1, conv_mode="cross_correlation",
                      compute_mode="default"):  # fmt: skip
    """Convolution of images [N, C, H, W] whose windows' elements are moved by `offset`
    [N, 2 * D * KH * KW, OH, OW], rows before columns, and multiplied by `mask`
    [N, D * KH * KW, OH, OW], for D blocks of channels.

    `weight` is [O, C / groups, KH, KW], or has 5 axes: [groups, O / groups, C / groups, KH, KW].

    >>> import tessera.functional as F
    >>> image, weight = F.ones((1, 2, 4, 4)), F.ones((3, 2, 2, 2))
    >>> F.deformable_conv2d(image, weight, F.zeros((1, 8, 3, 3)), F.ones((1, 4, 3, 3))).shape
    (1, 3, 3, 3)
    """
    check_conv_modes("deformable_conv2d", conv_mode, compute_mode)
    windows = map(_pair, (stride, padding, dilation))
    out = _ops.deformable_conv2d(inp, _kernel(weight), offset, mask, *windows, groups)
    return _biased("deformable_conv2d", out, bias)


def deformable_psroi_pooling(inp, rois, trans, no_trans, part_size, pooled_h, pooled_w,
                             sample_per_part, spatial_scale, trans_std=0.1):  # fmt: skip
    """Means of the bins of boxes `rois` [K, (image, x1, y1, x2, y2)], each moved by `trans`
    [K, 2 * D, part_size, part_size], D being the number of blocks of channels, unless `no_trans`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> boxes, parts = ts.tensor([[0.0, 1.0, 1.0, 5.0, 5.0]]), F.zeros((1, 2, 3, 3))
    >>> F.deformable_psroi_pooling(F.ones((1, 4, 8, 8)), boxes, parts, False, 3, 2, 2, 4, 1.0).shape
    (1, 4, 2, 2)
    """
    if not no_trans and trans.shape[-1] != part_size:
        raise ValueError(
            f"deformable_psroi_pooling: part_size must be the last size of trans, got {part_size} "
            f"and {tuple(trans.shape)}"
        )
    return _ops.deformable_psroi_pooling(inp, rois, trans, [pooled_h, pooled_w], sample_per_part,
                                         spatial_scale, trans_std, no_trans)  # fmt: skip


export(globals())
