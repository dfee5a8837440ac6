"""What all distributions have."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Tensor


class Distribution:
    """The base of all: parameters that broadcast to `batch_shape`, a number or float[*B] each.

    Values are float[*V], which broadcast with the parameters. Outside of the support a density is
    0, whose logarithm is -inf. Numbers and arrays are checked; a tensor's elements are data, which
    no call looks at.

    NotImplementedError: what a distribution does not have.
    """

    def _broadcast(self, **parameters):
        """Sets the parameters as attributes, all of one shape."""
        tensors = {name: _as_tensor(value) for name, value in parameters.items()}
        first, *others = tensors.values()
        shape = sum(others, first).shape
        for name, value in tensors.items():
            setattr(self, name, F.broadcast_to(value, shape))
        self.batch_shape = shape

    def sample(self, size=()):
        """Numbers float[*size, *B], without a gradient."""
        return self.rsample(size).detach()

    def rsample(self, size=()):
        """Numbers float[*size, *B] whose gradient goes to the parameters."""
        raise self._missing("rsample")

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at `value`."""
        raise self._missing("log_prob")

    def entropy(self):
        """The expected value of -log_prob, float[*B]."""
        raise self._missing("entropy")

    @property
    def mean(self):
        """The expected value, float[*B]."""
        raise self._missing("mean")

    @property
    def variance(self):
        """The expected squared distance from the mean, float[*B]."""
        raise self._missing("variance")

    @property
    def stddev(self):
        """The square root of the variance, float[*B]."""
        return F.sqrt(self.variance)

    def cdf(self, value):
        """The probability of at most `value`."""
        raise self._missing("cdf")

    def icdf(self, prob):
        """The value whose cdf is `prob`."""
        raise self._missing("icdf")

    def _missing(self, what):
        name = type(self).__name__
        return NotImplementedError(
            f"{name}: {what} must be one of its methods, got a distribution without it"
        )

    def _shape(self, size):
        """Of samples."""
        return [*([size] if isinstance(size, int) else size), *self.batch_shape]

    def __repr__(self):
        return f"{type(self).__name__}(batch_shape={tuple(self.batch_shape)})"


def check(name, holds, words, **parameters):
    """ValueError where an element of a number or an array does not fit: `holds` of an array."""
    for what, value in parameters.items():
        if (
            value is not None
            and not isinstance(value, Tensor)
            and not np.all(holds(np.asarray(value)))
        ):
            raise ValueError(f"{name}: {what} must be {words}, got {value!r}")


def check_positive(name, **parameters):
    """The same for what must be positive."""
    check(name, lambda array: array > 0, "positive", **parameters)


def times_log(factor, x):
    """factor * log(x), and 0 where factor is 0."""
    is_zero = F.equal(factor, 0)
    return F.where(is_zero, 0.0, factor * F.log(F.where(is_zero, 1.0, x)))


def within(condition, log_density):
    """`log_density` where the value is in the support, else -inf."""
    return F.where(condition, log_density, -np.inf)


def _as_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value), dtype="float32")
