"""Every operator on sim0, the emulated accelerator: the bits of the CPU, eager and traced."""

import os

import numpy as np
import pytest
import tessera
from tessera import _core, jit
from tessera import functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.autodiff.modes import recording

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.support.helper import default_device as default
from tests.support.helper import same_bits

SIM = "sim0"
MOST = int(os.environ.get("TESS_SIM_SAMPLES", "2"))  # of a record
RECORDS = S.records()


def every_case(condition=lambda record, dtype: True):
    """The first samples of each record, and the first one of all in its other dtypes."""
    found = [
        pytest.param(record, sample, dtype, id=f"{record.name} {sample.shapes} {dtype}")
        for record in RECORDS.values()
        for number, sample in enumerate(quick.few(record.samples[:MOST]))
        for dtype in S.tested_dtypes(record, sample)
        if (dtype == S.primary(record, sample) or number < MOST // 2) and condition(record, dtype)
    ]
    return pytest.mark.parametrize(("record", "sample", "dtype"), found)


@every_case()
def test_bits(record, sample, dtype):
    arrays = S.arrays(record, sample, dtype)
    want = S.call(record, sample, S.tensors(arrays))
    with default(SIM):
        operands = S.tensors(arrays)
        got = S.call(record, sample, operands)
        assert all(result.device == SIM for result in got)
        assert same_bits(got, want)
        traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)), capture_as_const=True)
        assert same_bits(traced(*operands), want)
        again = traced(*operands)
        assert all(result.device == SIM for result in again)
        assert same_bits(again, want)


def gradients(record, sample, arrays):
    operands = S.tensors(arrays)
    with recording(operands) as state:
        results = S.call(record, sample, operands)
        floats = [each for each in results if each.dtype.kind == "f"]
        return [grad for grad in state.backward(floats, []) if grad is not None]


def floating(record, dtype):
    return record.has_gradient and not record.stochastic and dtype in S.FLOATS


@every_case(floating)
def test_gradient_bits(record, sample, dtype):
    arrays = S.arrays(record, sample, dtype)
    want = gradients(record, sample, arrays)
    with default(SIM):
        got = gradients(record, sample, arrays)
    assert all(grad.device == SIM for grad in got)
    assert same_bits(got, want)


def test_first_steps():
    random = np.random.RandomState(0)
    x, y = random.randn(16).astype("float32"), random.randn(16).astype("float32")
    a, b = tessera.Tensor(x, device=SIM), tessera.Tensor(y, device=SIM)
    assert (a + b).device == SIM
    np.testing.assert_array_equal((a + b).numpy(), x + y)
    rows = random.randn(7, 37).astype("float32")
    assert same_bits(F.softmax(tessera.Tensor(rows, device=SIM), axis=1),
                     F.softmax(tessera.Tensor(rows), axis=1))  # fmt: skip
    product = tessera.Tensor(rows, device=SIM) @ tessera.Tensor(rows.T, device=SIM)
    assert product.device == SIM
    assert same_bits(product, tessera.Tensor(rows) @ tessera.Tensor(rows.T))


def _first_of_none(x, _):
    rows = F.logsoftmax(x[..., 1], 0)
    rows.reshape(-1)[:1] = 7
    return rows


@pytest.mark.parametrize("function", [
    lambda x, row: x.sum(0, keepdims=True) + F.sqrt(row),
    lambda x, row: (x * row).sum(1, keepdims=True) / F.sqrt(row.sum()),
    _first_of_none,
])  # fmt: skip
@pytest.mark.parametrize("device", ["cpu0", SIM])
def test_no_elements(function, device):
    """What a reduction over nothing reads beside it has elements; a view of none lies nowhere."""
    x, row = np.zeros((0, 3), "float32"), np.array([[1.0, 4.0, 9.0]], "float32")
    want = function(tessera.Tensor(x), tessera.Tensor(row))
    traced, operands = (
        jit.trace(function),
        [tessera.Tensor(each, device=device) for each in (x, row)],
    )
    for _ in range(3):
        assert same_bits(traced(*operands), want)
    assert same_bits(function(*operands), want)


def test_two_devices():
    x, y = tessera.Tensor([1.0, 2.0]), tessera.Tensor([1.0, 2.0], device=SIM)
    both = r"add: .* on one device, got x \(operand 0\) on cpu0 and y \(operand 1\) on sim0"
    with pytest.raises(ValueError, match=both):
        x + y
    np.testing.assert_array_equal((x + y.to("cpu0")).numpy(), [2, 4])
    assert (x.to(SIM) * 2 + 1).device == SIM  # numbers follow the tensor
    traced = jit.trace(lambda a: a + y)
    with pytest.raises(ValueError, match="must be on one device"):
        traced(x)


def test_a_trace_has_a_program_for_each_device():
    traced = jit.trace(lambda a: F.softmax(a * 2, axis=0))
    x = tessera.Tensor([1.0, 2.0])
    for _ in range(3):
        for device in ("cpu0", SIM):
            result = traced(x.to(device))
            assert result.device == device
            assert same_bits(result, traced(x))


def test_training_has_the_bits_of_the_cpu():
    def losses():
        random = np.random.RandomState(3)
        w = tessera.Parameter(random.randn(8, 3).astype("float32"))
        x = tessera.Tensor(random.randn(32, 8).astype("float32"))
        label = tessera.Tensor(random.randint(0, 3, 32).astype("int32"))
        gm, opt = GradManager().attach([w]), tessera.optimizer.SGD([w], lr=0.1, momentum=0.9)
        found = []
        for _ in range(5):
            with gm:
                loss = F.loss.cross_entropy(x @ w, label)
                gm.backward(loss)
            opt.step().clear_grad()
            found.append(loss)
        return [*found, w]

    want = losses()
    with default(SIM):
        got = losses()
    assert all(each.device == SIM for each in got)
    assert same_bits(got, want)


def test_random_numbers_are_those_of_the_cpu():
    want = tessera.random.RNG(seed=7).normal(size=(5, 7))
    got = tessera.random.RNG(seed=7, device=SIM).normal(size=(5, 7))
    assert got.device == SIM
    assert same_bits(got, want)


def test_the_order_of_free_work_changes_nothing():
    x = np.random.RandomState(1).randn(40, 50).astype("float32")

    def steps(a):
        for _ in range(6):
            a = F.softmax(a * 2 - a.mean(axis=0, keepdims=True), axis=1) + a[::-1]
        return a

    want = steps(tessera.Tensor(x))
    for seed in range(1, 6):
        _core.seed_sim_device(seed)
        assert same_bits(steps(tessera.Tensor(x, device=SIM)), want)
    _core.seed_sim_device(0)


def test_a_lost_device():
    x, host = tessera.Tensor([1.0, 2.0], device=SIM), tessera.Tensor([1.0, 2.0])
    _core.lose_sim_device("a test")
    lost = r"sim0: device must be there, got one that is lost \(a test\)"
    try:
        for broken in (lambda: tessera.Tensor([1.0], device=SIM), x.numpy, lambda: x.to("cpu0")):
            with pytest.raises(RuntimeError, match=lost):
                broken()
        with pytest.raises(RuntimeError, match=lost):
            (x + x).numpy()
        np.testing.assert_array_equal((host + host).numpy(), [2, 4])
    finally:
        _core.restore_sim_device()
    np.testing.assert_array_equal((x + x).numpy(), [2, 4])


def test_checkpoints(tmp_path):
    file = str(tmp_path / "sim.ckpt")
    net = tessera.module.Linear(3, 2)
    with default(SIM):
        moved = tessera.module.Linear(3, 2)
        moved.load_state_dict(net.state_dict())
        assert moved.weight.device == SIM
        assert same_bits(moved.weight, net.weight)
    tessera.save({"state": moved.state_dict(), "weight": moved.weight}, file)
    for location, device in ((None, "cpu0"), (SIM, SIM), ({SIM: "cpu0"}, "cpu0"), ({}, SIM)):
        weight = tessera.load(file, map_location=location)["weight"]
        assert weight.device == device
        assert same_bits(weight, net.weight)


def test_memory_is_counted_by_device():
    before = tessera.device.get_allocated_memory(SIM)
    x = tessera.Tensor(np.zeros((1000, 1000), "float32"), device=SIM)
    assert tessera.device.get_allocated_memory(SIM) - before >= 4_000_000
    del x
    assert tessera.device.get_allocated_memory(SIM) == before


def test_a_device_has_a_limit_of_its_own():
    total, free = tessera.device.get_mem_status_bytes(SIM)
    held = tessera.device.get_allocated_memory(SIM)
    assert free == total - held
    tessera.device.set_memory_limit(held + 4096, SIM)
    try:
        with pytest.raises(MemoryError, match="sim0"):
            tessera.Tensor(np.zeros((100, 100), "float32"), device=SIM)
        assert tessera.Tensor(np.zeros((100, 100), "float32")).device == "cpu0"
    finally:
        tessera.device.set_memory_limit(total, SIM)


def test_memory_that_the_host_cannot_share():
    with pytest.raises(BufferError, match="__dlpack__: tensor must be on a device that the host "
                       "addresses, got one on sim0"):  # fmt: skip
        tessera.Tensor([1.0], device=SIM).__dlpack__()
