"""Convolutions."""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Parameter
from . import init
from .module import Module


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


class Conv2d(Module):
    """Convolution of images [N, C, H, W] with `out_channels` kernels.

    The weight has shape (out, in, height, width), with `groups` (groups, out/groups, in/groups,
    height, width); the bias (1, out, 1, 1).
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True, conv_mode="cross_correlation", compute_mode="default",
                 padding_mode="zeros", **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"Conv2d: groups must divide the channels, got {groups} for {in_channels} in "
                f"and {out_channels} out"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        self.conv_mode, self.compute_mode = conv_mode, compute_mode
        self.padding_mode = padding_mode
        self.weight = Parameter(np.empty(self._weight_shape(), dtype=np.float32))
        self.bias = None
        if bias:
            self.bias = Parameter(np.zeros((1, out_channels, 1, 1), dtype=np.float32))
        self.reset_parameters()

    def _weight_shape(self):
        each = (self.out_channels // self.groups, self.in_channels // self.groups)
        return (*((self.groups,) if self.groups > 1 else ()), *each, *self.kernel_size)

    def reset_parameters(self):
        """Normal weights with the variance 1 / fan_in, no bias."""
        fan_in = self.in_channels // self.groups * math.prod(self.kernel_size)
        init.normal_(self.weight, 0.0, math.sqrt(1 / fan_in))
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, inp):
        """See the class."""
        padding = self.padding
        if self.padding_mode != "zeros":
            inp = F.pad(inp, ((0, 0), (0, 0), *((n, n) for n in padding)), mode=self.padding_mode)
            padding = (0, 0)
        return F.conv2d(inp, self.weight, self.bias, self.stride, padding, self.dilation,
                        self.groups, self.conv_mode, self.compute_mode)  # fmt: skip

    def _module_info_string(self):
        parts = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}"]
        defaults = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
        values = ((name, getattr(self, name), usual) for name, usual in defaults.items())
        parts += [f"{name}={value}" for name, value, usual in values if value != usual]
        return ", ".join(parts + ([] if self.bias is not None else ["bias=False"]))
