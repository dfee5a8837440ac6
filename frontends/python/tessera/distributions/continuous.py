"""Distributions of real numbers. Formulas are those of N. Johnson, S. Kotz, N. Balakrishnan:
Continuous Univariate Distributions, 1994.
"""

import math

from .. import functional as F  # noqa: N812
from .._gamma import digamma, log_gamma
from ..random import default_rng
from ._implicit import LogGamma
from .distribution import Distribution, check, check_positive, times_log, within


class Normal(Distribution):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    ValueError: scale must be positive.

    >>> from tessera.distributions import Normal
    >>> Normal(1.0, 2.0).log_prob(1.0).shape
    ()
    """

    def __init__(self, loc, scale):
        check("Normal", lambda a: abs(a) < math.inf, "finite", loc=loc)
        check_positive("Normal", scale=scale)
        self._broadcast(loc=loc, scale=scale)

    def rsample(self, size=()):
        """See Distribution."""
        unit = default_rng.normal(size=self._shape(size), dtype=self.loc.dtype.name)
        return self.loc + self.scale * unit

    def log_prob(self, value):
        """See Distribution."""
        distance = (value - self.loc) / self.scale
        return -0.5 * distance * distance - F.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self):
        """See Distribution."""
        return F.log(self.scale) + 0.5 * math.log(2 * math.pi * math.e)

    @property
    def mean(self):
        """See Distribution."""
        return self.loc

    @property
    def variance(self):
        """See Distribution."""
        return self.scale * self.scale

    def cdf(self, value):
        """See Distribution."""
        return 0.5 * F.erfc((self.loc - value) / (self.scale * math.sqrt(2)))


class Uniform(Distribution):
    """As likely everywhere in [low, high).

    ValueError: high must be above low where both are numbers.

    >>> from tessera.distributions import Uniform
    >>> Uniform(0.0, 4.0).mean.item()
    2.0
    """

    def __init__(self, low, high):
        check("Uniform", lambda a: abs(a) < math.inf, "finite", low=low, high=high)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low >= high:
            raise ValueError(f"Uniform: high must be above low, got {low} and {high}")
        self._broadcast(low=low, high=high)

    def rsample(self, size=()):
        """See Distribution."""
        unit = default_rng.uniform(size=self._shape(size), dtype=self.low.dtype.name)
        return self.low + (self.high - self.low) * unit

    def log_prob(self, value):
        """See Distribution."""
        is_inside = F.logical_and(self.low <= value, self.high > value)
        return within(is_inside, -F.log(self.high - self.low))

    def entropy(self):
        """See Distribution."""
        return F.log(self.high - self.low)

    @property
    def mean(self):
        """See Distribution."""
        return (self.low + self.high) * 0.5

    @property
    def variance(self):
        """See Distribution."""
        return F.square(self.high - self.low) / 12

    def cdf(self, value):
        """See Distribution."""
        return F.clip((value - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, prob):
        """See Distribution."""
        return self.low + (self.high - self.low) * prob


class Exponential(Distribution):
    """The exponential distribution of the mean 1 / rate.

    ValueError: rate must be positive.

    >>> from tessera.distributions import Exponential
    >>> Exponential(2.0).mean.item()
    0.5
    """

    def __init__(self, rate):
        check_positive("Exponential", rate=rate)
        self._broadcast(rate=rate)

    def rsample(self, size=()):
        """See Distribution."""
        unit = default_rng.exponential(size=self._shape(size), dtype=self.rate.dtype.name)
        return unit / self.rate

    def log_prob(self, value):
        """See Distribution."""
        return within(self.rate * value >= 0, F.log(self.rate) - self.rate * value)

    def entropy(self):
        """See Distribution."""
        return 1 - F.log(self.rate)

    @property
    def mean(self):
        """See Distribution."""
        return 1 / self.rate

    @property
    def variance(self):
        """See Distribution."""
        return 1 / F.square(self.rate)

    def cdf(self, value):
        """See Distribution."""
        return -F.expm1(-F.maximum(self.rate * value, 0.0))

    def icdf(self, prob):
        """See Distribution."""
        return -F.log1p(-(prob + self.rate * 0)) / self.rate


class _OfGamma(Distribution):
    def _log_numbers(self, concentration, size):
        """Logarithms of numbers of gamma(concentration, 1), float64[*size, *B]."""
        wide = F.astype(F.broadcast_to(concentration, self._shape(size)), "float64")
        return LogGamma()(wide)


class Gamma(_OfGamma):
    """The gamma distribution of the mean concentration / rate.

    Samples have gradients of first order, implicit ones by the concentration: see _implicit.py.

    ValueError: concentration and rate must be positive.

    >>> from tessera.distributions import Gamma
    >>> Gamma(3.0, 2.0).mean.item()
    1.5
    """

    def __init__(self, concentration, rate):
        check_positive("Gamma", concentration=concentration, rate=rate)
        self._broadcast(concentration=concentration, rate=rate)

    def sample(self, size=()):
        """See Distribution."""
        parameters = self.concentration, 1 / self.rate
        return default_rng.gamma(*parameters, _size(size), self.rate.dtype.name)

    def rsample(self, size=()):
        """See Distribution."""
        scale = F.astype(1 / self.rate, "float64")
        value = F.exp(self._log_numbers(self.concentration, size)) * scale
        return F.astype(value, self.rate.dtype)

    def log_prob(self, value):
        """See Distribution."""
        a, r, is_inside = self.concentration, self.rate, self.rate * value >= 0
        x = F.where(is_inside, value, 1.0)
        density = a * F.log(r) + times_log(a - 1, x) - r * x - log_gamma(a)
        return within(is_inside, density)

    def entropy(self):
        """See Distribution."""
        a = self.concentration
        return a - F.log(self.rate) + log_gamma(a) + (1 - a) * digamma(a)

    @property
    def mean(self):
        """See Distribution."""
        return self.concentration / self.rate

    @property
    def variance(self):
        """See Distribution."""
        return self.concentration / F.square(self.rate)


class Beta(_OfGamma):
    """The beta distribution of the density x^(concentration1 - 1) (1 - x)^(concentration0 - 1) /
    B(concentration1, concentration0).

    Samples have gradients of first order, as those of Gamma.

    ValueError: both must be positive.

    >>> from tessera.distributions import Beta
    >>> Beta(1.0, 3.0).mean.item()
    0.25
    """

    def __init__(self, concentration1, concentration0):
        check_positive("Beta", concentration1=concentration1, concentration0=concentration0)
        self._broadcast(concentration1=concentration1, concentration0=concentration0)

    def sample(self, size=()):
        """See Distribution."""
        a, b = self.concentration1, self.concentration0
        return default_rng.beta(a, b, _size(size), a.dtype.name)

    def rsample(self, size=()):
        """See Distribution."""
        a, b = (
            self._log_numbers(each, size) for each in (self.concentration1, self.concentration0)
        )
        return F.astype(F.sigmoid(a - b), self.concentration1.dtype)

    def log_prob(self, value):
        """See Distribution."""
        a, b, x = self.concentration1, self.concentration0, value + self.concentration1 * 0
        is_inside = F.logical_and(x >= 0, x <= 1)
        x = F.where(is_inside, x, 0.5)
        return within(is_inside, times_log(a - 1, x) + times_log(b - 1, 1 - x) - self._log_beta())

    def entropy(self):
        """See Distribution."""
        a, b = self.concentration1, self.concentration0
        total = (a + b - 2) * digamma(a + b)
        return self._log_beta() - (a - 1) * digamma(a) - (b - 1) * digamma(b) + total

    @property
    def mean(self):
        """See Distribution."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self):
        """See Distribution."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (F.square(total) * (total + 1))

    def _log_beta(self):
        a, b = self.concentration1, self.concentration0
        return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def _size(size):
    return [size] if isinstance(size, int) else list(size)
