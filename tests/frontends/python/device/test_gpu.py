"""Programs on gpu0: the bits of the host, eagerly and traced."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit, optimizer
from tessera.autodiff import GradManager

from tests.support.helper import default_device, flat, floats, same_bits
from tests.support.networks import Net

GPU = "gpu0"

pytestmark = pytest.mark.skipif(
    not device.is_cuda_available(), reason="no GPU: " + tessera._core.doctor()["gpu"]
)


def on_both(function):
    """The results of `function` on the host and on the GPU, where new tensors lie on each."""
    results = []
    for name in ("cpu0", GPU):
        with default_device(name):
            results.append(function())
    assert all(each.device == GPU for each in flat(results[1]))
    assert same_bits(*map(flat, results))


def test_the_driver_describes_it():
    facts = device.get_cuda_device_property(0)
    assert facts.name in tessera._core.doctor()["gpu"]
    assert facts.total_memory > 1 << 30
    assert device.get_cuda_compute_capability(0) == 10 * facts.major + facts.minor
    assert device.Device(GPU).target == f"sm_{facts.major}{facts.minor}"
    assert device.get_cuda_driver_version() >= 12040


def test_values_come_and_go():
    x = tessera.tensor(floats(5, 7), device=GPU)
    assert x.device == GPU
    np.testing.assert_array_equal(x.numpy(), floats(5, 7))
    np.testing.assert_array_equal(x.to("cpu0").to(GPU).numpy(), floats(5, 7))
    assert device.get_allocated_memory(GPU) > 0


@pytest.mark.parametrize("is_traced", [False, True])
def test_operators_have_the_bits_of_the_host(is_traced):
    def function(x):
        return F.exp(x) * x.sum(axis=0) + F.softmax(x), F.matmul(x, x.T), F.topk(x, 3)

    run = jit.trace(function) if is_traced else function
    on_both(lambda: [run(tessera.tensor(floats(33, 65))) for _ in range(3)])


@pytest.mark.parametrize("is_traced", [False, True])
def test_training_has_the_bits_of_the_host(is_traced):
    def train():
        net = Net()
        adam, manager = optimizer.Adam(net.parameters(), lr=0.01), GradManager()
        manager.attach(net.parameters())

        def step(x):
            with manager:
                loss = (net(x) ** 2).mean()
                manager.backward(loss)
            adam.step().clear_grad()
            return loss

        run = jit.trace(step, symbolic=True) if is_traced else step
        losses = [run(tessera.tensor(floats(16, 6, seed=number))) for number in range(4)]
        return losses + list(net.parameters())

    on_both(train)
