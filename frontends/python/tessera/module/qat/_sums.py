"""Sums of products of a layer: those of the integers where input and weight are on grids."""

import math

from ... import _core
from ... import functional as F  # noqa: N812


class _Conv2d:
    """Sums of a Conv2d."""

    @staticmethod
    def channels(layer):
        """The shape that a number for each channel of the result has beside the weight."""
        if layer.groups == 1:
            return (layer.out_channels, 1, 1, 1)
        return (layer.groups, layer.out_channels // layer.groups, 1, 1, 1)

    @staticmethod
    def of_floats(layer, inp, weight, bias):
        """The float operator."""
        return layer.calc_conv(inp, weight, bias)

    @staticmethod
    def of_integers(layer, inp, weight, grid, bias, dtype):
        """The operator of the integers; `grid` is (x_scale, x_zero, weight_scale)."""
        inp, padding = layer._padded(inp)
        return F.quantized.simulated_conv2d(
            inp, _without_groups(layer, weight), *grid, _row(bias), dtype, layer.stride, padding,
            layer.dilation, layer.groups,
        )  # fmt: skip


class _ConvTranspose2d:
    """Sums of a ConvTranspose2d; see _Conv2d."""

    @staticmethod
    def channels(layer):
        """The shape of a number for each channel of the result, beside the weight."""
        if layer.groups == 1:
            return (1, layer.out_channels, 1, 1)
        return (layer.groups, 1, layer.out_channels // layer.groups, 1, 1)

    @staticmethod
    def of_floats(layer, inp, weight, bias):
        """The float operator."""
        return F.conv_transpose2d(
            inp, weight, bias, layer.stride, layer.padding, layer.output_padding, layer.dilation,
            layer.groups, layer.conv_mode, layer.compute_mode,
        )  # fmt: skip

    @staticmethod
    def of_integers(layer, inp, weight, grid, bias, dtype):
        """The operator of the integers."""
        return F.quantized.simulated_conv_transpose2d(
            inp, _without_groups(layer, weight), *grid, _row(bias), dtype, layer.stride,
            layer.padding, layer.dilation, layer.groups, layer.output_padding,
        )  # fmt: skip


class _Linear:
    """Sums of a Linear; see _Conv2d."""

    @staticmethod
    def channels(layer):
        """The shape of a number for each channel of the result, beside the weight."""
        return (layer.out_features, 1)

    @staticmethod
    def of_floats(layer, inp, weight, bias):
        """The float operator."""
        return layer.calc_linear(inp, weight, bias)

    @staticmethod
    def of_integers(layer, inp, weight, grid, bias, dtype):
        """The operator of the integers."""
        return F.quantized.simulated_linear(inp, weight, *grid, bias, dtype)


CONV2D, CONV_TRANSPOSE2D, LINEAR = _Conv2d, _ConvTranspose2d, _Linear


def summed(module, kind, layer, inp, weight, bias):
    """The sum of `layer` with this weight and bias.

    Args:
        module: the QATModule, by which errors are named
        kind: CONV2D, CONV_TRANSPOSE2D or LINEAR
        layer: a float module of that kind, which has the settings
        inp: float[N, ...]
        weight: what `apply_quant_weight` of the module gave
        bias: a tensor or None

    Raises:
        ValueError: a weight must have no zero point, and one scale or one for each channel of the
            result
    """
    grid = grid_of(inp)
    if grid is None or not module._rounds_weights() or weight.qparams.scale is None:
        return kind.of_floats(layer, inp, weight, bias)
    scale, zero_point, dtype = grid
    name = type(module).__name__
    check_no_zero_point(name, weight)
    grid = scale, zero_point, _scale_of(name, weight, kind.channels(layer))
    return kind.of_integers(layer, inp, weight, grid, bias, dtype)


def grid_of(x):
    """(scale, zero point, dtype of the integers) of a tensor; None where it has no scale."""
    from ...quantization.utils import zero_point_of  # which needs this room

    qparams = x.qparams
    if qparams.scale is None:
        return None
    return qparams.scale, zero_point_of(qparams), _core.dtype_storage()[qparams.dtype_meta]


def check_no_zero_point(name, weight):
    """ValueError: a weight must have no zero point."""
    has_zero_point = _core.quantized_kinds()[weight.qparams.dtype_meta][2]
    if has_zero_point or weight.qparams.mode.name == "ASYMMERTIC":
        raise ValueError(
            f"{name}: the weight must have no zero point, got {weight.qparams.dtype_meta}"
        )


def _scale_of(name, weight, channels):
    """The scale of a weight: a tensor of shape () or, with channels, of one axis."""
    scale = weight.qparams.scale
    if scale.size == 1:
        return F.reshape(scale, ())
    pairs = zip(scale.shape, channels, strict=False)
    if scale.ndim != len(channels) or any(size not in (1, each) for size, each in pairs):
        raise ValueError(
            f"{name}: the weight must have one scale or those of channels of the result, "
            f"{channels}, got {tuple(scale.shape)}"
        )
    return F.reshape(F.broadcast_to(scale, channels), (math.prod(channels),))


def _without_groups(layer, weight):
    return weight if layer.groups == 1 else F.flatten(weight, 0, 1)


def _row(bias):
    return bias if bias is None else F.flatten(bias)
