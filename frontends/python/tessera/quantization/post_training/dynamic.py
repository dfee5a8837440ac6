"""Linear layers whose activations become integers at each call, by their own range."""

import numpy as np

from ... import _core
from ... import functional as F  # noqa: N812
from ..._core import ops
from ..._quantized import qint8_narrow
from ...functional.generated import check_choice
from ...module.module import Module
from ...tensor import Parameter, Tensor

_LARGEST = 127
_LEAST_SCALE = 1e-12  # of a tensor of zeros


class DynamicLinear(Module):
    """Linear with a weight of int8, whose input becomes int8 at each call.

    The scale of the input is `max(abs(x)) / 127`. The sum of products is over the integers, exact,
    and times both scales; the bias is added in float32.

    Args:
        in_features: int
        out_features: int
        bias: bool
        nonlinear_mode: "identity" or "relu", the activation behind it
        name: name of the module

    ValueError: nonlinear_mode must be one of its values.

    Called with float32[*B, in_features] it gives float32[*B, out_features]; `weight` is
    qint8_narrow[out_features, in_features] with one scale, or with one for each index of axis 0.

    >>> import tessera as ts
    >>> from tessera.quantization import DynamicLinear
    >>> layer = DynamicLinear(3, 2)
    >>> layer.weight = ts.Parameter(ts.functional.ones((2, 3)).astype(ts.dtype.qint8_narrow(0.5)))
    >>> layer(ts.tensor([[1.0, 2.0, 127.0]])).tolist()
    [[130.0, 130.0]]
    """

    def __init__(self, in_features, out_features, bias=True, nonlinear_mode="identity", name=None):
        super().__init__(name)
        check_choice("DynamicLinear", "nonlinear_mode", nonlinear_mode, ("identity", "relu"))
        self.in_features, self.out_features = in_features, out_features
        self.nonlinear_mode = nonlinear_mode
        zeros = np.zeros((out_features, in_features), np.int8)
        self.weight = Parameter(zeros, dtype=qint8_narrow(1.0))
        self.bias = Parameter(np.zeros(out_features, np.float32)) if bias else None

    @classmethod
    def of(cls, weight, bias, nonlinear_mode="identity"):
        """The layer of a weight, a Parameter of qint8_narrow, and a bias or None."""
        out_features, in_features = weight.shape
        made = cls(in_features, out_features, bias is not None, nonlinear_mode)
        made.weight, made.bias = weight, bias
        return made

    def forward(self, x):
        """See the class."""
        x_scale = F.maximum(F.abs(x).max() / _LARGEST, _LEAST_SCALE)
        integers = ops.quantize(x, x_scale, 0, "int8")
        rows = ops.expand_dims(integers, [0]) if x.ndim == 1 else integers
        sums = ops.integer_matmul(rows, self.weight, None, None, transpose_y=True)
        sums = ops.squeeze(sums, [0]) if x.ndim == 1 else sums
        scale = np.float32(_core.quantization(self.weight.dtype)[1])
        y = sums.astype("float32") * (Tensor(scale, device=x.device) * x_scale)
        y = y if self.bias is None else y + self.bias
        return F.relu(y) if self.nonlinear_mode == "relu" else y

    def _module_info_string(self):
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"
