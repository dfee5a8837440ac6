"""Random numbers made of uniform and normal ones: what a generator draws beside these.

They are made in float64 and rounded once. Where an attempt may be refused, a loop draws for all
elements until each has its number, so nothing is left to chance but the number of trips.
"""

import math

import numpy as np

from . import _core
from ._core import Tensor, ops
from ._gamma import log_gamma

_WORD = 31  # bits of a word of randint: its product with a range of 2^32 has 63


def size_of(size):
    """A shape as a list."""
    if size is None:
        return []
    return [size] if isinstance(size, (int, np.integer)) else [int(n) for n in size]


class Variates:
    """Methods of a generator that draw by `draw(function, count)`."""

    def gamma(self, shape, scale=1.0, size=None, dtype="float32"):
        """Numbers of the gamma distribution."""
        check_positive("gamma", shape=shape, scale=scale)
        alpha, theta = self._parameters(size, shape, scale)
        theta = ops.where(theta > 0, theta, math.nan)
        return ops.astype(ops.exp(self._log_gamma(alpha)) * theta, dtype)

    def beta(self, alpha, beta, size=None, dtype="float32"):
        """Numbers of the beta distribution, x / (x + y) of two of gamma distributions."""
        check_positive("beta", alpha=alpha, beta=beta)
        a, b = self._parameters(size, alpha, beta)
        return ops.astype(ops.sigmoid(self._log_gamma(a) - self._log_gamma(b)), dtype)

    def poisson(self, lam, size=None, dtype="float32"):
        """Numbers of the Poisson distribution."""
        check_size("poisson", lam=lam)
        (mean,) = self._parameters(size, lam)
        is_large = mean >= 10
        few = self._search_poisson(ops.where(is_large, 0.0, mean))
        return ops.astype(ops.where(is_large, self._reject_poisson(mean), few), dtype)

    def bernoulli(self, p, size=None, dtype="float32"):
        """1 with the probability `p`, else 0."""
        if not isinstance(p, Tensor) and not _all_within(p, 0, 1):
            raise ValueError(f"bernoulli: p must be in [0, 1], got {p!r}")
        (chance,) = self._parameters(size, p)
        return ops.astype(self._unit(chance.shape) < chance, dtype)

    def randint(self, low, high=None, size=None, dtype="int32"):
        """Integers of [low, high), or of [0, low) without `high`."""
        low, high = (0, low) if high is None else (low, high)
        count = high - low
        if not 0 < count <= 2**32:
            raise ValueError(f"randint: high - low must be in [1, 2^32], got {low} and {high}")
        shape, total = size_of(size), 0
        # floor(count * w / 2^93) of a number w of three words, the least word first.
        for _ in range(3):
            word = ops.astype(self._unit(shape) * 2.0**_WORD, "int64")
            total = ops.right_shift(word * count + total, _WORD)
        return ops.astype(total + low, dtype)

    def multinomial(self, input, num_samples, replacement=False):
        """Indices along the last axis, with the probabilities that its weights have."""
        classes = input.shape[-1]
        if num_samples < 1 or (not replacement and num_samples > classes):
            most = "" if replacement else f", at most {classes} without replacement"
            raise ValueError(
                f"multinomial: num_samples must be at least 1{most}, got {num_samples}"
            )
        wide = ops.astype(input.detach(), "float64")
        weights = ops.log(ops.where(wide > 0, wide, 0.0))
        if replacement:
            return ops.argmax(self._races(ops.expand_dims(weights, -2), num_samples), -1)
        order = ops.sort(self._races(weights), True)[1]
        return order[..., :num_samples]

    def choice(self, a, size=None, replace=True, p=None):
        """Numbers below the int `a`, or rows of the tensor `a`."""
        count, shape = (a.shape[0] if isinstance(a, Tensor) else a), size_of(size)
        number = math.prod(shape)
        if count < 1 or (not replace and number > count):
            least = 1 if replace else max(1, number)
            raise ValueError(f"choice: a must have at least {least} elements, got {count}")
        index = self._chosen(count, number, replace, p) if number else self.randint(1, size=0)
        index = ops.reshape(index, shape)
        return a[index.to(a.device)] if isinstance(a, Tensor) else index

    def _chosen(self, count, number, replace, p):
        if p is None and replace:
            return self.randint(count, size=number)
        if p is None:
            return ops.sort(self._unit([count]))[1][:number]
        if not isinstance(p, Tensor) and not (_all_within(p, 0, math.inf) and np.any(p)):
            raise ValueError(f"choice: p must be at least 0 and somewhere above it, got {p!r}")
        weights = self._as_wide(p)
        if tuple(weights.shape) != (count,):
            raise ValueError(f"choice: p must have shape [{count}], got {list(weights.shape)}")
        return self.multinomial(weights, number, replace)

    def _unit(self, shape):
        """Numbers of [0, 1) in float64."""
        draw = lambda s, o: ops.uniform(s, o, shape=list(shape), dtype="float64")  # noqa: E731
        return self.draw(draw, math.prod(shape))

    def _as_wide(self, value):
        if isinstance(value, Tensor):
            return ops.astype(value.detach(), "float64")
        return Tensor(np.asarray(value), dtype="float64", device=self._seed.device)

    def _parameters(self, size, *values):
        """In float64, of the shape `size`, then that to which they broadcast."""
        wide = list(map(self._as_wide, values))
        shape = [*size_of(size), *sum(wide[1:], wide[0]).shape]
        return [ops.broadcast_to(each, shape) for each in wide]

    def _races(self, log_weights, rows=None):
        """Keys of which the largest is of class i with the probability that its weight has: E. J.
        Gumbel, 1954. With `rows` so many for each row of weights.
        """
        shape = list(log_weights.shape)
        if rows is not None:
            shape[-2] = rows
        return log_weights - ops.log(-ops.log(self._unit(shape)))

    def _log_gamma(self, alpha):
        """Logarithms of gamma(alpha, 1): G. Marsaglia, W. W. Tsang: A Simple Method for Generating
        Gamma Variables, 2000. Below 1 a number of alpha + 1, times u^(1 / alpha). An attempt is
        taken with a probability of at least 0.95. NaN where alpha is no positive finite number.
        """
        d = ops.where(alpha < 1, alpha + 1, alpha) - 1 / 3
        slope, shape = ops.rsqrt(9 * d), alpha.shape

        def _attempt(is_open, log_v):
            normal = lambda s, o: ops.normal(s, o, shape=list(shape), dtype="float64")  # noqa: E731
            x, u = self.draw(normal, math.prod(shape)), self._unit(shape)
            root = 1 + slope * x
            new = 3 * ops.log(ops.maximum(root, 1e-300))
            limit = 0.5 * x * x + d * (1 - root * root * root + new)
            is_new = ops.logical_and(is_open, ops.logical_and(root > 0, ops.log1p(-u) < limit))
            return ops.logical_xor(is_open, is_new), ops.where(is_new, new, log_v)

        is_open = ops.logical_and(alpha > 0, alpha < math.inf)
        _, log_v = _while_loop(_some_open, _attempt, is_open, alpha * math.nan)
        boost = ops.log1p(-self._unit(shape)) / alpha
        return ops.log(d) + log_v + ops.where(alpha < 1, boost, 0.0)

    def _search_poisson(self, mean):
        """Inversion, by a walk along the sums of probabilities, for means below 10. What is beyond
        a probability of 2^-60 is less than the spacing of u.
        """
        u, first = self._unit(mean.shape), ops.exp(-mean)

        def _is_open(k, term, total):
            return _any(ops.logical_and(u >= total, term > 2.0**-60))

        def _next(k, term, total):
            goes_on = ops.logical_and(u >= total, term > 2.0**-60)
            k = ops.where(goes_on, k + 1, k)
            term = ops.where(goes_on, term * mean / ops.maximum(k, 1.0), term)
            return k, term, ops.where(goes_on, total + term, total)

        k = ops.where(mean >= 0, mean * 0, math.nan)
        return _while_loop(_is_open, _next, k, first, first)[0]

    def _reject_poisson(self, mean):
        """PTRS of W. Hoermann: The Transformed Rejection Method for Generating Poisson Random
        Variables, 1993, for means of at least 10; an attempt is taken with a probability above 0.7.
        """
        is_open = ops.logical_and(mean >= 10, mean < math.inf)
        mean = ops.where(is_open, mean, 10.0)
        b = 0.931 + 2.53 * ops.sqrt(mean)
        a = -0.059 + 0.02483 * b
        scale, log_mean = ops.log(1.1239 + 1.1328 / (b - 3.4)), ops.log(mean)

        def _attempt(is_open, result):
            u, v = self._unit(mean.shape) - 0.5, 1 - self._unit(mean.shape)
            room = 0.5 - ops.abs(u)
            k = ops.floor((2 * a / room + b) * u + mean + 0.43)
            density = k * log_mean - mean - log_gamma(ops.maximum(k, 0.0) + 1)
            fits = ops.log(v) + scale - ops.log(a / (room * room) + b) <= density
            is_new = ops.logical_and(is_open, ops.logical_and(k >= 0, fits))
            return ops.logical_xor(is_open, is_new), ops.where(is_new, k, result)

        return _while_loop(_some_open, _attempt, is_open, mean * math.nan)[1]


def _while_loop(cond, body, *carried):
    """The loop of `functional.while_loop` over tensors; `functional` itself draws numbers here."""
    return _core.while_loop(lambda now: cond(*now), lambda now: [*body(*now)], [*carried], None)


def _any(flags):
    return ops.sum(ops.astype(flags, "int32")) > 0


def _some_open(is_open, _):
    return _any(is_open)


def _all_within(value, low, high):
    array = np.asarray(value)
    return bool(((array >= low) & (array <= high)).all())


def check_size(name, **parameters):
    """ValueError where a parameter that is no tensor is below 0; of tensors it is data."""
    for what, value in parameters.items():
        if value is None or isinstance(value, Tensor):
            continue
        if not (np.asarray(value) >= 0).all():
            raise ValueError(f"{name}: {what} must be at least 0, got {value!r}")


def check_positive(name, **parameters):
    """ValueError where a parameter that is no tensor is not positive; of tensors it is data."""
    for what, value in parameters.items():
        if value is None or isinstance(value, Tensor):
            continue
        if not (np.asarray(value) > 0).all():
            raise ValueError(f"{name}: {what} must be positive, got {value!r}")
