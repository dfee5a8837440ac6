"""The gradient of numbers of the gamma distribution by its concentration.

A number of it is no formula of the concentration a. But where it has the same probability F as
before, d value / d a = -(dF / da) / density: M. Figurnov, S. Mohamed, A. Mnih: Implicit
Reparameterization Gradients, NeurIPS 2018.
"""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from .._gamma import digamma
from ..autodiff import Function
from ..random import default_rng
from ..tensor import Tensor

# Points and weights of integrals from 0 on, x = exp(pi / 2 sinh t): H. Takahasi, M. Mori: Double
# Exponential Formulas for Numerical Integration, 1974.
_STEPS = np.arange(-36, 21) * 0.1
_POINTS = np.exp(math.pi / 2 * np.sinh(_STEPS))
_WEIGHTS = 0.1 * math.pi / 2 * np.cosh(_STEPS) * _POINTS


class LogGamma(Function):
    """Logarithms of numbers of gamma(a, 1), for a float64[*D]; the gradient has none of its own."""

    def forward(self, concentration):
        """Draws them from the process's generator."""
        self.concentration = concentration.detach()
        self.value = default_rng._log_gamma(self.concentration)
        return self.value

    def backward(self, dy):
        """See Function."""
        return dy * _slope(self.concentration, self.value)


def _slope(a, log_x):
    """d log(x) / d a, to seven digits for a from 1e-4 to 1e5.

    With t = x exp(-s), dF / da / density / x is the integral over s > 0 of (psi(a) - log(x) + s)
    exp(-a s + x (1 - exp(-s))). It is taken for x up to a, and up to 1, elsewhere that of what is
    above x, with t = x exp(s). What the exponent leaves over falls below 1 / e near s = width.
    """
    x = F.exp(log_x)
    side = F.where(x <= F.maximum(a, 1.0), 1.0, -1.0).astype("float64")
    apart = side * (a - x)
    width = 2.0 / (apart + F.sqrt(apart * apart + 2.0 * x))
    width = F.where(side > 0, F.maximum(width, 1.0 / a), width)
    a, x, side, width, distance = (
        F.expand_dims(each, -1) for each in (a, x, side, width, digamma(a) - log_x)
    )
    s = width * Tensor(_POINTS, dtype="float64", device=x.device)
    exponent = -side * a * s - x * F.expm1(-side * s)
    terms = F.exp(exponent) * (side * distance + s)
    terms = F.where(exponent > -700.0, terms, 0.0)
    weights = width * Tensor(_WEIGHTS, dtype="float64", device=x.device)
    return F.sum(terms * weights, -1)
