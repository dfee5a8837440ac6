"""Matrix products that train with simulated quantization."""

from ... import functional as F  # noqa: N812
from .. import fused, linear
from ._folding import Folded
from ._sums import LINEAR, check_no_zero_point, grid_of, summed
from .module import QATModule


class Linear(linear.Linear, QATModule):
    """Linear whose weight and result are rounded to grids: float32[*B, I] to [*B, O].

    ValueError: the weight must have no zero point, and one scale or one for each index of axis 0.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.quantization import min_max_fakequant_qconfig
    >>> layer = M.qat.Linear.from_float_module(M.Linear(4, 2))
    >>> layer.set_qconfig(min_max_fakequant_qconfig)
    >>> layer(F.ones((3, 4))).qparams.dtype_meta
    'qint8'
    """

    def calc_linear_qat(self, inp):
        """Gives the product with the rounded weight, float[*B, O], not rounded itself."""
        weight = self.apply_quant_weight(self.weight)
        return summed(self, LINEAR, self, inp, weight, self.bias)

    def forward(self, x):
        """See the class."""
        return self.apply_quant_activation(self.calc_linear_qat(x))


class LinearRelu(Linear, fused.LinearRelu):
    """Linear, then ReLU, whose weight and result are rounded to grids."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_linear_qat(inp)))


class LinearBn1d(fused.LinearBn1d, Folded):
    __doc__ = (
        "Linear and BatchNorm1d in one, whose folded weight and whose result are rounded to grids."
        + Folded.__doc__.partition(".")[2]
    )
    _layer_name, _kind = "linear", LINEAR

    def calc_linear_bn_qat(self, inp):
        """Gives the normalised product with the rounded weight, not rounded itself."""
        return self._normalized(inp)

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(self.calc_linear_bn_qat(inp))


class LinearBnRelu1d(LinearBn1d, fused.LinearBnRelu1d):
    """LinearBn1d, then ReLU, with its result rounded after that."""

    def forward(self, inp):
        """See the class."""
        return self.apply_quant_activation(F.relu(self.calc_linear_bn_qat(inp)))


class BatchMatMulActivation(linear.BatchMatMulActivation, QATModule):
    """BatchMatMulActivation whose weight and result are rounded to grids; its bias is not, as it is
    added to rows: float32[batch, I, N] to [batch, O, N].

    ValueError: the weight must have no zero point and one scale.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> of_floats = M.BatchMatMulActivation(3, 4, 2)
    >>> M.qat.BatchMatMulActivation.from_float_module(of_floats)(F.ones((3, 4, 2))).shape
    (3, 2, 2)
    """

    def calc_matmul_qat(self, inp):
        """Gives the products with the rounded weight and the bias, through the activation, not
        rounded themselves.
        """
        weight = self.apply_quant_weight(self.weight)
        out = self._summed(inp, weight)
        out = out if self.bias is None else out + self.bias
        return F.relu(out) if self.nonlinear_mode == "RELU" else out

    def _summed(self, inp, weight):
        grid = grid_of(inp)
        if grid is None or not self._rounds_weights() or weight.qparams.scale is None:
            return F.matmul(weight, inp)
        scale, zero_point, dtype = grid
        name = type(self).__name__
        check_no_zero_point(name, weight)
        if weight.qparams.scale.size != 1:
            shape = tuple(weight.qparams.scale.shape)
            raise ValueError(f"{name}: the weight must have one scale, got {shape}")
        own = F.reshape(weight.qparams.scale, ())
        return F.quantized.simulated_matmul(
            weight, inp, own, 0, scale, zero_point, dtype="int8", y_dtype=dtype
        )

    def forward(self, x):
        """See the class."""
        return self.apply_quant_activation(self.calc_matmul_qat(x))
