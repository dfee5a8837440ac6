"""Normalisation within a sample."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Parameter
from . import init
from .module import Module


class _Norm(Module):
    def __init__(self, shape, eps, affine, **kwargs):
        super().__init__(**kwargs)
        self.eps, self.affine = eps, affine
        self.weight = Parameter(np.ones(shape, dtype=np.float32)) if affine else None
        self.bias = Parameter(np.zeros(shape, dtype=np.float32)) if affine else None

    def reset_parameters(self):
        """Weight 1, bias 0."""
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)


class LayerNorm(_Norm):
    """Normalises over the last axes, those of `normalized_shape`, then scales and shifts."""

    def __init__(self, normalized_shape, eps=1e-5, affine=True, **kwargs):
        one = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if one else tuple(normalized_shape)
        super().__init__(self.normalized_shape, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        return F.layer_norm(x, self.normalized_shape, self.affine, self.weight, self.bias, self.eps)

    def _module_info_string(self):
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, affine={self.affine}"


class GroupNorm(_Norm):
    """Normalises [N, C, ...] within groups of channels, then scales and shifts each channel."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, **kwargs):
        if num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: num_groups must divide num_channels, "
                f"got {num_groups} and {num_channels}"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        super().__init__(num_channels, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        return F.group_norm(x, self.num_groups, self.affine, self.weight, self.bias, self.eps)

    def _module_info_string(self):
        return f"groups={self.num_groups}, channels={self.num_channels}, eps={self.eps}"


class InstanceNorm(_Norm):
    """Normalises each channel of each sample of [N, C, ...], then scales and shifts it."""

    def __init__(self, num_channels, eps=1e-5, affine=True, **kwargs):
        self.num_channels = num_channels
        super().__init__(num_channels, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        return F.instance_norm(x, self.affine, self.weight, self.bias, self.eps)

    def _module_info_string(self):
        return f"channels={self.num_channels}, eps={self.eps}, affine={self.affine}"
