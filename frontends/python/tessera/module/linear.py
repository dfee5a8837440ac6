"""Matrix products with a weight."""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional.generated import check_choice
from ..tensor import Parameter
from . import init
from .module import Module


class _Product(Module):
    """A matrix product with a weight of `in_features` columns, and a bias or None."""

    def _add_parameters(self, shape, bias):
        self.weight = Parameter(np.empty(shape, dtype=np.float32))
        self.bias = Parameter(np.zeros(self.out_features, dtype=np.float32)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Normal weights with the variance 1 / in_features, no bias."""
        init.normal_(self.weight, 0.0, math.sqrt(1 / self.in_features))
        if self.bias is not None:
            init.zeros_(self.bias)

    def _module_info_string(self):
        has_bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"


class Linear(_Product):
    """x @ weight.T + bias, over the last axis.

    >>> import tessera.module as M
    >>> M.Linear(4, 2)
    Linear(in_features=4, out_features=2, bias=True)
    """

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", **kwargs):
        super().__init__(**kwargs)
        self.in_features, self.out_features = in_features, out_features
        self.compute_mode = compute_mode
        self._add_parameters((out_features, in_features), bias)

    def forward(self, x):
        """See the class."""
        return self.calc_linear(x, self.weight, self.bias)

    def calc_linear(self, x, weight, bias):
        """The product with this weight and bias, which a subclass may give others."""
        return F.linear(x, weight, bias, compute_mode=self.compute_mode)


class BatchMatMulActivation(_Product):
    """weight @ x + bias, a matrix for each sample; then ReLU where `nonlinear_mode` says so.

    Called with float[batch, in_features, N] it gives float[batch, out_features, N]. The weight has
    the shape (batch, out_features, in_features), the bias (out_features,): it is added along the
    last axis, as MegEngine does, and so must fit N.

    ValueError: nonlinear_mode must be "IDENTITY" or "RELU", in any case; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.BatchMatMulActivation(3, 4, 2, nonlinear_mode="RELU")(F.ones((3, 4, 2))).shape
    (3, 2, 2)
    """

    def __init__(self, batch, in_features, out_features, bias=True, nonlinear_mode="IDENTITY",
                 **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        mode = str(nonlinear_mode).upper()
        check_choice(type(self).__name__, "nonlinear_mode", mode, ("IDENTITY", "RELU"))
        self.batch, self.in_features, self.out_features = batch, in_features, out_features
        self.nonlinear_mode = mode
        self._add_parameters((batch, out_features, in_features), bias)

    def forward(self, x):
        """See the class."""
        out = F.matmul(self.weight, x)
        out = out if self.bias is None else out + self.bias
        return F.relu(out) if self.nonlinear_mode == "RELU" else out

    def _module_info_string(self):
        return f"batch={self.batch}, {super()._module_info_string()}"
