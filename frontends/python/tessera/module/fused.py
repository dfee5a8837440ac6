"""Layers with what usually follows them."""

from .. import functional as F  # noqa: N812
from .batchnorm import BatchNorm1d, BatchNorm2d
from .conv import Conv2d, ConvTranspose2d
from .linear import Linear
from .module import Module

_NORM = ("eps", "momentum", "affine", "track_running_stats")


def _without(kwargs, names):
    """`kwargs` in two: those of `names`, and the others."""
    taken = {name: value for name, value in kwargs.items() if name in names}
    return taken, {name: value for name, value in kwargs.items() if name not in names}


class ConvRelu2d(Conv2d):
    """Conv2d, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return F.relu(super().forward(inp))


class ConvBn2d(Module):
    """Conv2d as `conv`, then BatchNorm2d as `bn`; takes the arguments of both."""

    def __init__(self, in_channels, out_channels, kernel_size, *args, name=None, **kwargs):
        super().__init__(name=name)
        norm, conv = _without(kwargs, _NORM)
        self.conv = Conv2d(in_channels, out_channels, kernel_size, *args, **conv)
        self.bn = BatchNorm2d(out_channels, **norm)

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

    def __init__(self, in_channels, out_channels, kernel_size, *args, name=None, **kwargs):
        super().__init__(name=name)
        norm, conv = _without(kwargs, _NORM)
        self.conv_transpose2d = ConvTranspose2d(
            in_channels, out_channels, kernel_size, *args, **conv
        )
        self.bn = BatchNorm2d(out_channels, **norm)

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

    def forward(self, x):
        """See the class."""
        return F.relu(super().forward(x))


class LinearBn1d(Module):
    """Linear as `linear`, then BatchNorm1d as `bn`; takes the arguments of both."""

    def _convert_state(self, values, prefix):
        """MegEngine's files have a second bias, which nothing is computed with."""
        values.pop(f"{prefix}bias", None)

    def __init__(self, in_features, out_features, *args, name=None, **kwargs):
        super().__init__(name=name)
        norm, linear = _without(kwargs, _NORM)
        self.linear = Linear(in_features, out_features, *args, **linear)
        self.bn = BatchNorm1d(out_features, **norm)

    def forward(self, x):
        """See the class."""
        return self.bn(self.linear(x))


class LinearBnRelu1d(LinearBn1d):
    """Linear, BatchNorm1d, ReLU."""

    def forward(self, x):
        """See the class."""
        return F.relu(super().forward(x))
