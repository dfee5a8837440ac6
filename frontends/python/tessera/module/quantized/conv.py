"""Convolutions of integers."""

from ... import functional as F  # noqa: N812
from .. import conv
from .module import QuantizedModule, ZeroParameters


class Conv2d(ZeroParameters, conv.Conv2d, QuantizedModule):
    """Conv2d of integers: quantized[N, C, H, W] to `dtype`; see `functional.quantized.conv2d`.

    ValueError: the module must be in inference mode. DTypeError: its input must be quantized.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.dtype import qint8
    >>> layer = M.quantized.Conv2d(3, 8, 3, dtype=qint8(0.5)).eval()
    >>> layer(F.ones((1, 3, 5, 5)).astype(qint8(0.1))).shape
    (1, 8, 3, 3)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, conv_mode="cross_correlation", compute_mode="default", dtype=None,
                 padding_mode="zeros", bias=True, **kwargs):  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         bias, conv_mode, compute_mode, padding_mode, **kwargs)  # fmt: skip
        self.output_dtype = dtype

    def calc_conv_quantized(self, inp, nonlinear_mode="identity"):
        """Gives the convolution, quantized[N, O, OH, OW] of `output_dtype`, through the activation
        "identity", "relu", "hswish" or "sigmoid".
        """
        self._check_inference()
        inp, padding = self._padded_integers(inp)
        return F.quantized.conv_bias_activation(
            inp, self.weight, self.bias, self.output_dtype, self.stride, padding, self.dilation,
            self.groups, nonlinear_mode, self.conv_mode, self.compute_mode,
        )  # fmt: skip

    def _padded_integers(self, inp):
        """The input and the padding that is left; see _padded."""
        if self.padding_mode == "zeros" and not sum(self._behind):
            return inp, self.padding
        numbers, padding = self._padded(inp.astype("float32"))
        return numbers.astype(inp.dtype), padding

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_quantized(inp)


class ConvRelu2d(Conv2d):
    """Conv2d of integers, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_quantized(inp, "relu")


class ConvBn2d(Conv2d):
    """Conv2d of integers, whose weight and bias are those of a batch norm, too."""


class ConvBnRelu2d(ConvBn2d):
    """Conv2d of integers, whose weight and bias are those of a batch norm, too, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_quantized(inp, "relu")


class ConvTranspose2d(ZeroParameters, conv.ConvTranspose2d, QuantizedModule):
    """ConvTranspose2d of integers: quantized[N, C, H, W] to `dtype`; see
    `functional.quantized.conv_transpose2d`.

    ValueError: the module must be in inference mode. DTypeError: its input must be quantized.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.dtype import qint8
    >>> layer = M.quantized.ConvTranspose2d(3, 8, 2, stride=2, dtype=qint8(0.5)).eval()
    >>> layer(F.ones((1, 3, 5, 5)).astype(qint8(0.1))).shape
    (1, 8, 10, 10)
    """

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, dilation=1, groups=1, bias=True, conv_mode="cross_correlation",
                 compute_mode="default", dtype=None, **kwargs):  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, output_padding,
                         dilation, groups, bias, conv_mode, compute_mode, **kwargs)  # fmt: skip
        self.output_dtype = dtype

    def calc_conv_transpose2d_quantized(self, inp, nonlinear_mode="identity"):
        """Gives the transposed convolution, quantized[N, O, OH, OW] of `output_dtype`, through the
        activation "identity", "relu", "hswish" or "sigmoid".
        """
        self._check_inference()
        return F.quantized.conv_transpose2d(
            inp, self.weight, self.bias, self.output_dtype, self.stride, self.padding,
            self.output_padding, self.dilation, self.groups, self.conv_mode, self.compute_mode,
            nonlinear_mode,
        )  # fmt: skip

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_transpose2d_quantized(inp)


class ConvTransposeRelu2d(ConvTranspose2d):
    """ConvTranspose2d of integers, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_transpose2d_quantized(inp, "relu")


class ConvTransposeBn2d(ConvTranspose2d):
    """ConvTranspose2d of integers, whose weight and bias are those of a batch norm, too."""


class ConvTransposeBnRelu2d(ConvTransposeBn2d):
    """ConvTranspose2d of integers, whose weight and bias are those of a batch norm, too, then
    ReLU.
    """

    def forward(self, inp):
        """See the class."""
        return self.calc_conv_transpose2d_quantized(inp, "relu")
