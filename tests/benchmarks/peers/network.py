"""A network with its sizes, its inputs and its weights, which every framework builds for itself."""

import math
import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Input:
    """An array of random floats, or of whole numbers below `below`."""

    shape: tuple
    below: int = 0

    def array(self, seed):
        """Numbers that the seed alone decides."""
        random = np.random.RandomState(seed)
        if self.below:
            return random.randint(0, self.below, self.shape).astype(np.int32)
        return random.standard_normal(self.shape).astype(np.float32)


@dataclass(frozen=True)
class Network:
    """A row's network. `kind` names the builder that a framework has, `options` are its arguments.

    Networks that are trained have a loss, of which the last input is the target.
    """

    kind: str
    options: tuple = ()
    inputs: tuple = ()
    loss: str = ""  # "cross_entropy" or "square"
    optimizer: str = "sgd"  # with momentum, or "adam"
    dtype: str = "float32"
    multiply_adds: float = 0  # of a call; 0: nobody has counted them
    bytes_read: float = 0  # of a call, where they do not stay in a cache

    def arrays(self):
        """The inputs."""
        return [each.array(seed) for seed, each in enumerate(self.inputs)]

    @property
    def key(self):
        """A name for files."""
        text = f"{self.kind} {self.options} {self.inputs}"
        return f"{self.kind}-{zlib.crc32(text.encode()):08x}"


WEIGHTS = {}  # by name, where they were written before: a mapping that reads what it is asked for


def weight(name, shape):
    """Numbers for a parameter or statistic, the same in all frameworks that name it alike."""
    if name in WEIGHTS:
        return WEIGHTS[name].reshape(shape)
    last = name.rsplit(".", 1)[-1]
    if last == "running_mean":
        return np.zeros(shape, np.float32)
    if last == "running_var" or (last == "weight" and len(shape) == 1):
        return np.ones(shape, np.float32)
    if last.startswith("bias"):
        return np.full(shape, 0.01, np.float32)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    numbers = random.standard_normal(shape, np.float32)
    numbers *= math.sqrt(1 / math.prod(shape[1:]))
    return numbers


def integer_layer(x):
    """A linear layer for x as int8[K, N], the scale of a sum and the bias, each float32[N], and the
    step between two numbers of x.
    """
    width = x.shape[1]
    numbers = weight("weight", (width, width))
    steps, step = np.abs(numbers).max(1) / 127, float(np.abs(x).max() / 127)
    rounded = np.round(numbers / steps[:, None]).astype(np.int8)
    return np.ascontiguousarray(rounded.T), steps * np.float32(step), weight("bias", (width,)), step
