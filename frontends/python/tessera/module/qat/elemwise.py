"""Functions without parameters that train with simulated quantization."""

from ... import _core
from .. import elemwise, quant_dequant
from .module import QATModule


class Elemwise(elemwise.Elemwise, QATModule):
    """Elemwise whose result is rounded to a grid: float32[*D], which broadcast, to float32[*D].

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import tqt_qconfig
    >>> layer = M.qat.Elemwise.from_float_module(M.Elemwise("add"))
    >>> layer.set_qconfig(tqt_qconfig)
    >>> layer(ts.tensor([0.25, 1.5]), 1.0).tolist()
    [1.0, 3.0]
    """

    with_weight = False

    def forward(self, *inps):
        """See the class."""
        return self.apply_quant_activation(super().forward(*inps))


class Concat(elemwise.Concat, QATModule):
    """Concat whose result is rounded to a grid: float32[*D], which differ along one axis only.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.qat.Concat.from_float_module(M.Concat())([F.ones(2), F.zeros(1)]).tolist()
    [1.0, 1.0, 0.0]
    """

    with_weight = False

    def forward(self, inps, axis=0):
        """See the class."""
        return self.apply_quant_activation(super().forward(inps, axis))


class QuantStub(quant_dequant.QuantStub, QATModule):
    """Rounds its input, float32[*D], to a grid: where a quantized network begins.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> from tessera.quantization import tqt_qconfig
    >>> stub = M.qat.QuantStub.from_float_module(M.QuantStub())
    >>> stub.set_qconfig(tqt_qconfig)
    >>> stub(ts.tensor([0.25, 1.5])).tolist()
    [0.0, 2.0]
    """

    with_weight = False

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(super().forward(inp))


class DequantStub(quant_dequant.DequantStub, QATModule):
    """Gives its input: where a quantized network ends. No grid holds behind it."""

    with_weight = with_act = False

    def forward(self, inp):
        """See the class."""
        return _core.off_grid(inp)
