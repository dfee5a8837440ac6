"""A network with its sizes, its inputs and its weights, which every framework builds for itself."""

import math
import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Input:
    """An array of random floats, of whole numbers below `below`, or of bytes."""

    shape: tuple
    below: int = 0
    dtype: str = ""  # "uint8" or "int8"

    def array(self, seed):
        """Numbers that the seed alone decides."""
        random = np.random.RandomState(seed)
        if self.dtype:
            return bytes_of(random.standard_normal(self.shape), self.dtype)
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
    weights: str = ""  # a form of WEIGHT_FORMS, where only those of linear layers are integers

    def arrays(self):
        """The inputs."""
        return [each.array(seed) for seed, each in enumerate(self.inputs)]

    @property
    def key(self):
        """A name for files."""
        text = f"{self.kind} {self.options} {self.inputs} {self.weights}"
        return f"{self.kind}-{zlib.crc32(text.encode()):08x}"


# How a linear layer has its weight: arguments of WeightOnlyLinear.from_float_module.
WEIGHT_FORMS = {
    "int8": {"bits": 8},
    "int4": {"bits": 4, "group": 32},
    "int4 by int8": {"bits": 4, "group": 32, "activations": "int8"},
}

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


def bytes_of(normal, dtype):
    """Numbers of a normal distribution as bytes around the middle of the dtype's range.

    Few pairs of products of such bytes leave int16, in which ONNX Runtime adds them up where the
    processor has no VNNI.
    """
    limits = np.iinfo(dtype)
    middle = (limits.max + limits.min + 1) // 2
    return np.clip(np.round(normal * 28) + middle, limits.min, limits.max).astype(dtype)


def integer_matrix(width):
    """int8[K, N], the constant operand of an integer product."""
    return bytes_of(weight("matrix", (width, width)) * math.sqrt(width), "int8")


def weight_of_form(floats, bits, group=0):
    """(int8[O, I], float32[O, G] or [O]) of a weight as `WeightOnlyLinear` has it, whose depth is
    whole groups.
    """
    parts = floats.reshape(len(floats), -1, group or floats.shape[1])
    scale = np.abs(parts).max(-1, keepdims=True) / np.float32(127 if bits == 8 else 7)
    ratio = parts / scale
    numbers = np.trunc(ratio + np.copysign(np.float32(0.49999997), ratio)).astype(np.int8)
    return numbers.reshape(floats.shape), scale[..., 0] if group else scale.reshape(-1)


def integer_layer(x):
    """A linear layer for x as int8[K, N], the scale of a sum and the bias, each float32[N], and the
    step between two numbers of x.
    """
    width = x.shape[1]
    numbers = weight("weight", (width, width))
    steps, step = np.abs(numbers).max(1) / 127, float(np.abs(x).max() / 127)
    rounded = np.round(numbers / steps[:, None]).astype(np.int8)
    return np.ascontiguousarray(rounded.T), steps * np.float32(step), weight("bias", (width,)), step
