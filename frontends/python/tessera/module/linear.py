"""Linear."""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Parameter
from . import init
from .module import Module


class Linear(Module):
    """x @ weight.T + bias, over the last axis.

    >>> Linear(4, 2)
    Linear(in_features=4, out_features=2, bias=True)
    """

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", **kwargs):
        super().__init__(**kwargs)
        self.in_features, self.out_features = in_features, out_features
        self.compute_mode = compute_mode
        self.weight = Parameter(np.empty((out_features, in_features), dtype=np.float32))
        self.bias = Parameter(np.zeros(out_features, dtype=np.float32)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Normal weights with the variance 1 / in_features, no bias."""
        init.normal_(self.weight, 0.0, math.sqrt(1 / self.in_features))
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, x):
        """See the class."""
        return F.linear(x, self.weight, self.bias, compute_mode=self.compute_mode)

    def _module_info_string(self):
        has_bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={has_bias}"
