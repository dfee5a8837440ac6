"""Operators written in Python: eagerly, traced, differentiated, and their errors."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager

rng = np.random.default_rng(4)


@ts.custom_op(
    "py::scaled",
    backward=lambda d_out, *, scale: d_out * np.float32(scale),
    infer=lambda x, *, scale: x,
)
def scaled(x, *, scale: float = 2.0):
    """The element times a factor."""
    return x * np.float32(scale)


@ts.custom_op("py::softplus", outputs=("out",), hidden=("slope",))
class Softplus:
    def infer(self, x):
        return x, x

    def forward(self, x):
        return np.logaddexp(x, 0), 1 / (1 + np.exp(-x))

    def backward(self, d_out, slope):
        return d_out * slope


@ts.custom_op("py::count", states=("seen",), infer=lambda x, seen: x)
def count(x, seen):
    seen += 1
    return x + seen


@ts.custom_op("py::noisy", random=True, training=True, infer=lambda x: x)
def noisy(x, *, rng, is_training):
    return x + rng.uniform(size=x.shape).astype(x.dtype) if is_training else x.copy()


@ts.custom_op("py::kept", data_sized=("out",), infer=lambda x: x)
def kept(x):
    return x[x[:, 0] > 0]


@ts.custom_op("py::wrong", infer=lambda x, *, how: x)
def wrong(x, *, how: str = "none"):
    if how == "raise":
        raise ZeroDivisionError("nothing to divide by")
    if how == "shape":
        return x[1:]
    return (x, x) if how == "count" else x


def gradients(function, *inputs):
    inputs = [ts.Parameter(each) for each in inputs]
    manager = GradManager().attach(inputs)
    with manager:
        manager.backward(function(*inputs))
    return [each.grad.numpy() for each in inputs]


def test_forward_and_names():
    x = rng.normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_array_equal(scaled(ts.tensor(x)).numpy(), x * 2)
    np.testing.assert_array_equal(ts.ops.py.scaled(ts.tensor(x), scale=0.5).numpy(), x / 2)
    assert ts.ops.py.scaled is scaled and "The element times a factor." in scaled.__doc__
    for _ in range(2):
        np.testing.assert_array_equal(scaled(ts.tensor(x)[:, ::2]).numpy(), x[:, ::2] * 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "bool"])
def test_dtypes(dtype):
    @ts.custom_op(f"dtypes_{dtype}::same", infer=lambda x: x)
    def same(x):
        return x.copy()

    x = ts.tensor([[0, 1], [1, 0]], dtype=dtype)
    found = same(x)
    assert found.dtype == x.dtype and found.tolist() == x.tolist()


def test_gradients():
    x = rng.normal(size=(5,)).astype(np.float32)
    np.testing.assert_array_equal(
        gradients(lambda x: scaled(x, scale=3.0).sum(), x)[0], np.full(5, 3, np.float32)
    )
    (found,) = gradients(lambda x: Softplus(x).sum(), x)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-x)), rtol=1e-6)


def test_traced():
    step = ts.jit.trace(lambda x: scaled(F.relu(x), scale=4.0) + 1)
    for _ in range(3):
        x = rng.normal(size=(100, 100)).astype(np.float32)
        np.testing.assert_array_equal(step(ts.tensor(x)).numpy(), np.maximum(x, 0) * 4 + 1)

    @ts.jit.trace
    def train(x):
        manager = GradManager().attach([x])
        with manager:
            manager.backward(Softplus(x * 2).sum())
        return x.grad

    x = rng.normal(size=(5,)).astype(np.float32)
    for _ in range(2):
        np.testing.assert_allclose(
            train(ts.Parameter(x)).numpy(), 2 / (1 + np.exp(-2 * x)), rtol=1e-6
        )


def test_states_random_and_sizes():
    seen = F.zeros((2,))
    for n in (1, 2):
        assert count(F.zeros((2,)), seen).tolist() == [n, n]
    assert seen.tolist() == [2, 2]
    ts.seed(7)
    first = noisy(F.zeros((8,)), is_training=True).tolist()
    ts.seed(7)
    assert noisy(F.zeros((8,)), is_training=True).tolist() == first
    assert noisy(F.zeros((8,))).tolist() == [0] * 8
    x = np.float32([[1, 2], [-1, 5], [3, 4]])
    assert kept(ts.tensor(x)).tolist() == [[1, 2], [3, 4]]
    step = ts.jit.trace(lambda x: kept(x).sum(0))
    for sign in (1, -1):
        np.testing.assert_array_equal(
            step(ts.tensor(sign * x)).numpy(), (sign * x)[(sign * x)[:, 0] > 0].sum(0)
        )


def test_faults():
    x = F.ones((3,))
    for function in (wrong, ts.jit.trace(lambda x, how: wrong(x, how))):
        with pytest.raises(RuntimeError, match="py.wrong: ZeroDivisionError: nothing to divide by"):
            function(x, "raise").numpy()
        with pytest.raises(
            (RuntimeError, ValueError), match=r"output out must have shape \(3,\), got \(2,\)"
        ):
            function(x, "shape").numpy()
    with pytest.raises((RuntimeError, ValueError), match="forward must give 1 values, got 2"):
        wrong(x, "count").numpy()
    assert wrong(x).tolist() == [1, 1, 1]


def test_bad_declarations():
    with pytest.raises(
        ValueError, match="custom_op: names of operators must differ, got 'py.scaled' twice"
    ):
        ts.custom_op("py::scaled", infer=lambda x: x)(lambda x: x)
    with pytest.raises(ValueError, match="custom_op: name must be .*::name"):
        ts.custom_op("noname", infer=lambda x: x)(lambda x: x)
    with pytest.raises(ValueError, match="function infer must be given"):
        ts.custom_op("py::none")(lambda x: x)
    with pytest.raises(ValueError, match="backward must read values among .*, got other"):
        ts.custom_op("py::reads", infer=lambda x: x, backward=lambda d_out, other: d_out)(
            lambda x: x
        )
    with pytest.raises(ValueError, match="parameter what must be an int, float, bool, str"):

        @ts.custom_op("py::kinds", infer=lambda x: x)
        def kinds(x, *, what: dict):
            return x
