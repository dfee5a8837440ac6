"""Functions without parameters that train with simulated quantization."""

from .. import elemwise, quant_dequant
from .module import QATModule


class Elemwise(elemwise.Elemwise, QATModule):
    """Elemwise whose result is rounded to a grid."""

    with_weight = False

    def forward(self, *inps):
        """See the class."""
        return self.apply_quant_activation(super().forward(*inps))


class Concat(elemwise.Concat, QATModule):
    """Concat whose result is rounded to a grid."""

    with_weight = False

    def forward(self, inps, axis=0):
        """See the class."""
        return self.apply_quant_activation(super().forward(inps, axis))


class QuantStub(quant_dequant.QuantStub, QATModule):
    """Rounds its input to a grid: where a quantized network begins."""

    with_weight = False

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(super().forward(inp))


class DequantStub(quant_dequant.DequantStub, QATModule):
    """Gives its input: where a quantized network ends."""

    with_weight = with_act = False
