"""Memory: queued work holds a bounded part of it, and it returns with the last reference."""

import gc

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import Function, GradManager, grad
from tessera.optimizer import Adam

STEPS = 1000


def ones(*shape):
    return tessera.Tensor(np.ones(shape), dtype="float32")


def test_a_program_that_is_faster_than_its_kernels():
    """Thousands of results that nobody keeps: all at once they would take 16 GB."""
    x, most = ones(1 << 20), 0
    tessera.sync()
    limits = _core.queue_stats()
    before = device.get_allocated_memory()
    device.reset_max_memory_stats()
    for _ in range(4000):
        x + 1
        now = _core.queue_stats()
        most = max(most, now["bytes"])
        assert now["commands"] <= limits["most_commands"] + 1
    tessera.sync()
    assert most <= limits["most_bytes"] + 2 * 4 * 2**20
    assert device.get_max_allocated_memory() - before <= limits["most_bytes"] + 4 * 4 * 2**20
    assert _core.queue_stats()["bytes"] == 0


def test_work_in_the_queue_is_no_reason_to_run_out_of_memory():
    """A call that finds no memory waits for what queued operators hold."""
    x = ones(1 << 20)
    tessera.sync()
    device.set_memory_limit(device.get_allocated_memory() + 6 * (4 << 20))
    try:
        y = x
        for _ in range(300):
            y = F.exp(y * 0.0) + 0.0
        assert (y.numpy() == 1).all()
    finally:
        device.set_memory_limit(1 << 40)


def test_inputs_of_queued_work_count():
    """Fresh data of every step is held by the queue until it is read."""
    slow, data = ones(1200, 1200), np.ones((512, 8192), dtype=np.float32)
    limits, most = _core.queue_stats(), 0
    for _ in range(60):
        slow = (slow @ slow) * (1 / 1200)
        F.sum(tessera.Tensor(data))
        most = max(most, _core.queue_stats()["bytes"])
    assert most <= limits["most_bytes"] + 3 * data.nbytes
    tessera.sync()


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = M.Linear(8, 16), M.BatchNorm1d(16), M.Linear(16, 4)

    def forward(self, x):
        return self.last(F.dropout(F.gelu(self.norm(self.first(x))), 0.1))


class Scale(Function):
    def forward(self, x):
        self.x = x
        return x * 2

    def backward(self, dy):
        return dy * 2 + self.x * 0


def inference():
    net = Net()
    net.eval()
    return lambda x, y: net(x).sum().item()


def training(options=None):
    net = Net()
    optimizer = Adam(net.parameters(), lr=0.001)
    manager = GradManager().attach(net.parameters(), callbacks=lambda p, g: g * 1.0)

    def step(x, y):
        with manager:
            loss = F.loss.cross_entropy(Scale()(net(x)) if options is None else net(x), y)
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return step if options is None else jit.trace(step, **options)


def second_order():
    return lambda x, y: grad(lambda a: grad(lambda b: (b**3).sum())(a).sum())(x).numpy()


def abandoned_recording():
    weight = ones(8, 8)

    def step(x, y):
        with GradManager().attach([weight]):
            return (x @ weight).sum()  # no backward: the tape goes with its manager

    return step


def failing():
    def step(x, y):
        try:
            x[y + 99].numpy()
        except IndexError:
            return
        raise AssertionError("an index out of range")

    return step


def views_and_writes():
    def step(x, y):
        z = x * 1
        z[:, 1] = z[0, 0] + 1
        return z.transpose(1, 0)[1].numpy()

    return step


STEPS_OF = {
    "inference": inference,
    "training": training,
    "traced training": lambda: training({"symbolic": True}),
    "second order": second_order,
    "abandoned recording": abandoned_recording,
    "failing": failing,
    "views and writes": views_and_writes,
}


@pytest.mark.parametrize("name", STEPS_OF)
def test_memory_returns_without_gc(name):
    step = STEPS_OF[name]()
    x, y = ones(4, 8), tessera.Tensor([0, 1, 2, 3])
    for _ in range(20):
        step(x, y)
    gc.collect()
    gc.disable()
    try:
        tessera.sync()
        before, objects = device.get_allocated_memory(), len(gc.get_objects())
        for _ in range(STEPS):
            step(x, y)
        tessera.sync()
        assert device.get_allocated_memory() == before
        assert len(gc.get_objects()) - objects < STEPS / 10  # none for each step
    finally:
        gc.enable()


def test_what_a_tensor_holds_goes_with_it():
    """At once: not at the next collection, nor at the next call."""
    tessera.sync()
    gc.disable()
    try:
        before = device.get_allocated_memory()
        x = ones(1 << 18)
        y = x[: 1 << 17] + 1
        tessera.sync()
        held = device.get_allocated_memory() - before
        del x
        assert device.get_allocated_memory() - before < held
        y.grad = y * 2
        tessera.sync()
        del y
        assert device.get_allocated_memory() == before
    finally:
        gc.enable()
