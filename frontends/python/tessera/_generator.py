"""A generator of random numbers, whose state is two tensors."""

import math
import operator

import numpy as np

from ._core import Tensor, ops
from ._variates import Variates
from ._variates import check_positive as _check_positive
from ._variates import check_size as _check_size
from ._variates import size_of as _size


def _int64(name, what, value):
    """`value` as an int of 64 bits; errors are those of `name`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {what} must be an int, got {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name}: {what} must have at most 64 bits, got {number}")
    return number


def _first_state(name, seed):
    """As `_int64`, for a seed that the user gives; states of older files may hold negative ones."""
    number = _int64(name, "seed", seed)
    if number < 0:
        raise ValueError(f"{name}: seed must be at least 0, got {seed}")
    return number


def _tensor(number, device):
    return Tensor(np.int64(number), dtype="int64", device=device)


def _last_below(low, high, dtype):
    """Below `high` in the dtype: rounding takes some numbers of [low, high) to the end."""
    digits = {"float64": 53, "float32": 24, "float16": 11}.get(dtype.name, 8)
    if high == 0:
        return low * 2.0**-digits
    return high - abs(high) * 2.0 ** (1 - digits if high < 0 else -digits)  # both sides of 2**n


class RNG(Variates):
    """A generator of its own.

    >>> import tessera as ts
    >>> ts.random.RNG(seed=1).uniform(size=(2, 3)).shape
    (2, 3)
    """

    def __init__(self, seed=None, device=None):
        seed = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
        self._seed = _tensor(_first_state("RNG", seed), device)
        self._offset = _tensor(0, device)

    @property
    def seed(self):
        """The seed, as a number."""
        return self._seed.item()

    def reseed(self, seed):
        """Starts again from `seed`."""
        self._set(_first_state("seed", seed), 0)

    def state_dict(self):
        """Seed and offset."""
        return {"seed": self._seed.item(), "offset": self._offset.item()}

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken."""
        self._set(*(_int64("load_state_dict", what, state[what]) for what in ("seed", "offset")))

    def _set(self, seed, offset):
        for tensor, number in ((self._seed, seed), (self._offset, offset)):
            tensor._reset(_tensor(number, tensor.device))

    def draw(self, function, count):
        """`function(seed, offset)`, which uses `count` numbers."""
        result = function(self._seed, self._offset)
        self._offset._reset(self._offset + count)
        return result

    def uniform(self, low=0.0, high=1.0, size=None, dtype="float32"):
        """Numbers of [low, high)."""
        shape = _size(size)
        unit = self.draw(lambda s, o: ops.uniform(s, o, shape=shape, dtype=dtype), math.prod(shape))
        isunit, isnarrow = (low, high) == (0, 1), unit.dtype.itemsize == 2
        numbers = unit if isunit else unit * (high - low) + low
        if (isunit and not isnarrow) or isinstance(low < high, Tensor) or not low < high:
            return numbers
        return ops.minimum(numbers, _last_below(low, high, unit.dtype))

    def normal(self, mean=0.0, std=1.0, size=None, dtype="float32"):
        """Numbers of the normal distribution."""
        _check_size("normal", std=std)
        shape = _size(size)
        unit = self.draw(lambda s, o: ops.normal(s, o, shape=shape, dtype=dtype), math.prod(shape))
        return unit if (mean, std) == (0, 1) else unit * std + mean

    def exponential(self, scale=None, size=None, dtype="float32", *, rate=None):
        """Numbers of the exponential distribution with the mean `scale`, or 1 / `rate`."""
        if scale is not None and rate is not None:
            raise ValueError(
                f"exponential: scale and rate must not be given together, got {scale} and {rate}"
            )
        _check_size("exponential", scale=scale)
        _check_positive("exponential", rate=rate)
        unit = -ops.log1p(-self.uniform(size=size, dtype=dtype))
        if rate is not None:
            return unit / rate
        return unit if scale is None else unit * scale

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
