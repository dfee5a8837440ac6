"""Layers with what usually follows them."""

from .. import functional as F  # noqa: N812
from .batchnorm import BatchNorm1d, BatchNorm2d
from .conv import Conv2d, ConvTranspose2d
from .linear import Linear
from .module import Module


class ConvRelu2d(Conv2d):
    """Conv2d, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class ConvBn2d(Module):
    """Conv2d as `conv`, then BatchNorm2d as `bn`; takes the arguments of both."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True, conv_mode="cross_correlation", compute_mode="default",
                 padding_mode="zeros", eps=1e-5, momentum=0.9, affine=True,
                 track_running_stats=True, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.conv = Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation,
                           groups, bias, conv_mode, compute_mode, padding_mode)  # fmt: skip
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        """See the class."""
        return self.bn(self.conv(inp))


class ConvBnRelu2d(ConvBn2d):
    """Conv2d, BatchNorm2d, ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class ConvTransposeRelu2d(ConvTranspose2d):
    """ConvTranspose2d, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class ConvTransposeBn2d(Module):
    """ConvTranspose2d as `conv_transpose2d`, then BatchNorm2d as `bn`; takes both's arguments."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, dilation=1, groups=1, bias=True, conv_mode="cross_correlation",
                 compute_mode="default", eps=1e-5, momentum=0.9, affine=True,
                 track_running_stats=True, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.conv_transpose2d = ConvTranspose2d(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation,
            groups, bias, conv_mode, compute_mode,
        )  # fmt: skip
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        """See the class."""
        return self.bn(self.conv_transpose2d(inp))


class ConvTransposeBnRelu2d(ConvTransposeBn2d):
    """ConvTranspose2d, BatchNorm2d, ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class LinearRelu(Linear):
    """Linear, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class LinearBn1d(Module):
    """Linear as `linear`, then BatchNorm1d as `bn`; takes the arguments of both."""

    def _convert_state(self, values, prefix):
        """MegEngine's files have a second bias, which nothing is computed with."""
        values.pop(f"{prefix}bias", None)

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", eps=1e-5,
                 momentum=0.9, affine=True, track_running_stats=True, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.linear = Linear(in_features, out_features, bias, compute_mode)
        self.bn = BatchNorm1d(out_features, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        """See the class."""
        return self.bn(self.linear(inp))


class LinearBnRelu1d(LinearBn1d):
    """Linear, BatchNorm1d, ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))
