"""Weights of layers as integers."""

import numpy as np

from ... import _quantized
from ... import functional as F  # noqa: N812
from ...module.quantized import WeightOnlyEmbedding, WeightOnlyLinear
from ...tensor import Parameter, Tensor

_LARGEST = 127  # of qint8_narrow, so that no product of integers is larger than 127 activations
_LEAST_SCALE = 1e-12  # so that a product with the scale of an activation is a normal float32


def weight_scales(layer, per_channel, input_scale=None):
    """Scales of a layer's weight, float32[C] for its channels, or one: the largest magnitude
    becomes 127. Where the scale of the input is known a scale is large enough for the bias, too.
    """
    others = tuple(axis for axis in range(layer.weight.ndim) if axis != layer.channel_axis)
    scales = np.abs(layer.weight).max(others) / _LARGEST
    if input_scale is not None:
        scales = np.maximum(scales, layer.limits(input_scale))
    scales = np.where(scales == 0, 1.0, np.maximum(scales, _LEAST_SCALE))
    return np.float32(scales if per_channel else scales.max(initial=0))


def quantized_weight(layer, per_channel, input_scale=None):
    """The weight as a Parameter of dtype qint8_narrow: int8 numbers with these scales."""
    scales = weight_scales(layer, per_channel, input_scale)
    axis = layer.channel_axis if per_channel else None
    dtype = _quantized.qint8_narrow(scales.tolist(), axis=axis)
    weight = Tensor(np.float32(layer.weight), device=layer.device)
    return Parameter(weight.astype(dtype))


def rounded_weight(layer, config, input_scale=None):
    """The numbers that the integers of the weight stand for, an array."""
    if config.mode == "weight_only":
        table = _filled(WeightOnlyEmbedding(*layer.weight.shape, config.bits, config.group), layer)
        return table(F.arange(len(layer.weight), dtype="int32", device=layer.device)).numpy()
    return quantized_weight(layer, config.per_channel, input_scale).astype("float32").numpy()


def weight_only(layer, activation, config):
    """The module of a layer whose weight alone becomes integers, in inference."""
    rows, depth = layer.weight.shape
    if layer.operator == "embedding":
        return _filled(WeightOnlyEmbedding(rows, depth, config.bits, config.group), layer)
    made = WeightOnlyLinear(depth, rows, False, config.bits, config.group, activation)
    made.bias = float_bias(layer)
    return _filled(made, layer)


def _filled(module, layer):
    """The module, with the weight of the layer."""
    module._set_weight(Tensor(np.float32(layer.weight), device=layer.device))
    return module


def float_bias(layer):
    """The bias as a Parameter of the shape that the layer's function takes; None: there is none."""
    if layer.bias is None:
        return None
    bias = np.float32(layer.bias).reshape(layer.bias_shape)
    return Parameter(Tensor(bias, device=layer.device))
