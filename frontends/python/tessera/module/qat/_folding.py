"""Batch norm that is folded into the weight of the layer before it."""

import math

from ... import functional as F  # noqa: N812
from ._sums import summed
from .module import QATModule


class Folded(QATModule):
    """Base class of layers with a batch norm behind them.

    With the running mean m and variance v of the batch norm and its weight g and bias b, the weight
    W and bias c of the layer are folded to

        factor = g / sqrt(v + eps),  W_fold = W * factor,  c_fold = b + g * (c - m) / sqrt(v + eps)

    as in B. Jacob et al., arXiv:1712.05877, section 3.2. Inference is the layer with the rounded
    W_fold and with c_fold. In training the rounded W_fold is the weight as well; the sum is divided
    by factor and c is added, and the batch norm goes on from there with statistics of the batch (R.
    Krishnamoorthi, arXiv:1806.08342, section 3.2.2): running statistics are those of the layer
    itself, and do not drift with the folding. A channel whose factor is 0 is not divided.

    ValueError: the batch norm must have running statistics.
    """

    _layer_name = None  # of the attribute that is the layer
    _kind = None  # of its sum

    @property
    def _layer(self):
        return getattr(self, self._layer_name)

    def _weight_and_bias(self):
        self._check_statistics()
        return self.fold_weight_bias(self.bn.running_mean, self.bn.running_var)

    def _check_statistics(self):
        if self.bn.running_mean is None:
            raise ValueError(
                f"{type(self).__name__}: the batch norm must have running statistics, got none"
            )

    def fold_weight_bias(self, bn_mean, bn_var):
        """Gives the folded weight, as `apply_quant_weight` gives it, and the folded bias.

        Args:
            bn_mean: float32[1, O, 1, 1], the mean that is folded
            bn_var: float32[1, O, 1, 1], the variance

        Returns:
            float32 of the shape of the weight, and float32 of that of a bias of the layer
        """
        layer = self._layer
        weight, bias = self._affine()
        deviation = F.sqrt(F.flatten(bn_var) + self.bn.eps)
        folded = 0.0 if layer.bias is None else F.flatten(layer.bias)
        folded = (folded - F.flatten(bn_mean)) / deviation
        folded = folded if weight is None else folded * weight
        folded = folded if bias is None else folded + bias
        factor = 1.0 / deviation if weight is None else weight / deviation
        return self._folded_weight(layer, factor), F.reshape(folded, self._bias_shape(layer))

    def _affine(self):
        """Weight and bias of the batch norm along one axis, or None."""
        norm = self.bn
        return [each if each is None else F.flatten(each) for each in (norm.weight, norm.bias)]

    def _folded_weight(self, layer, factor):
        return self.apply_quant_weight(layer.weight * F.reshape(factor, self._kind.channels(layer)))

    def _bias_shape(self, layer):
        channels = math.prod(self._kind.channels(layer))
        return (1, channels, 1, 1) if layer.weight.ndim > 2 else (channels,)

    def _normalized(self, inp):
        """The layer and the batch norm."""
        self._check_statistics()
        layer = self._layer
        mean, variance = self.bn.running_mean, self.bn.running_var
        if not self.training:
            weight, bias = self.fold_weight_bias(mean, variance)
            return summed(self, self._kind, layer, inp, weight, bias)
        deviation, scale = F.sqrt(F.flatten(variance) + self.bn.eps), self._affine()[0]
        factor = 1.0 / deviation if scale is None else scale / deviation
        out = summed(self, self._kind, layer, inp, self._folded_weight(layer, factor), None)
        shape = self._bias_shape(layer)
        out = out / F.reshape(F.where(factor == 0.0, 1.0, factor), shape)
        out = out if layer.bias is None else out + F.reshape(layer.bias, shape)
        return self.bn(out)
