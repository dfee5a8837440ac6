"""A device that dies of a kernel: who waits is told, once, and everything else goes on."""

import contextlib
import os

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, jit
from tessera.autodiff import GradManager

from tests.support.helper import default_device, floats, same_bits

SIM = "sim0"


@contextlib.contextmanager
def dying(skipped=0):
    """The launch after the next `skipped` ones kills sim0, until the end of the block."""
    tessera.sync()
    _core.fail_sim_launch(skipped, "a test")
    try:
        yield
    finally:
        with contextlib.suppress(RuntimeError):
            tessera.sync()  # tells what nobody has waited for
        _core.restore_sim_device()


def lost(what):
    return rf"sim0: device must be there, got one that is lost \(a test, in {what}"


def tensor(*shape, seed=0, device=SIM):
    return tessera.Tensor(floats(*shape, seed=seed), device=device)


def test_the_first_wait_names_the_operator():
    x, host = tensor(5), tensor(5, device="cpu0")
    with dying(skipped=1):
        y = x + 1
        z = F.tanh(y)  # it dies of this one, later
        w = z * z
        with pytest.raises(RuntimeError, match=lost("tanh")):
            w.numpy()
        for broken in (z.numpy, x.numpy, lambda: x.to("cpu0"), lambda: tensor(2),
                       lambda: (x + x).numpy(), lambda: F.zeros(3, device=SIM),
                       lambda: x @ x, lambda: jit.trace(lambda a: a * 2)(x).numpy()):  # fmt: skip
            with pytest.raises(RuntimeError, match=lost("tanh")):
                broken()
        assert same_bits(host + host, host * 2)
        with default_device("cpu0"):
            assert tessera.module.Linear(5, 2)(host).shape == (2,)
        assert config.get_async_level() == 2
        del y, z, w
    assert same_bits(x, host)  # nothing of what was there is lost where it comes back
    assert same_bits(F.tanh(x), F.tanh(host))


def test_sync_tells_it_once():
    x = tensor(5)
    with dying():
        y = x * 2
        with pytest.raises(RuntimeError, match=lost("mul")):
            tessera.sync()
        tessera.sync()
        with pytest.raises(RuntimeError, match=lost("mul")):
            y.numpy()
    tessera.sync()
    with dying():
        y = x - 2
        with pytest.raises(RuntimeError, match=lost("sub")):
            tessera.sync()
        del y


@pytest.mark.parametrize("level", [0, 1])
def test_at_lower_async_levels(level):
    x, known = tensor(5), config.get_async_level()
    config.set_async_level(level)
    try:
        with dying(), pytest.raises(RuntimeError, match=lost("exp")):
            F.exp(x).numpy()
        assert same_bits(F.exp(x), F.exp(x.to("cpu0")))
    finally:
        config.set_async_level(known)


def test_a_library_call_and_an_index():
    x, i = tensor(4, 4), tessera.Tensor([1, 0], device=SIM)
    with dying(), pytest.raises(RuntimeError, match=lost("matmul")):
        F.matmul(x, x).numpy()
    with dying(), pytest.raises(RuntimeError, match=lost("(index_get|gather|copy)")):
        x[i].numpy()
    assert same_bits(F.matmul(x, x), F.matmul(x.to("cpu0"), x.to("cpu0")))


def test_a_program_names_the_line():
    traced = jit.trace(lambda x: F.softmax(F.matmul(x, x) * 2, 1).sum(0))
    x = tensor(4, 4)
    want = [traced(x) for _ in range(3)][0]
    for skipped in range(2):
        with (
            dying(skipped),
            pytest.raises(RuntimeError, match=lost(".* at .*test_lost_device.py:")),
        ):
            traced(x)
        assert same_bits(traced(x), want)


def test_training_goes_on_on_the_host():
    with default_device(SIM):
        w = tessera.Parameter(floats(4, 3))
    gm, data = GradManager().attach([w]), tensor(5, 4)
    saved = w.numpy()
    with dying(skipped=2):
        with pytest.raises(RuntimeError, match="sim0: device must be there"), gm:
            gm.backward((F.exp(data @ w) * 2).sum())
            w.grad.numpy()
        here = tessera.Parameter(saved)
        gm = GradManager().attach([here])
        with gm:
            gm.backward((F.exp(tensor(5, 4, device="cpu0") @ here) * 2).sum())
        assert np.isfinite(here.grad.numpy()).all()


def test_a_forked_child_has_no_device():
    """Neither its errors nor what it lets go of reach the parent's memory."""
    x, host = tensor(2000), tensor(2000, device="cpu0")
    y = F.exp(x)  # queued: the parent's work
    child = os.fork()
    if not child:
        try:
            with pytest.raises(RuntimeError, match="in a fork, whose parent has it"):
                y.numpy()
            with contextlib.suppress(RuntimeError):
                tessera.sync()
            del x, y
            os._exit(0 if same_bits(host + 1, host + 1) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert same_bits(y, F.exp(host))
    assert same_bits(x, host)


def test_memory_of_a_lost_device_is_given_back():
    before = tessera.device.get_allocated_memory(SIM)
    x = tensor(1000, 10)
    with dying():
        y = x + 1
        with pytest.raises(RuntimeError, match=lost("add")):
            y.numpy()
        del x, y
    assert tessera.device.get_allocated_memory(SIM) == before
