"""Normalisation within a sample."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._states import check_axes
from ..tensor import Parameter
from . import init
from .module import Module


class _Norm(Module):
    _has_flat_state = True

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


def _sizes(value):
    """A tuple of one number or several."""
    return (value,) if isinstance(value, int) else tuple(value)


class LayerNorm(_Norm):
    """Normalises over the last axes, those of `normalized_shape`, then scales and shifts."""

    def __init__(self, normalized_shape, eps=1e-5, affine=True, **kwargs):
        self.normalized_shape = _sizes(normalized_shape)
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


class InstanceNorm1d(InstanceNorm):
    """Normalises each channel of each sequence [N, C, L], as PyTorch's; with `affine` it scales and
    shifts each channel, too.

    ValueError: the input must have 3 axes.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.InstanceNorm1d(1, eps=0.0)(ts.tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    def __init__(self, num_features, eps=1e-5, affine=False, **kwargs):
        super().__init__(num_features, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        check_axes("InstanceNorm1d", "x", x, 3)
        return super().forward(x)


class InstanceNorm2d(InstanceNorm):
    """Normalises each channel of each image [N, C, H, W], as PyTorch's; with `affine` it scales and
    shifts each channel, too.

    ValueError: the input must have 4 axes.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.InstanceNorm2d(3)(F.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    def __init__(self, num_features, eps=1e-5, affine=False, **kwargs):
        super().__init__(num_features, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        check_axes("InstanceNorm2d", "x", x, 4)
        return super().forward(x)


class RMSNorm(Module):
    """Divides by the root mean square over the last axes, those of `normalized_shape`, then scales.

    B. Zhang, R. Sennrich: Root Mean Square Layer Normalization, NeurIPS 2019.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.RMSNorm(2, eps=0.0)(ts.tensor([[3.0, 3.0], [-2.0, 2.0]])).tolist()
    [[1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(self, normalized_shape, eps=1e-5, affine=True, **kwargs):
        super().__init__(**kwargs)
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.affine = eps, affine
        ones = np.ones(self.normalized_shape, dtype=np.float32)
        self.weight = Parameter(ones) if affine else None

    def reset_parameters(self):
        """Weight 1."""
        if self.affine:
            init.ones_(self.weight)

    def forward(self, x):
        """See the class."""
        return F.rms_norm(x, self.weight, len(self.normalized_shape), self.eps)

    def _module_info_string(self):
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, affine={self.affine}"


class GeneralNorm(_Norm):
    """Normalises over any axes, those of `normalized_axis`, then scales and shifts.

    `normalized_shape` are the sizes of the axes, and the shape of weight and bias. An axis may be
    negative.

    ValueError: normalized_axis must be different axes of the input, one for each size.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.GeneralNorm(2, 0, eps=0.0)(ts.tensor([[1.0, 5.0], [3.0, 7.0]])).tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """

    def __init__(self, normalized_shape, normalized_axis=0, eps=1e-5, affine=True, **kwargs):
        shape, axes = _sizes(normalized_shape), _sizes(normalized_axis)
        if len(shape) != len(axes) or len(set(axes)) != len(axes):
            raise ValueError(
                f"GeneralNorm: normalized_axis must be different axes, one for each size of "
                f"normalized_shape {shape}, got {axes}"
            )
        self.normalized_shape, self.normalized_axis = shape, axes
        super().__init__(shape, eps, affine, **kwargs)

    def forward(self, x):
        """See the class."""
        return F.general_norm(
            x, self.normalized_axis, self.affine, self.weight, self.bias, self.eps
        )  # fmt: skip

    def _module_info_string(self):
        return (
            f"normalized_shape={self.normalized_shape}, normalized_axis={self.normalized_axis}, "
            f"eps={self.eps}, affine={self.affine}"
        )


class LocalResponseNorm(Module):
    """Divides images by the squares of `kernel_size` neighbouring channels.

    A. Krizhevsky et al.: ImageNet Classification with Deep Convolutional Neural Networks, 2012.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.LocalResponseNorm(3, k=1.0, alpha=1.0, beta=1.0)(F.ones((1, 1, 1, 1))).item()
    0.5
    """

    def __init__(self, kernel_size=5, k=2.0, alpha=1e-4, beta=0.75, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.k, self.alpha, self.beta = kernel_size, k, alpha, beta

    def forward(self, inp):
        """See the class."""
        return F.local_response_norm(inp, self.kernel_size, self.k, self.alpha, self.beta)

    def _module_info_string(self):
        return f"kernel_size={self.kernel_size}, k={self.k}, alpha={self.alpha}, beta={self.beta}"
