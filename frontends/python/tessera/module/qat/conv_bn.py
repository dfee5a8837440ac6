"""Convolutions with batch norm that train with simulated quantization."""

from ... import functional as F  # noqa: N812
from .. import fused
from ._folding import Folded
from ._sums import CONV2D, CONV_TRANSPOSE2D


class ConvBn2d(fused.ConvBn2d, Folded):
    __doc__ = (
        "Conv2d and BatchNorm2d in one, whose folded weight and whose result are rounded to grids."
        + Folded.__doc__.partition(".")[2]
    )
    _layer_name, _kind = "conv", CONV2D

    def calc_conv_bn_qat(self, inp):
        """Gives the normalised convolution by the rounded weight, not rounded itself."""
        return self._normalized(inp)

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(self.calc_conv_bn_qat(inp))


class ConvBnRelu2d(ConvBn2d, fused.ConvBnRelu2d):
    """ConvBn2d, then ReLU, with its result rounded after that."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_conv_bn_qat(inp)))


class ConvTransposeBn2d(fused.ConvTransposeBn2d, Folded):
    __doc__ = (
        "ConvTranspose2d and BatchNorm2d in one, whose folded weight and whose result are rounded "
        "to grids." + Folded.__doc__.partition(".")[2]
    )
    _layer_name, _kind = "conv_transpose2d", CONV_TRANSPOSE2D

    def calc_conv_transpose2d_bn_qat(self, inp):
        """Gives the normalised transposed convolution by the rounded weight, not rounded itself."""
        return self._normalized(inp)

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(self.calc_conv_transpose2d_bn_qat(inp))


class ConvTransposeBnRelu2d(ConvTransposeBn2d, fused.ConvTransposeBnRelu2d):
    """ConvTransposeBn2d, then ReLU, with its result rounded after that."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_conv_transpose2d_bn_qat(inp)))
