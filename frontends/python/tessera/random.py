"""Random numbers, counter-based: the same for any number of threads, eager or traced.

The state of a generator is two tensors, seed and offset; drawing advances the offset by a tensor
operation, so a traced function goes on drawing new numbers.
"""

import sys

from ._core import Tensor  # noqa: F401  # the examples have it
from ._generator import RNG
from ._known_form import export_known_form
from ._listed import listed as _listed
from .device import call_when_chosen, get_default_device

__all__ = [
    "RNG",
    "bernoulli",
    "beta",
    "choice",
    "exponential",
    "gamma",
    "multinomial",
    "normal",
    "permutation",
    "poisson",
    "randint",
    "seed",
    "shuffle",
    "uniform",
]

__dir__ = _listed(*__all__)

_DEFAULT_SEED = 0x7E55E7A


class _DefaultRNG(RNG):
    """The generator behind this module's functions: one for each device, with one seed, so that
    every device draws the same numbers. It draws on the default device.
    """

    def __init__(self, seed):
        self._start, self._own = {"seed": seed, "offset": 0}, {}

    def on(self, device):
        """The generator of a device."""
        name = device.physical_name
        if name not in self._own:
            self._own[name] = RNG(seed=0, device=name)
            self._own[name].load_state_dict(self._start)
        return self._own[name]

    @property
    def _seed(self):
        return self.on(get_default_device())._seed

    @property
    def _offset(self):
        return self.on(get_default_device())._offset

    def _set(self, seed, offset):
        self._start = {"seed": seed, "offset": offset}
        for generator in self._own.values():
            generator.load_state_dict(self._start)


default_rng = _DefaultRNG(_DEFAULT_SEED)
# A traced function that made the state would take it for a constant.
call_when_chosen(default_rng.on)


def seed(seed):
    """Restarts the generator behind this module's functions, init and dropout from the int `seed`,
    at least 0 (ValueError).

    >>> import tessera as ts
    >>> ts.random.seed(3)
    >>> first = ts.random.uniform(size=2).tolist()
    >>> ts.random.seed(3)
    >>> ts.random.uniform(size=2).tolist() == first
    True
    """
    default_rng.reseed(seed)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers of [low, high).

    Args:
        low, high: numbers
        size: the shape of the result, an int or several; None for one number

    Returns:
        float32[size]; another dtype: RNG.uniform

    Raises:
        ValueError: sizes must not be negative
        TypeError: size must be ints

    Example:
        >>> import tessera as ts
        >>> ts.random.uniform(2, 3, size=(2, 2)).shape
        (2, 2)
    """
    return default_rng.uniform(low, high, size)


def normal(mean=0.0, std=1.0, size=None):
    """Numbers of the normal distribution.

    Args:
        mean, std: numbers
        size: the shape of the result, an int or several; None for one number

    Returns:
        float32[size]; another dtype: RNG.normal

    Raises:
        ValueError: std and sizes must not be negative
        TypeError: size must be ints

    Example:
        >>> import tessera as ts
        >>> ts.random.normal(size=5).shape
        (5,)
    """
    return default_rng.normal(mean, std, size)


def exponential(scale=None, size=None, *, rate=None):
    """Numbers of the exponential distribution, by default with the mean 1.

    The first argument is the scale, as in NumPy; MegEngine's main branch has the rate there.

    Args:
        scale: the mean, a number or float[*size]
        size: the shape of the result, an int or several; None for one number
        rate: 1 / scale, in its place

    Returns:
        float32[size]; another dtype: RNG.exponential

    Raises:
        ValueError: scale and sizes must not be negative, rate be positive; scale and rate must not
            be given together
        TypeError: size must be ints

    Example:
        >>> import tessera as ts
        >>> ts.random.exponential(rate=0.5, size=3).min().item() >= 0
        True
    """
    return default_rng.exponential(scale, size, rate=rate)


def gamma(shape, scale=1.0, size=None):
    """Numbers of the gamma distribution: G. Marsaglia, W. W. Tsang, 2000.

    Args:
        shape, scale: positive numbers or float[*B]; NaN where a tensor's element is neither
        size: the shape of the result before the axes of B, an int or several

    Returns:
        float32[*size, *B]; another dtype: RNG.gamma

    Raises:
        ValueError: numbers must be positive; shape and scale must broadcast

    Example:
        >>> import tessera as ts
        >>> ts.random.gamma(ts.Tensor([1.0, 2.0]), size=3).shape
        (3, 2)
    """
    return default_rng.gamma(shape, scale, size)


def beta(alpha, beta, size=None):
    """Numbers of the beta distribution.

    Args:
        alpha, beta: positive numbers or float[*B]; NaN where a tensor's element is neither
        size: the shape of the result before the axes of B, an int or several

    Returns:
        float32[*size, *B]; another dtype: RNG.beta

    Raises:
        ValueError: numbers must be positive; alpha and beta must broadcast

    Example:
        >>> import tessera as ts
        >>> ts.random.beta(2, 1, size=3).max().item() <= 1
        True
    """
    return default_rng.beta(alpha, beta, size)


def poisson(lam, size=None):
    """Numbers of the Poisson distribution: by inversion below 10, else W. Hoermann's PTRS, 1993.

    Args:
        lam: the mean, a number or float[*B] of at least 0; NaN where a tensor's element is not
        size: the shape of the result before the axes of B, an int or several

    Returns:
        float32[*size, *B]; another dtype: RNG.poisson

    Raises:
        ValueError: a number must be at least 0

    Example:
        >>> import tessera as ts
        >>> ts.random.poisson(0.0, size=2).tolist()
        [0.0, 0.0]
    """
    return default_rng.poisson(lam, size)


def bernoulli(p, size=None):
    """1 with the probability `p`, else 0.

    Args:
        p: a number or float[*B] of [0, 1]
        size: the shape of the result before the axes of B, an int or several

    Returns:
        float32[*size, *B]; another dtype: RNG.bernoulli

    Raises:
        ValueError: a number must be in [0, 1]

    Example:
        >>> import tessera as ts
        >>> ts.random.bernoulli(ts.Tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    return default_rng.bernoulli(p, size)


def randint(low, high=None, size=None, dtype="int32"):
    """Integers of [low, high), or of [0, low) without `high`; each as likely to 2^-93.

    Args:
        low, high: ints, at most 2^32 apart
        size: the shape of the result, an int or several; None for one number
        dtype: of integers that hold the numbers

    Returns:
        int32[size] or of the given dtype

    Raises:
        ValueError: high - low must be in [1, 2^32]

    Example:
        >>> import tessera as ts
        >>> ts.random.randint(3, 4, size=2).tolist()
        [3, 3]
    """
    return default_rng.randint(low, high, size, dtype)


def multinomial(input, num_samples, replacement=False):
    """Indices along the last axis, with the probabilities that its weights have.

    Args:
        input: float[*B, N] of any float dtype; their sum need not be 1, and negative ones and NaN
            count as 0
        num_samples: an int
        replacement: whether an index may come again; without, weights of 0 come last

    Returns:
        int32[*B, num_samples]

    Raises:
        ValueError: num_samples must be at least 1, and at most N without replacement
        TypeError: input must be a tensor

    Example:
        >>> import tessera as ts
        >>> ts.random.multinomial(ts.Tensor([0.0, 2.0]), 2, replacement=True).tolist()
        [1, 1]
    """
    return default_rng.multinomial(input, num_samples, replacement)


def choice(a, size=None, replace=True, p=None):
    """Numbers below the int `a`, or rows of the tensor `a`, in random order.

    Args:
        a: an int, or any[N, *D]
        size: how many, an int or several; None for one
        replace: whether one may come again
        p: their weights, float[N]; None: all are as likely

    Returns:
        int32[size], or any[*size, *D] of the dtype of a

    Raises:
        ValueError: a must have an element, without replacement as many as are chosen; p must have
            the shape [N], and its numbers be at least 0 and somewhere above it

    Example:
        >>> import tessera as ts
        >>> sorted(ts.random.choice(3, size=3, replace=False).tolist())
        [0, 1, 2]
    """
    return default_rng.choice(a, size, replace, p)


def permutation(n, dtype=None):
    """The numbers below `n` in random order, or the rows of the tensor `n` in random order.

    Args:
        n: an int, or any[N, *D]
        dtype: the dtype of the numbers; None: int32

    Returns:
        int32[n] or of the given dtype; any[N, *D], of the dtype of n

    Raises:
        ValueError: n must not be negative; a tensor's rows keep their dtype
        TypeError: n must be an int or a tensor

    Example:
        >>> import tessera as ts
        >>> sorted(ts.random.permutation(3).tolist())
        [0, 1, 2]
    """
    return default_rng.permutation(n, dtype)


def shuffle(inp):
    """Puts the rows of `inp` in random order, in place.

    Args:
        inp: any[N, *D]

    Returns:
        None; inp keeps its shape and dtype

    Raises:
        TypeError: inp must be a tensor

    Example:
        >>> import tessera as ts
        >>> x = ts.Tensor([1, 2, 3])
        >>> ts.random.shuffle(x)
        >>> sorted(x.tolist())
        [1, 2, 3]
    """
    default_rng.shuffle(inp)


export_known_form(sys.modules[__name__], __all__)
