"""Distributions of integers."""

import math

from .. import functional as F  # noqa: N812
from ..random import default_rng
from .distribution import Distribution, check


class Bernoulli(Distribution):
    """1 with the probability `probs`, else 0; `logits` are log(p / (1 - p)).

    ValueError: probs must be in [0, 1]; one of probs and logits must be given.

    >>> from tessera.distributions import Bernoulli
    >>> Bernoulli(0.25).variance.item()
    0.1875
    """

    def __init__(self, probs=None, logits=None):
        _check_one("Bernoulli", probs, logits)
        check("Bernoulli", lambda a: (a >= 0) & (a <= 1), "in [0, 1]", probs=probs)
        if logits is None:
            self._broadcast(probs=probs)
            self._log_1, self._log_0 = F.log(self.probs), F.log1p(-self.probs)
            self._probs_0 = 1 - self.probs
            return
        self._broadcast(logits=logits)
        self.probs, self._probs_0 = F.sigmoid(self.logits), F.sigmoid(-self.logits)
        self._log_1, self._log_0 = F.logsigmoid(self.logits), F.logsigmoid(-self.logits)

    def sample(self, size=()):
        """See Distribution."""
        return default_rng.bernoulli(self.probs, _size(size), self.probs.dtype.name)

    def log_prob(self, value):
        """See Distribution."""
        x = value + self.probs * 0
        either = F.where(F.equal(x, 0), self._log_0, -math.inf)
        return F.where(F.equal(x, 1), self._log_1, either)

    def entropy(self):
        """See Distribution."""
        p, q = self.probs, self._probs_0
        return -F.where(p > 0, p * self._log_1, 0.0) - F.where(q > 0, q * self._log_0, 0.0)

    @property
    def mean(self):
        """See Distribution."""
        return self.probs

    @property
    def variance(self):
        """See Distribution."""
        return self.probs * self._probs_0

    def cdf(self, value):
        """See Distribution."""
        x = value + self.probs * 0
        return F.where(x < 0, 0.0, F.where(x < 1, self._probs_0, 1.0))


class Categorical(Distribution):
    """Indices with the probabilities along the last axis of `probs`, float[*B, N], whose sum need
    not be 1, or with those whose logarithms are `logits` plus a number.

    Samples are int32[*size, *B]. Indices have neither mean nor variance.

    ValueError: probs must be at least 0; one of probs and logits must be given.

    >>> from tessera.distributions import Categorical
    >>> Categorical([0.0, 3.0]).sample(2).tolist()
    [1, 1]
    """

    def __init__(self, probs=None, logits=None):
        _check_one("Categorical", probs, logits)
        check("Categorical", lambda a: a >= 0, "at least 0", probs=probs)
        self._broadcast(**({"logits": logits} if probs is None else {"probs": probs}))
        if self.batch_shape == ():
            what = "logits" if probs is None else "probs"
            raise ValueError(f"Categorical: {what} must have an axis, got a number")
        if probs is None:
            self.logits = F.logsoftmax(self.logits, -1)
            self.probs = F.exp(self.logits)
        else:
            self.probs = self.probs / self.probs.sum(-1, keepdims=True)
            self.logits = F.log(self.probs)
        self.batch_shape = self.batch_shape[:-1]

    def sample(self, size=()):
        """See Distribution."""
        count = math.prod(_size(size))
        if not count:
            return F.zeros(self._shape(size), dtype="int32", device=self.probs.device)
        drawn = default_rng.multinomial(self.probs, count, replacement=True)
        axes = [drawn.ndim - 1, *range(drawn.ndim - 1)]
        return F.reshape(F.transpose(drawn, axes), self._shape(size))

    def log_prob(self, value):
        """See Distribution; `value` is int[*V]."""
        index = value + F.zeros(self.batch_shape, dtype="int32", device=self.probs.device)
        table = F.broadcast_to(self.logits, (*index.shape, self.logits.shape[-1]))
        return F.squeeze(F.gather(table, -1, F.expand_dims(index, -1)), -1)

    def entropy(self):
        """See Distribution."""
        terms = F.where(self.probs > 0, self.probs * self.logits, 0.0)
        return -terms.sum(-1)


def _size(size):
    return [size] if isinstance(size, int) else list(size)


def _check_one(name, probs, logits):
    if (probs is None) == (logits is None):
        given = "neither" if probs is None else "both"
        raise ValueError(f"{name}: one of probs and logits must be given, got {given}")
