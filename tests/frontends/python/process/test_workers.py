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

from tests.support.datasets import Computes
from tests.support.networks import Net, tensor

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


def failing():
    """Queued behind work that takes a while: it fails in the worker."""
    x = tessera.Tensor(np.ones((LARGE, LARGE), dtype=np.float32))
    for _ in range(20):
        x = F.exp(x @ x * 0)
    return F.gather(x, 0, tessera.Tensor(np.full((1, LARGE), LARGE)))


def read_in_child(pipe, tensor):
    """What the child of a fork finds in a tensor of its parent, and whether sync has to tell it."""
    answers = []
    for call in (tensor.numpy, tessera.sync, large):
        try:
            answers.append(call())
        except IndexError as error:
            answers.append(str(error))
    pipe.send([answers[0] if isinstance(answers[0], str) else answers[0].sum(), *answers[1:]])


def forked(tensor):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=read_in_child, args=(there, tensor))
    child.start()
    answers = here.recv()
    child.join()
    assert child.exitcode == 0
    return answers


def test_fork_with_a_failure_in_flight():
    """The child has no value where the parent has none; each failure is the parent's to tell."""
    value = failing()
    told, synced, computed = forked(value)
    assert told.startswith("gather: index must be in [-600, 599], got 600 (x f32[600, 600], ")
    assert "at test_workers.py:" in told and synced is None and computed == LARGE * LARGE
    with pytest.raises(IndexError) as caught:
        tessera.sync()
    assert str(caught.value) == told and large() == LARGE * LARGE


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_tensor_inherited_while_it_is_computed(level):
    tessera.config.set_async_level(level)
    x = tessera.Tensor(np.ones((LARGE, LARGE), dtype=np.float32))
    for _ in range(10):
        x = F.exp(x @ x * 0)
    assert forked(x) == [LARGE * LARGE, None, LARGE * LARGE]
    assert x.sum().item() == LARGE * LARGE
    tessera.config.set_async_level(2)


def test_a_child_of_a_child():
    def nested(pipe):
        pipe.send(forked(tessera.Tensor(np.ones((LARGE, LARGE)), dtype="float32")))

    large()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=nested, args=(there,))
    child.start()
    assert here.recv() == [LARGE * LARGE, None, LARGE * LARGE]
    child.join()
    assert child.exitcode == 0


def send_back(pipe):
    pipe.send(pipe.recv() * 2)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_tensors_go_to_another_process_by_value(method):
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=send_back, args=(there,))
    child.start()
    x = tessera.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    here.send(x + 1)
    assert here.recv().tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    child.join()
    with pytest.raises(IndexError, match="gather: index must be"):
        here.send(failing())  # what has no value cannot be sent
    tessera.sync()


def test_threads_compute_while_another_forks():
    """A child inherits no lock that one of them holds."""
    import threading

    stop, errors = threading.Event(), []

    def compute():
        x = tessera.Tensor(np.ones((40, 40), dtype=np.float32))
        while not stop.is_set():
            try:
                assert (x @ x).sum().item() == 40**3
                assert x[x > 0].shape == (1600,)
            except BaseException as error:
                errors.append(error)
                return

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        x = tessera.Tensor(np.ones((40, 40), dtype=np.float32))
        for _ in range(5):
            assert forked(x @ x) == [40.0**3, None, LARGE * LARGE]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
