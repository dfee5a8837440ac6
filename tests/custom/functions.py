"""Operators written in Python, numbers for them, and how tests of them call functions."""

import numpy as np
import tessera as ts
from tessera import jit
from tessera.autodiff import GradManager

X = np.float32([[1, -2, 3], [4, 5, -6]])


@ts.custom_op("around::cube", vmap=True)
class Cube:
    def infer(self, x, *, factor):
        return x

    def forward(self, x, *, factor: float = 1.0):
        return np.float32(factor) * x**3

    def backward(self, d_out, x, *, factor):
        return 3 * np.float32(factor) * x**2 * d_out


@ts.custom_op("around::tally", states=("seen",), infer=lambda x, seen: x)
def tally(x, seen):
    seen += 1
    return x + seen


@ts.custom_op("around::jitter", random=True, training=True, infer=lambda x: x)
def jitter(x, *, rng, is_training):
    return x + rng.uniform(size=x.shape).astype(x.dtype) if is_training else x.copy()


@ts.custom_op("around::kept", data_sized=("out",), infer=lambda x: x)
def kept(x):
    return x[x[:, 0] > 0]


def gradients(function, *inputs):
    inputs = [ts.Parameter(each) for each in inputs]
    manager = GradManager().attach(inputs)
    with manager:
        manager.backward(function(*inputs))
    return [each.grad.numpy() for each in inputs]


def both(function):
    """The function, and calls of its trace."""
    return function, jit.trace(function)
