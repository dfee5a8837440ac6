"""Training while tensors are dropped: the same bits, less memory, and nothing that grows."""

import gc
import subprocess
import sys

import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config, device, dtr
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import SGD, Adam

from tests.frontends.python.process.dropping import counted, dropping, numbers  # noqa: F401


class Deep(M.Module):
    """Layers whose activations take most of the memory of a step."""

    def __init__(self, width=64, layers=6):
        super().__init__()
        self.norm = M.BatchNorm1d(width)
        self.layers = [M.Linear(width, width) for _ in range(layers)]

    def forward(self, x):
        x = self.norm(x)
        for layer in self.layers:
            x = x + F.dropout(F.gelu(layer(x)), 0.1)
        return x


def train(kind=SGD, steps=3, width=64, batch=2048):
    """Bits of losses and parameters, and the peak of memory above what was there before."""
    tessera.seed(7)
    net = Deep(width)
    optimizer = kind(net.parameters(), lr=0.01)
    manager = GradManager().attach(net.parameters())
    tessera.sync()
    base = device.get_allocated_memory()
    device.reset_max_memory_stats()
    losses = []
    for step in range(steps):
        x, y = numbers(batch, width, seed=step), numbers(batch, width, seed=step + 50)
        with manager:
            loss = F.loss.square_loss(net(x), y)
            manager.backward(loss)
        optimizer.step().clear_grad()
        losses.append(loss)
    tessera.sync()
    peak = device.get_max_allocated_memory() - base
    values = [each.numpy().tobytes() for each in [*losses, *net.parameters(), *net.buffers()]]
    return values, peak, base


def plain(kind=SGD):
    """Trains without drops, and with the peak that the program has without a queue."""
    dtr.disable()
    before = config.get_async_level()
    config.set_async_level(0)
    try:
        return train(kind)
    finally:
        config.set_async_level(before)
        dtr.enable()
        gc.collect()


@pytest.mark.parametrize("kind", [SGD, Adam])
@pytest.mark.parametrize("samples", [False, True])
def test_training_under_a_threshold_has_the_same_bits(kind, samples):
    expected, whole, _ = plain(kind)
    dtr.enable_sqrt_sampling = samples
    dtr.evictee_minimum_size = "64KB"
    dtr.eviction_threshold = device.get_allocated_memory() + whole // 2
    (got, peak, _), counts = counted(lambda: train(kind))
    assert got == expected
    assert counts["evictions"] > 0 and counts["recomputations"] > 0
    assert peak < whole * 0.7


def test_without_a_limit_nothing_is_dropped():
    _, counts = counted(train)
    assert counts["evictions"] == 0 and counts["recomputations"] == 0


def test_memory_that_runs_out_is_taken_from_tensors():
    expected, whole, _ = plain()
    device.coalesce_free_memory()
    device.set_memory_limit(device.get_allocated_memory() + int(whole * 0.7))
    try:
        (got, _, _), counts = counted(train)
    finally:
        device.set_memory_limit(1 << 60)
    assert got == expected and counts["evictions"] > 0


def grown(step):
    """Bytes that 200 more steps leave behind."""
    for _ in range(20):
        step()
    tessera.sync()
    before = device.get_allocated_memory()
    for _ in range(200):
        step()
    tessera.sync()
    return device.get_allocated_memory() - before


def test_a_history_does_not_grow():
    """A value is made of all earlier ones, which must not be kept for it."""
    state, losses = [numbers(128, 128)], []

    def step():
        data = numbers(128, 128, seed=len(losses))
        loss = (state[0] * data).sum()
        state[0] = state[0] * 0.9 + data * 0.1
        losses.append(loss)

    assert grown(step) <= 256 * 1024  # some scalars


PLAN = """
import numpy as np, tessera
import tessera.functional as F
from tessera import config, device, dtr
dtr.enable()
dtr.evictee_minimum_size = 1
dtr.enable_sqrt_sampling = {samples}
x = tessera.Tensor(np.ones((512, 512), np.float32))
tessera.sync()
dtr.eviction_threshold = device.get_allocated_memory() + (5 << 20)
kept = [x]
for i in range(40):
    kept.append(F.sin(kept[-1]) if i % 3 else kept[-1] @ x)
for each in kept[::-1]:
    each.sum().numpy()
print(sorted(dtr.stats().items()))
"""


@pytest.mark.parametrize("samples", [False, True])
def test_a_plan_is_the_same_in_every_run(samples):
    said = set()
    for _ in range(3):
        command = [sys.executable, "-c", PLAN.format(samples=samples)]
        said.add(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert len(said) == 1 and "('evictions', 0)" not in said.pop()
