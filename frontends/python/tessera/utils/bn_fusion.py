"""Batch normalisation folded into the convolution before it.

In inference it is an affine map of each channel, so that the convolution's weight and bias can take
it in (Jacob et al. 2018, arXiv:1712.05877, section 3.2).
"""

import copy

import numpy as np

from .. import module as M  # noqa: N812
from ..tensor import Parameter, Tensor

__all__ = ["fold_weight_bias", "fuse_conv_bn_relu_module"]


def fold_weight_bias(weight, bias, gamma, beta, bn_mean, bn_var, eps=1e-5, transpose=False):
    """(weight, bias) of a convolution that computes batch_norm(convolution(x)), in inference.

    With s = gamma / sqrt(bn_var + eps) for each channel they are weight * s and
    beta + (bias - bn_mean) * s, computed in float64 and rounded once: what the folded convolution
    gives differs from the two layers by roundings only.

    Args:
        weight: float[out, in, *K], or float[groups, out / groups, in / groups, *K]
        bias: float[1, out, *1] or None for 0
        gamma, beta: float with `out` elements, or None for 1 and 0
        bn_mean, bn_var: float with `out` elements, or None for 0 and 1
        eps: what is added to the variance
        transpose: the weight is that of a transposed convolution: float[in, out, *K], or
            float[groups, in / groups, out / groups, *K]

    Returns:
        two Tensors: the weight, of its shape and dtype, and float[1, out, *1]

    Raises:
        ValueError: operands of a channel must have `out` elements

    Example:
        >>> import tessera.functional as F
        >>> from tessera.utils.bn_fusion import fold_weight_bias
        >>> gamma = F.full((2,), 3.0)
        >>> weight, bias = fold_weight_bias(F.ones((2, 1, 1, 1)), None, gamma, None, None, None,
        ...                                 eps=0.0)
        >>> weight.tolist(), bias.shape
        ([[[[3.0]]], [[[3.0]]]], (1, 2, 1, 1))
    """
    array = np.asarray(weight)
    is_grouped = array.ndim % 2 == 1
    per_group = array.shape[is_grouped + transpose]
    groups = array.shape[0] if is_grouped else 1
    channels = groups * per_group

    def _vector(name, value, default):
        if value is None:
            return np.full(channels, default)
        if np.size(value) != channels:
            raise ValueError(
                f"fold_weight_bias: {name} must have {channels} elements, one for each channel, "
                f"got shape {tuple(np.shape(value))}"
            )
        return np.asarray(value, dtype=np.float64).reshape(channels)

    scale = _vector("gamma", gamma, 1.0) / np.sqrt(_vector("bn_var", bn_var, 1.0) + eps)
    shift = _vector("bias", bias, 0.0) - _vector("bn_mean", bn_mean, 0.0)
    axes = [1] * array.ndim
    axes[is_grouped + transpose] = per_group
    axes[0] = groups if is_grouped else axes[0]
    folded = (array.astype(np.float64) * scale.reshape(axes)).astype(array.dtype)
    offset = (_vector("beta", beta, 0.0) + shift * scale).astype(array.dtype)
    ones = (1,) * (array.ndim - 2 - is_grouped)
    return Tensor(folded, dtype=array.dtype), Tensor(
        offset.reshape(1, -1, *ones), dtype=array.dtype
    )


# Types of (convolution, what follows): the module in training, and in inference.
_FUSED = {
    (M.Conv2d, M.BatchNorm2d, M.ReLU): (M.ConvBnRelu2d, M.ConvRelu2d),
    (M.Conv2d, M.BatchNorm2d): (M.ConvBn2d, M.Conv2d),
    (M.Conv2d, M.ReLU): (M.ConvRelu2d, M.ConvRelu2d),
}


def fuse_conv_bn_relu_module(conv, bn, relu):
    """One module for a convolution and what follows it, with copies of their parameters.

    In training it is ConvBn2d, ConvBnRelu2d or ConvRelu2d, with the batch normalisation in it. In
    inference the batch normalisation is folded into weight and bias (`fold_weight_bias`), and the
    module is Conv2d or ConvRelu2d.

    Args:
        conv: a Conv2d
        bn: a BatchNorm2d or None
        relu: a ReLU or None

    Returns:
        a module in the mode of `conv`

    Raises:
        TypeError: the modules must be of these types
        ValueError: conv and bn must be in one mode and have the same channels; what is folded must
            have running statistics

    Example:
        >>> import tessera.module as M
        >>> from tessera.utils.bn_fusion import fuse_conv_bn_relu_module
        >>> conv, bn = M.Conv2d(3, 4, 1).eval(), M.BatchNorm2d(4).eval()
        >>> fuse_conv_bn_relu_module(conv, bn, None)
        Conv2d(3, 4, kernel_size=(1, 1))
    """
    kinds = tuple(type(module) for module in (conv, bn, relu) if module is not None)
    if kinds not in _FUSED:
        known = [" ".join(kind.__name__ for kind in key) for key in _FUSED]
        got = " ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"fuse_conv_bn_relu_module: modules must be one of {known}, got {got or None}"
        )
    if bn is not None:
        _check(conv, bn)
    in_training, in_inference = _FUSED[kinds]
    module = (in_training if conv.training else in_inference)(
        conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding,
        conv.dilation, conv.groups, conv.bias is not None, conv.conv_mode, conv.compute_mode,
        conv.padding_mode, name=conv.name,
    )  # fmt: skip
    if bn is None:
        _take(module, conv.weight, conv.bias)
    elif conv.training:
        _take(module.conv, conv.weight, conv.bias)
        module.bn = copy.deepcopy(bn)
    else:
        statistics = bn.running_mean, bn.running_var
        _take(module, *fold_weight_bias(conv.weight, conv.bias, bn.weight, bn.bias, *statistics,
                                        bn.eps))  # fmt: skip
    return module.train(conv.training)


def _take(conv, weight, bias):
    conv.weight = Parameter(weight)
    conv.bias = None if bias is None else Parameter(bias)


def _check(conv, bn):
    if conv.training != bn.training:
        raise ValueError(
            f"fuse_conv_bn_relu_module: conv and bn must be in one mode, got training "
            f"{conv.training} and {bn.training}"
        )
    if bn.num_features != conv.out_channels:
        raise ValueError(
            f"fuse_conv_bn_relu_module: bn must have the channels of conv, got {bn.num_features} "
            f"for {conv.out_channels}"
        )
    if not conv.training and bn.running_mean is None:
        raise ValueError(
            "fuse_conv_bn_relu_module: bn must have running statistics to be folded, got none"
        )
