"""Random numbers, counter-based: the same for any number of threads, eager or traced.

The state of a generator is two tensors, seed and offset; drawing advances the offset by a tensor
operation, so a traced function goes on drawing new numbers.
"""

import math
import operator
import sys

import numpy as np

from ._core import Tensor, ops
from ._known_form import export_known_form
from .device import call_when_chosen, get_default_device

__all__ = ["RNG", "exponential", "normal", "permutation", "seed", "shuffle", "uniform"]

_DEFAULT_SEED = 0x7E55E7A


def _size(size):
    if size is None:
        return []
    return [size] if isinstance(size, (int, np.integer)) else [int(n) for n in size]


def _state(name, what, value):
    """A rank 0 tensor of i64 that holds `value`; errors are those of `name`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {what} must be an int, got {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name}: {what} must have at most 64 bits, got {number}")
    return Tensor(np.int64(number), dtype="int64")


def _first_state(name, seed):
    """As `_state`, for a seed that the user gives; states of older files may hold negative ones."""
    state = _state(name, "seed", seed)
    if operator.index(seed) < 0:
        raise ValueError(f"{name}: seed must be at least 0, got {seed}")
    return state


class RNG:
    """A generator of its own.

    >>> RNG(seed=1).uniform(size=(2, 3)).shape
    (2, 3)
    """

    def __init__(self, seed=None, device=None):
        seed = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
        self._seed = Tensor(_first_state("RNG", seed), device=device)
        self._offset = Tensor(_state("RNG", "offset", 0), device=device)

    @property
    def seed(self):
        """The seed, as a number."""
        return self._seed.item()

    def reseed(self, seed):
        """Starts again from `seed`."""
        self._set(_first_state("seed", seed), _state("seed", "offset", 0))

    def state_dict(self):
        """Seed and offset."""
        return {"seed": self._seed.item(), "offset": self._offset.item()}

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken."""
        self._set(*(_state("load_state_dict", what, state[what]) for what in ("seed", "offset")))

    def _set(self, seed, offset):
        self._seed._reset(seed)
        self._offset._reset(offset)

    def draw(self, function, count):
        """`function(seed, offset)`, which uses `count` numbers."""
        result = function(self._seed, self._offset)
        self._offset._reset(self._offset + count)
        return result

    def uniform(self, low=0.0, high=1.0, size=None, dtype="float32"):
        """Numbers of [low, high)."""
        shape = _size(size)
        unit = self.draw(lambda s, o: ops.uniform(s, o, shape=shape, dtype=dtype), math.prod(shape))
        return unit if (low, high) == (0, 1) else unit * (high - low) + low

    def normal(self, mean=0.0, std=1.0, size=None, dtype="float32"):
        """Numbers of the normal distribution."""
        shape = _size(size)
        unit = self.draw(lambda s, o: ops.normal(s, o, shape=shape, dtype=dtype), math.prod(shape))
        return unit if (mean, std) == (0, 1) else unit * std + mean

    def exponential(self, scale=1.0, size=None, dtype="float32"):
        """Numbers of the exponential distribution with the mean `scale`."""
        return -ops.log1p(-self.uniform(size=size, dtype=dtype)) * scale

    def permutation(self, n, dtype=None):
        """The numbers below `n` in random order, or the rows of the tensor `n` in random order."""
        if not isinstance(n, Tensor):
            order = self._host(n).permutation(n)
            return Tensor(order, dtype=dtype or "int32", device=self._seed.device)
        if dtype is not None:
            raise ValueError(
                f"permutation: dtype must be that of the tensor, or none, got {dtype!r}"
            )
        return n[self.permutation(n.shape[0]).to(n.device)]

    def shuffle(self, inp):
        """Puts the rows of `inp` in random order, in place."""
        inp._reset(self.permutation(inp))

    def _host(self, count):
        state = self.state_dict()
        self._offset._reset(self._offset + count)
        return np.random.RandomState(
            np.random.Philox(key=state["seed"] & (2**64 - 1), counter=state["offset"])
        )


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
            self._own[name] = RNG(device=name)
            self._own[name].load_state_dict(self._start)
        return self._own[name]

    @property
    def _seed(self):
        return self.on(get_default_device())._seed

    @property
    def _offset(self):
        return self.on(get_default_device())._offset

    def _set(self, seed, offset):
        self._start = {"seed": seed.item(), "offset": offset.item()}
        for generator in self._own.values():
            generator.load_state_dict(self._start)


default_rng = _DefaultRNG(_DEFAULT_SEED)
# A traced function that made the state would take it for a constant.
call_when_chosen(default_rng.on)


def seed(seed):
    """Restarts the generator behind this module's functions, init and dropout from the int `seed`,
    at least 0 (ValueError).

    >>> seed(3)
    >>> first = uniform(size=2).tolist()
    >>> seed(3)
    >>> uniform(size=2).tolist() == first
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
        >>> uniform(2, 3, size=(2, 2)).shape
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
        ValueError: sizes must not be negative
        TypeError: size must be ints

    Example:
        >>> normal(size=5).shape
        (5,)
    """
    return default_rng.normal(mean, std, size)


def exponential(scale=1.0, size=None):
    """Numbers of the exponential distribution.

    Args:
        scale: the mean, a number or float[*size]
        size: the shape of the result, an int or several; None for one number

    Returns:
        float32[size]; another dtype: RNG.exponential

    Raises:
        ValueError: sizes must not be negative
        TypeError: size must be ints

    Example:
        >>> exponential(2.0, size=3).min().item() >= 0
        True
    """
    return default_rng.exponential(scale, size)


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
        >>> sorted(permutation(3).tolist())
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
        >>> x = Tensor([1, 2, 3])
        >>> shuffle(x)
        >>> sorted(x.tolist())
        [1, 2, 3]
    """
    default_rng.shuffle(inp)


export_known_form(sys.modules[__name__], __all__)
