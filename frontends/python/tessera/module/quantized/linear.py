"""Matrix products of integers."""

import numpy as np

from ... import functional as F  # noqa: N812
from ...tensor import Parameter
from .. import linear
from .module import QuantizedModule, ZeroParameters, zero_weight


class Linear(QuantizedModule):
    """Linear of integers: quantized[*B, I] to `dtype`; see `functional.quantized.linear`.

    Weight and bias are None until it is made of a QAT module, or they are set; of the sizes
    `in_features` and `out_features` they are zeros. ValueError: the module must be in inference
    mode. DTypeError: its input must be quantized.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.dtype import qint8
    >>> layer = M.quantized.Linear(qint8(0.5)).eval()
    >>> layer.weight = F.ones((2, 4)).astype(qint8(0.1))
    >>> layer(F.ones((1, 4)).astype(qint8(0.1))).tolist()
    [[8, 8]]
    """

    def __init__(self, dtype=None, in_features=None, out_features=None, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.in_features, self.out_features = in_features, out_features
        self.weight = self.bias = None
        if in_features is not None:
            self.weight = zero_weight((out_features, in_features))
            self.bias = Parameter(np.zeros(out_features, np.float32)) if bias else None
        self.output_dtype = dtype

    def calc_linear_quantized(self, inp, nonlinear_mode="identity"):
        """Gives the product, quantized[*B, O] of `output_dtype`, through the activation "identity",
        "relu", "hswish" or "sigmoid".
        """
        self._check_inference()
        return F.quantized.linear(inp, self.weight, self.bias, self.output_dtype, nonlinear_mode)

    def forward(self, x):
        """See the class."""
        return self.calc_linear_quantized(x)

    def _module_info_string(self):
        if self.weight is None:
            return ""
        out, into = self.weight.shape
        return f"in_features={into}, out_features={out}, bias={self.bias is not None}"


class LinearRelu(Linear):
    """Linear of integers, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return self.calc_linear_quantized(inp, "relu")


class LinearBn1d(Linear):
    """Linear of integers, whose weight and bias are those of a batch norm, too."""


class LinearBnRelu1d(LinearBn1d):
    """Linear of integers, whose weight and bias are those of a batch norm, too, then ReLU."""

    def forward(self, inp):
        """See the class."""
        return self.calc_linear_quantized(inp, "relu")


class BatchMatMulActivation(ZeroParameters, linear.BatchMatMulActivation, QuantizedModule):
    """BatchMatMulActivation of integers: quantized[batch, I, N] to `dtype`; see
    `functional.quantized.matmul`.

    ValueError: the module must be in inference mode. DTypeError: its input must be quantized.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> from tessera.dtype import qint8
    >>> layer = M.quantized.BatchMatMulActivation(3, 4, 2, dtype=qint8(0.5)).eval()
    >>> layer(F.ones((3, 4, 2)).astype(qint8(0.1))).shape
    (3, 2, 2)
    """

    def __init__(self, batch, in_features, out_features, bias=True, nonlinear_mode="IDENTITY",
                 dtype=None, **kwargs):  # fmt: skip
        super().__init__(batch, in_features, out_features, bias, nonlinear_mode, **kwargs)
        self.output_dtype = dtype

    def calc_bmm_quantized(self, inp):
        """Gives the products and the bias, quantized[batch, O, N] of `output_dtype`, through the
        activation.
        """
        self._check_inference()
        return F.quantized.matmul(
            self.weight, inp, self.output_dtype, bias=self.bias, nonlinear_mode=self.nonlinear_mode
        )

    def forward(self, x):
        """See the class."""
        return self.calc_bmm_quantized(x)
