"""Processes made after a training step: the parent has run parallel regions and has a worker."""

import multiprocessing
import os

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.data import ArrayDataset, DataLoader, SequentialSampler
from tessera.optimizer import SGD

from tests.python.datasets import Computes
from tests.python.networks import Net, tensor

LARGE = 600  # a side that makes every kernel and product parallel


def step(net, optimizer, manager, x):
    """One training step; its loss."""
    with manager:
        loss = (net(x) ** 2).mean()
        manager.backward(loss)
    optimizer.step().clear_grad()
    return loss


def trained(traced):
    """A function that makes one more step, after three."""
    net = Net()
    optimizer = SGD(net.parameters(), lr=0.01)
    manager = GradManager().attach(net.parameters())
    x = tensor(LARGE, 6)

    def one():
        return step(net, optimizer, manager, x)

    one = jit.trace(one, symbolic=True) if traced else one
    for _ in range(3):
        one()
    large()
    return one


def large():
    """A number that takes parallel kernels and a parallel product."""
    x = tessera.Tensor(np.ones((LARGE, LARGE), dtype=np.float32))
    return F.exp(x @ x * 0).sum().item()


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_loader_workers_compute(traced):
    one = trained(traced)
    loader = DataLoader(Computes(), SequentialSampler(Computes()), num_workers=2, timeout=120)
    for _ in range(2):
        for index, batch in enumerate(loader):
            assert batch.shape == (1, 64, 64) and float(batch[0, 0, 0]) == 64.0 * index * index
            assert np.isfinite(one().item())  # steps go on between batches
    loader.close()


def in_child(pipe):
    pipe.send((large(), os.getpid()))


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_a_child_computes(method, traced):
    one = trained(traced)
    context = multiprocessing.get_context(method)
    ends = [context.Pipe() for _ in range(2)]
    children = [context.Process(target=in_child, args=(end,)) for _, end in ends]
    for child in children:
        child.start()
    losses = [one().item() for _ in range(3)]  # the parent computes at the same time
    answers = [end.recv() for end, _ in ends]
    for child in children:
        child.join()
    assert [value for value, _ in answers] == [float(LARGE * LARGE)] * 2
    assert {pid for _, pid in answers} == {child.pid for child in children}
    assert [child.exitcode for child in children] == [0, 0]
    assert np.isfinite(losses).all() and large() == LARGE * LARGE


def test_fork_while_work_is_queued():
    """A child that starts while the parent's worker is busy has a worker of its own."""
    trained(False)
    x = tessera.Tensor(np.ones((LARGE, LARGE), dtype=np.float32))
    for _ in range(20):
        x = F.exp(x @ x * 0)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=in_child, args=(there,))
    child.start()
    assert here.recv()[0] == LARGE * LARGE
    child.join()
    assert child.exitcode == 0 and x.sum().item() == LARGE * LARGE


def test_loader_of_arrays_between_steps():
    one = trained(True)
    data = ArrayDataset(np.arange(40, dtype=np.float32))
    loader = DataLoader(data, SequentialSampler(data, batch_size=8), num_workers=2, timeout=120)
    seen = []
    for (batch,) in loader:
        seen += batch.tolist()
        one()
    loader.close()
    assert seen == list(range(40))
