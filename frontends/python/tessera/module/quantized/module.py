"""Base class of modules that compute with integers."""

import numpy as np

from ... import _core, _quantized
from ... import functional as F  # noqa: N812
from ...tensor import Parameter, Tensor
from .. import init, qat
from ..module import Module
from ..qat import QATModule

_SETTINGS_OF_QAT = frozenset(vars(QATModule()))


class QuantizedModule(Module):
    """Base class of modules for inference whose weights and results are integers.

    They are made of QAT modules, which give the same numbers, bit for bit. Weights are constants of
    a quantized dtype, whose scale comes with the values of a state that is loaded; the dtype of the
    result is `output_dtype`, which no state has.

    Raises:
        ValueError: a module that is called must be in inference mode, see `eval`
    """

    output_dtype = None  # the quantized dtype of the result

    def __repr__(self):
        return f"Quantized.{super().__repr__()}"

    def _check_inference(self):
        if self.training:
            raise ValueError(
                f"{type(self).__name__}: a quantized module must be in inference mode, got training"
            )

    @classmethod
    def from_qat_module(cls, qat_module):
        """Makes the module of a trained QAT module, in inference mode. It shares nothing with it. A
        batch norm is folded into the weight by its running statistics.

        Raises:
            TypeError: the module must be the QAT module of this name
            ValueError: the module must have dtypes, see `QATModule.set_qconfig`
        """
        kind = getattr(qat, cls.__name__, QATModule)
        if not isinstance(qat_module, kind):
            raise TypeError(
                f"from_qat_module: qat_module must be a qat.{kind.__name__}, got {qat_module!r}"
            )
        made, layer = cls.__new__(cls), qat_module._layer
        QuantizedModule.__init__(made, name=qat_module.name)
        for key, value in vars(layer).items():
            if key not in _SETTINGS_OF_QAT and not isinstance(value, (Tensor, Module)):
                setattr(made, key, value)
        if qat_module.with_weight:
            made._take_weight(qat_module, layer)
        if qat_module.with_act:
            dtype = qat_module.get_activation_dtype()
            made.output_dtype = _checked(qat_module, "result", dtype)
        made.training = False
        return made

    def _take_weight(self, qat_module, layer):
        """Makes weight and bias of those of a QAT module, under the names of those of its layer."""
        weight, bias = qat_module._weight_and_bias()
        dtype = _checked(qat_module, "weight", qat_module.get_weight_dtype())
        weight, dtype = _without_groups(weight.detach(), dtype)
        self.weight = Parameter(weight.astype(dtype), name=layer.weight.name or None)
        name = None if layer.bias is None else layer.bias.name or None
        self.bias = bias if bias is None else Parameter(bias.numpy(), name=name)


def _checked(qat_module, what, dtype):
    """The dtype itself. ValueError where there is none."""
    if dtype is None:
        kind = type(qat_module).__name__
        raise ValueError(
            f"from_qat_module: the {what} of {kind} must have a quantized dtype, got none"
        )
    return dtype


def _without_groups(weight, dtype):
    """Weight and dtype; groups that have a scale each are joined, with a scale for each channel."""
    kind, scale, _, axis = _core.quantization(dtype)
    if axis != 0 or weight.ndim != 5:
        return weight, dtype
    scales = np.repeat(np.float32(scale), weight.shape[1]).tolist()
    return F.flatten(weight, 0, 1), getattr(_quantized, kind)(scales, axis=0)


def zero_weight(shape):
    """The weight of a module that is made without values: zeros."""
    return Parameter(np.zeros(shape, np.int8), dtype=_quantized.qint8(1.0))


class ZeroParameters:
    """Stands before a float layer among the bases: its parameters begin as zeros of integers."""

    def reset_parameters(self):
        """A weight and a bias of 0, which a state replaces."""
        self.weight = zero_weight(self.weight.shape)
        if self.bias is not None:
            init.zeros_(self.bias)
