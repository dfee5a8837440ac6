"""DTR for the tests of a file, and what they count."""

import gc

import numpy as np
import pytest
import tessera
from tessera import dtr

NAMES = "eviction_threshold", "evictee_minimum_size", "enable_sqrt_sampling"


@pytest.fixture(autouse=True)
def dropping():
    """DTR, of tensors of any size, which drops nothing by itself."""
    gc.collect()
    before = {name: getattr(dtr, name) for name in NAMES}
    dtr.evictee_minimum_size = 1
    dtr.enable()
    yield
    dtr.disable()
    for name, value in before.items():
        setattr(dtr, name, value)


def numbers(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return tessera.Tensor(values.astype(np.float32))


def counted(function):
    """The result of a call, and how the counts changed meanwhile."""
    before = dtr.stats()
    result = function()
    return result, {name: count - before[name] for name, count in dtr.stats().items()}
