"""Norms and normalisations of numbers whose squares the dtype does not hold: right, or NaN."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import floats

SCALES = [1e-30, 1e-20, 1.0, 1e18, 1e25, 1e36]


def data(scale, *shape):
    return (floats(*shape) * scale).astype("float32")


NORMS = {
    "norm": (lambda x: F.norm(x, axis=1), lambda x: np.linalg.norm(x, axis=1)),
    "norm of all": (F.norm, np.linalg.norm),
    "norm 3": (lambda x: F.norm(x, 3.0, axis=1), lambda x: np.linalg.norm(x, 3, axis=1)),
    "std": (lambda x: F.std(x, axis=1), lambda x: np.std(x, axis=1)),
    "normalize": (
        lambda x: F.normalize(x, axis=1, eps=0.0),
        lambda x: x / np.linalg.norm(x, axis=1, keepdims=True),
    ),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("traced", [False, True])
def test_roots_of_squares_are_those_of_float64(name, scale, traced):
    ours, theirs = NORMS[name]
    run = jit.trace(ours, symbolic=True) if traced else ours
    x = data(scale, 5, 300)
    expected = theirs(x.astype("float64"))
    np.testing.assert_allclose(run(tessera.Tensor(x)).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_gradients_of_norms(scale):
    value = data(scale, 4, 30)
    x = tessera.Parameter(value)
    manager = GradManager().attach(x)
    with manager:
        manager.backward(F.norm(x, axis=1).sum())
    wide = value.astype("float64")
    expected = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


NORMALISATIONS = {
    "layer": lambda x: F.layer_norm(x, (16,), False),
    "two axes": lambda x: F.layer_norm(x, (6, 16), False),
    "general": lambda x: F.general_norm(x, [1], False),
    "rms": lambda x: tessera._core.ops.rms_norm(x),
    "group": lambda x: F.group_norm(x, 2, False),
    "instance": lambda x: F.instance_norm(x, False),
    "batch": lambda x: F.batch_norm(x, training=True),
}


def reference(name, x):
    axes = {"two axes": (1, 2), "general": 1, "batch": (0, 2)}.get(name, 2)
    if name == "group":
        x = x.reshape(4, 2, 48)
    mean = 0 if name == "rms" else x.mean(axis=axes, keepdims=True)
    normal = (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + 1e-5)
    return normal.reshape(4, 6, 16)


@pytest.mark.parametrize("scale", [1.0, 1e10, 1e18])
@pytest.mark.parametrize("name", NORMALISATIONS)
def test_normalisations_of_large_values(name, scale):
    x = data(scale, 4, 6, 16)
    ours = NORMALISATIONS[name](tessera.Tensor(x)).numpy()
    np.testing.assert_allclose(ours, reference(name, x.astype("float64")), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", NORMALISATIONS)
def test_a_variance_beyond_the_dtype_is_nan_and_not_zero(name, traced):
    """Also for the gradient: nothing trains on zeros that nobody asked for."""
    x = tessera.Parameter(data(1e30, 4, 6, 16))
    manager = GradManager().attach(x)

    def step(x):
        with manager:
            result = NORMALISATIONS[name](x)
            manager.backward((result * result).sum())
        return result

    run = jit.trace(step) if traced else step
    for _ in range(2):
        x.grad = None
        assert np.isnan(run(x).numpy()).all()
        assert np.isnan(x.grad.numpy()).all()


def test_running_statistics_beyond_the_dtype_give_nan():
    x = tessera.Tensor(data(1.0, 4, 6, 16))
    inf = tessera.Tensor(np.full((1, 6, 1), np.inf, "float32"))
    zeros = F.zeros((1, 6, 1))
    result = F.batch_norm(x, zeros, inf, training=False)
    assert np.isnan(result.numpy()).all()
