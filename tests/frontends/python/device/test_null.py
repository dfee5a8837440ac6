"""The device that keeps shapes and no values: operators on it are inferred."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import SGD, Adam


@pytest.fixture(autouse=True)
def on_null():
    """New tensors lie on null0 in the test."""
    tessera.set_default_device("null0")
    yield
    tessera.set_default_device("cpu0")


def has_no_value(tensor):
    with pytest.raises(NotImplementedError, match="must be on a device that computes to have one"):
        tensor.numpy()
    return str(tensor.device) == "null0"


def test_operators_are_inferred():
    x = F.zeros((3, 4))
    results = [-x, x @ x.T, x[1:, None], F.concat([x, x]), x.sum(axis=1), x.astype("float16")]
    shapes = [(3, 4), (3, 3), (2, 1, 4), (6, 4), (3,), (3, 4)]
    assert [each.shape for each in results] == shapes
    assert all(map(has_no_value, results))
    assert results[-1].dtype == "float16" and "no value" in repr(x)


def test_errors_are_those_of_other_devices():
    with pytest.raises(ValueError, match="matmul: dimension K must match"):
        F.zeros((2, 3)) @ F.zeros((2, 3))
    with pytest.raises(ValueError, match="operands must be on one device"):
        F.zeros(3) + F.zeros(3, device="cpu0")
    with pytest.raises(NotImplementedError, match="sizes must be known without data on null0"):
        x = F.zeros(3)
        x[x > 0]


def test_new_tensors_take_no_memory():
    before = device.get_allocated_memory("null0")
    huge = [F.ones((1 << 20, 1 << 16)), F.arange(1 << 30), tessera.random.normal(size=1 << 36),
            tessera.Tensor(np.ones(5)), F.zeros((1 << 38,), device="null0")]  # fmt: skip
    assert all(each.device == "null0" for each in huge)
    assert device.get_allocated_memory("null0") == before


def test_writes_in_place_and_moves():
    x = F.zeros((3, 4))
    x[1] = 2.0
    x += 1
    x.reset_zero()
    assert x.shape == (3, 4) and has_no_value(x)
    moved = tessera.Tensor([1.0, 2.0], device="cpu0").to("null0")
    assert moved.shape == (2,) and has_no_value(moved)
    with pytest.raises(NotImplementedError, match="null0"):
        x.to("cpu0")


@pytest.mark.parametrize("optimizer", [SGD, Adam])
@pytest.mark.parametrize("traced", [False, True])
def test_a_training_step(optimizer, traced):
    net = M.Sequential(M.Conv2d(3, 8, 3), M.BatchNorm2d(8), M.ReLU(), M.Flatten(), M.Linear(288, 4))
    update, manager = optimizer(net.parameters(), lr=0.1), GradManager().attach(net.parameters())

    def step(x):
        with manager:
            loss = (F.dropout(net(x), 0.5) ** 2).mean()
            manager.backward(loss)
        update.step()
        return loss

    step = jit.trace(step) if traced else step
    for _ in range(3):
        loss = step(F.ones((2, 3, 8, 8)))
        assert loss.shape == () and has_no_value(loss)
    for parameter in net.parameters():
        assert has_no_value(parameter) and parameter.grad.shape == parameter.shape


def test_a_seed():
    tessera.seed(3)
    assert has_no_value(tessera.random.uniform(size=3))
    tessera.set_default_device("cpu0")
    tessera.seed(3)
    first = tessera.random.uniform(size=3).numpy()
    tessera.seed(3)
    assert np.array_equal(first, tessera.random.uniform(size=3).numpy())
