"""largest_batch: the largest size that fits, and one more does not."""

import time

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import Spec, estimate, largest_batch
from tessera.jit.batch import _search
from tessera.optimizer import Adam

from frontends.examples import networks

MIB = 1 << 20


def training():
    """A step of a small network with Adam, of images and classes."""
    net = M.Sequential(
        M.Conv2d(3, 16, 3), M.BatchNorm2d(16), M.ReLU(), M.Flatten(), M.Linear(3136, 10)
    )
    rule, manager = Adam(net.parameters(), lr=0.1), GradManager().attach(net.parameters())

    def step(x, y):
        with manager:
            loss = F.cross_entropy(net(x), y)
            manager.backward(loss)
        rule.step().clear_grad()
        return loss

    return step


def specs(size):
    return Spec((size, 3, 16, 16)), Spec((size,), "int32")


@pytest.mark.parametrize("start", [1, 32, 100_000])
@pytest.mark.parametrize("limit", [8 * MIB, 100 * MIB])
def test_it_fits_and_one_more_does_not(limit, start):
    step = training()
    found = largest_batch(step, *specs(start), memory_limit=limit)
    assert estimate(step, *specs(found)).total <= limit < estimate(step, *specs(found + 1)).total


def test_few_sizes_are_estimated(monkeypatch):
    sizes, step = [], training()

    def counted(x, y):
        sizes.append(x.shape[0])
        return step(x, y)

    largest_batch(counted, *specs(8), memory_limit="500 MiB")
    assert len(sizes) <= 8


def test_resnet_18_in_seconds():
    step, start = networks.resnet18(), time.monotonic()
    found = largest_batch(step, Spec((8, 3, 64, 64)), Spec((8,), "int32"), memory_limit="1 GiB")
    assert 50 < found < 5000
    assert time.monotonic() - start < 60  # ten times what it takes while other tests run


def test_nothing_runs_and_tensors_may_be_given():
    step = training()
    x, y = tessera.Tensor(np.zeros((4, 3, 16, 16), "float32")), tessera.Tensor(np.zeros(4, "int32"))
    assert largest_batch(step, x, y, memory_limit="20 MiB") == largest_batch(
        step, *specs(1), memory_limit="20 MiB"
    )
    assert largest_batch(step, x, y=y, memory_limit="20 MiB") > 1


def test_axes():
    weight = tessera.Parameter(np.ones((64, 64), "float32"))

    def forward(x, scale):
        return (x @ weight) * scale

    x, scale = Spec((16, 5, 64)), Spec((64,))
    for axis in ([1, None], (-2, None)):
        found = largest_batch(forward, x, scale, memory_limit="10 MiB", axis=axis)
        assert estimate(forward, Spec((16, found, 64)), scale).total <= 10 * MIB
        assert estimate(forward, Spec((16, found + 1, 64)), scale).total > 10 * MIB


def test_a_trace_and_a_file(tmp_path):
    net = M.Linear(256, 256)
    traced = jit.trace(net.__call__, capture_as_const=True, symbolic=True)
    traced(tessera.Tensor(np.zeros((4, 256), "float32")))
    traced.dump(tmp_path / "net.tess", arg_names=["x"], dims={"x": {0: jit.Dim("n", 1, 1 << 30)}})
    program = jit.load(tmp_path / "net.tess")
    for function in (traced, program):
        found = largest_batch(function, Spec((1, 256)), memory_limit="8 MiB")
        assert estimate(function, Spec((found, 256))).total <= 8 * MIB
        assert estimate(function, Spec((found + 1, 256))).total > 8 * MIB


def test_a_trace_with_a_limit_of_its_own():
    step = jit.trace(lambda x: F.softmax(x @ x.T, 1).sum(), memory_limit="1 MiB")
    found = largest_batch(step, Spec((8, 64)), memory_limit="1 GiB")
    assert estimate(step, Spec((found, 64))).peak <= MIB + (1 << 13)
    with pytest.raises(MemoryError, match="memory_limit must be at least"):
        estimate(step, Spec((found + 1, 64)))


def test_the_memory_of_the_device_is_the_default():
    found = largest_batch(lambda x: x * 2, Spec((1, 1 << 20)))
    assert found * 2 * (4 << 20) <= device.get_mem_status_bytes()[0] < (found + 1) * 2 * (5 << 20)
    before = tessera._core.memory_stats("cpu0")["limit"]
    device.set_memory_limit("64 MiB")
    try:
        assert largest_batch(lambda x: x * 2, Spec((1, 1 << 20))) == 7
        half = largest_batch(lambda x: x * 2, Spec((1, 1 << 20)), memory_limit=0.5)
        assert half > found // 2 - 2  # of the memory, not of the limit
    finally:
        device.set_memory_limit(before)


def test_a_model_without_memory():
    tessera.set_default_device("null0")
    try:
        net = M.Linear(1 << 16, 1 << 16)  # 16 GiB
        found = largest_batch(net, Spec((1, 1 << 16)), memory_limit="20 GiB")
        assert 1000 < found < 10_000
        with pytest.raises(ValueError, match="memory_limit must be given on null0, whose memory"):
            largest_batch(net, Spec((1, 1 << 16)))
        with pytest.raises(ValueError, match="memory_limit must be bytes or a text for a device"):
            largest_batch(net, Spec((1, 1 << 16)), memory_limit=0.5)
    finally:
        tessera.set_default_device("cpu0")


def test_a_limit_below_one():
    with pytest.raises(
        MemoryError, match=r"memory_limit must be at least \d+ bytes for a batch of 1, got 65536"
    ) as told:
        largest_batch(training(), *specs(4), memory_limit=1 << 16)
    least = int(str(told.value).split(" bytes")[0].split()[-1])
    assert largest_batch(training(), *specs(4), memory_limit=least) >= 1


REFUSED = {
    "no tensor": ((), {}, "tensors must have one size of the batch, got no tensor with a batch"),
    "sizes": ((Spec((4, 2)), Spec((5, 2))), {}, r"one size of the batch, got shapes \[\(4, 2\), "),
    "rank": ((Spec(()),), {}, r"must have the axis 0 of the batch, got one of shape \(\)"),
    "axis": ((Spec((4, 2)),), {"axis": 2}, "must have the axis 2 of the batch, got one of shape"),
    "many": ((Spec((4, 2)),), {"axis": [0, 0]}, "an int or None for each of 1 tensors, got"),
    "kind": ((Spec((4, 2)),), {"axis": "first"}, "axis must be an int, or an int or None"),
    "bool": ((Spec((4, 2)),), {"axis": True}, "axis must be an int, or an int or None"),
    "none": ((Spec((4, 2)),), {"axis": [None]}, "got no tensor with a batch"),
    "limit": ((Spec((4, 2)),), {"memory_limit": "much"}, "memory_limit must be bytes above 0"),
    "nan": ((Spec((4, 2)),), {"memory_limit": float("nan")}, "memory_limit must be bytes above 0"),
    "negative": ((Spec((4, 2)),), {"memory_limit": -1}, "memory_limit must be bytes above 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_arguments(name):
    args, options, text = REFUSED[name]
    with pytest.raises(ValueError, match=f"largest_batch: .*{text}"):
        largest_batch(lambda *given: given, *args, **options)


def test_errors_of_the_function_come_out():
    with pytest.raises(ValueError, match="matmul: dimension K must match"):
        largest_batch(lambda x: x @ x, Spec((2, 3)), memory_limit=MIB)


@pytest.mark.parametrize("start", [1, 2, 37, 5000])
@pytest.mark.parametrize("of", [lambda n: 10 * n + 7, lambda n: n * n, lambda n: n // 64 * 640 + 9,
                                lambda n: 100 + (n > 50) * 10_000 + n,
                                lambda n: float("inf") if n > 20 else 5])  # fmt: skip
def test_the_search(of, start):
    for limit in (of(1), 1000, 12_345):
        probes = []

        def total(size, probes=probes):
            probes.append(size)
            return of(size)

        if of(1) <= limit:
            found = _search(total, limit, of(1), start, 1)
            assert of(found) <= limit and (of(found + 1) > limit or found == limit)
            assert len(probes) <= 40 and 1 not in probes
