"""Convolutions that train with simulated quantization."""

from ... import functional as F  # noqa: N812
from .. import conv, fused
from ._sums import CONV2D, CONV_TRANSPOSE2D, summed
from .module import QATModule


class Conv2d(conv.Conv2d, QATModule):
    """Conv2d whose weight and result are rounded to grids: float32[N, C, H, W] to [N, O, OH, OW].

    ValueError: the weight must have no zero point, and one scale or one for each index of axis 0.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.quantization import min_max_fakequant_qconfig
    >>> layer = M.qat.Conv2d.from_float_module(M.Conv2d(3, 8, 3))
    >>> layer.set_qconfig(min_max_fakequant_qconfig)
    >>> layer(F.ones((1, 3, 5, 5))).qparams.dtype_meta
    'qint8'
    """

    def calc_conv_qat(self, inp):
        """Gives the convolution by the rounded weight, float[N, O, OH, OW], not rounded itself."""
        weight = self.apply_quant_weight(self.weight)
        return summed(self, CONV2D, self, inp, weight, self.bias)

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(self.calc_conv_qat(inp))


class ConvRelu2d(Conv2d, fused.ConvRelu2d):
    """Conv2d, then ReLU, whose weight and result are rounded to grids."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_conv_qat(inp)))


class ConvTranspose2d(conv.ConvTranspose2d, QATModule):
    """ConvTranspose2d whose weight and result are rounded to grids: float32[N, C, H, W] to
    [N, O, OH, OW].

    ValueError: the weight must have no zero point, and one scale or one for each channel of the
    result, without groups then.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> layer = M.qat.ConvTranspose2d.from_float_module(M.ConvTranspose2d(3, 8, 2, stride=2))
    >>> layer(F.ones((1, 3, 5, 5))).shape
    (1, 8, 10, 10)
    """

    def calc_conv_transpose2d_qat(self, inp):
        """Gives the transposed convolution by the rounded weight, float[N, O, OH, OW], not rounded
        itself.
        """
        weight = self.apply_quant_weight(self.weight)
        return summed(self, CONV_TRANSPOSE2D, self, inp, weight, self.bias)

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(self.calc_conv_transpose2d_qat(inp))


class ConvTransposeRelu2d(ConvTranspose2d, fused.ConvTransposeRelu2d):
    """ConvTranspose2d, then ReLU, whose weight and result are rounded to grids."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_conv_transpose2d_qat(inp)))
