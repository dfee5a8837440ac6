"""Pooling."""

from .. import functional as F  # noqa: N812
from .module import Module


class _Pool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def _module_info_string(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool2d):
    """The largest element of each window."""

    def forward(self, inp):
        """See the class."""
        return F.max_pool2d(inp, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool2d):
    """The mean of each window; `mode` says whether padding counts."""

    def __init__(self, kernel_size, stride=None, padding=0,
                 mode="average_count_exclude_padding", **kwargs):  # fmt: skip
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.mode = mode

    def forward(self, inp):
        """See the class."""
        return F.avg_pool2d(inp, self.kernel_size, self.stride, self.padding, self.mode)


class AdaptiveAvgPool2d(Module):
    """Means of windows such that the output has height and width `oshp`."""

    def __init__(self, oshp, **kwargs):
        super().__init__(**kwargs)
        self.oshp = oshp

    def forward(self, inp):
        """See the class."""
        return F.adaptive_avg_pool2d(inp, self.oshp)

    def _module_info_string(self):
        return f"oshp={self.oshp}"
