"""tessera.estimate: the peak of a call, known before it runs."""

import gc

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import Spec
from tessera.optimizer import SGD, Adam
from tessera.utils import counters

from frontends.examples import networks
from tests.support.helper import floats, same_bits
from tests.support.networks import Net, tensor

UNTOLD = 4 * (64 << 10)  # small blocks of four threads that the peak need not know of


def held():
    """Bytes that tensors and programs hold; later ones get no larger blocks of those before."""
    gc.collect()
    tessera.sync()
    device.coalesce_free_memory()
    return device.get_allocated_memory()


def peak_of(function, *args):
    """The most bytes held at once during a call."""
    tessera.sync()
    device.reset_max_memory_stats()
    function(*args)
    tessera.sync()
    return device.get_max_allocated_memory()


def check_peak(function, *args):
    """The prediction against what happens; the prediction comes first."""
    planned, before = tessera.estimate(function, *args), held()
    traced = jit.trace(function, symbolic=True)
    # Recorded, checked, run again: a program keeps its arena.
    peaks = [peak_of(traced, *args) - before for _ in range(4)]
    assert max(peaks) <= planned.peak + UNTOLD, (planned, peaks)
    assert planned.peak - UNTOLD <= peaks[-1], (planned, peaks)
    return planned


def test_a_function():
    x = tessera.Tensor(floats(700, 700))
    planned = check_peak(lambda x: F.softmax(x @ x, -1) @ x, x)
    assert planned.outputs == 700 * 700 * 4 and planned.arena >= 700 * 700 * 4
    assert planned.launches >= 3


class Large(M.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = M.Conv2d(3, 16, 3), M.BatchNorm2d(16), M.Linear(16 * 900, 40)

    def forward(self, x):
        return self.fc(F.flatten(F.relu(self.bn(self.conv(x))), 1))


@pytest.mark.parametrize("batch", [1, 7, 360])
@pytest.mark.parametrize("optimizer", [SGD, Adam])
def test_a_training_step(optimizer, batch):
    net = Large()
    update, manager = optimizer(net.parameters(), lr=0.01), GradManager().attach(net.parameters())

    def step(x):
        with manager:
            loss = (net(x) ** 2).mean()
            manager.backward(loss)
        update.step().clear_grad()
        return loss

    planned = check_peak(step, tessera.Tensor(floats(batch, 3, 32, 32)))
    assert planned.arena > batch * 16 * 30 * 30 * 4


@pytest.mark.parametrize("batch", [1, 7, 360])
def test_inference(batch):
    net = Large().eval()
    check_peak(net.__call__, tessera.Tensor(floats(batch, 3, 32, 32)))


WEIGHTS = 46 * 10**6  # bytes; at batch 1 an activation is a hundredth of them


@pytest.mark.parametrize("batch", [1, 7])
def test_a_training_step_of_resnet18(batch):
    step, labels = networks.resnet18(), tessera.Tensor(np.arange(batch, dtype=np.int32))
    planned = check_peak(step, tessera.Tensor(floats(batch, 3, 64, 64)), labels)
    assert planned.peak > WEIGHTS  # at least its gradients


@pytest.mark.parametrize("batch", [1, 7])
def test_inference_of_resnet18(batch):
    net = networks.ResNet18().eval()
    assert sum(p.size for p in net.parameters()) * 4 > WEIGHTS
    check_peak(net.__call__, tessera.Tensor(floats(batch, 3, 64, 64)))


def test_nothing_runs_and_nothing_changes():
    net = Net()
    update = SGD(net.parameters(), lr=0.1, momentum=0.9)
    manager = GradManager().attach(net.parameters())
    state = [
        net.state_dict(),
        update.state_dict()["state"],
        tessera.random.default_rng.state_dict(),
    ]

    def step(x):
        with manager:
            manager.backward(net(x).sum())
        update.step()  # the gradients stay
        return net(x)

    launches, held = counters.launches(), device.get_allocated_memory()
    tessera.estimate(step, Spec((4096, 6)))
    tessera.sync()
    assert counters.launches() == launches
    assert device.get_allocated_memory() - held < 4096  # constants of the function, not its tensors
    after = [
        net.state_dict(),
        update.state_dict()["state"],
        tessera.random.default_rng.state_dict(),
    ]
    assert repr(state) == repr(after)
    assert all(parameter.grad is None for parameter in net.parameters())
    assert np.isfinite(step(tensor(5, 6)).numpy()).all()


def test_shapes_that_need_not_exist():
    net = Net().eval()
    sizes = [tessera.estimate(net, Spec((rows, 6))).peak for rows in (1, 1000, 100_000)]
    assert sizes[0] < sizes[1] < sizes[2] and sizes[2] > 100_000 * 8 * 4
    huge = tessera.estimate(lambda x: (x + 1).sum(), Spec((1 << 40,)))
    chunks = (1 << 40) >> 15  # of the sum, whose results threads leave for the last one
    assert huge.peak < chunks * 8 + (1 << 20)  # fused: it needs none of its elements


def test_a_loaded_program(tmp_path):
    net = Net().eval()
    traced = jit.trace(net.__call__, capture_as_const=True)
    x = tensor(4, 6)
    traced(x)
    traced.dump(tmp_path / "net.tess", arg_names=["x"], dims={"x": {0: jit.Dim("n", 1, 100_000)}})
    data = tensor(100_000, 6)
    before, program = held(), jit.load(tmp_path / "net.tess")
    small, large = (tessera.estimate(program, Spec((n, 6))) for n in (1, 100_000))
    assert small.peak < large.peak and small.constants == large.constants > 0
    program(data)
    peak = peak_of(program, data) - before
    assert large.peak - UNTOLD <= peak <= large.peak + UNTOLD
    assert same_bits(program(x=x), net(x)) and tessera.estimate(program, x=x).peak > 0


def test_errors_come_out_before_anything_runs():
    with pytest.raises(ValueError, match="matmul: dimension K must match"):
        tessera.estimate(lambda x: x @ x, Spec((2, 3)))
    with pytest.raises(ValueError, match="must not look at the value of a tensor"):
        tessera.estimate(lambda x: float(x.sum()), Spec((2, 3)))
    with pytest.raises(ValueError, match="Spec: shape must have .* sizes of at least 0, got"):
        tessera.estimate(lambda x: x, Spec((-1,)))
    with pytest.raises(TypeError, match="dtype: .*float31"):
        tessera.estimate(lambda x: x, Spec((1,), "float31"))
    assert (tessera.Tensor([1.0]) + 1).item() == 2


def test_sizes_that_data_decides_are_at_their_bounds():
    found = tessera.estimate(lambda x: F.exp(x[x > 0]) * 2, Spec((10, 10)))
    assert found.outputs == 400
    assert found.peak >= 400 + 400 + 100  # the elements, and the mask
    assert tessera.estimate(lambda x: F.ones(x[x > 0].shape[0] + 1), Spec((9,))).outputs == 40


def test_a_failed_estimate_changes_nothing():
    net = Net()
    update = SGD(net.parameters(), lr=0.1)
    manager = GradManager().attach(net.parameters())

    def step(x):
        with manager:
            manager.backward(net(x).sum())
        update.step()
        raise KeyError("enough")

    before = net.state_dict()
    with pytest.raises(KeyError, match="enough"):
        tessera.estimate(step, Spec((4, 6)))
    assert all((value == before[name]).all() for name, value in net.state_dict().items())
    assert all(parameter.grad is None for parameter in net.parameters())


def test_the_total_has_what_is_held_already():
    net, x = M.Linear(256, 128), tessera.Tensor(floats(32, 256))
    weights = 4 * (256 * 128 + 128)
    manager, rule = GradManager().attach(net.parameters()), Adam(net.parameters(), lr=0.1)

    def backward(x):
        with manager:
            manager.backward(net(x).sum())

    def step(x):
        backward(x)
        rule.step()

    first = tessera.estimate(backward, x)
    assert (first.arguments, first.parameters, first.gradients, first.state) == (
        4 * 32 * 256,
        weights,
        0,
        0,
    )
    assert first.outputs >= weights  # the gradients that it leaves
    assert first.total == first.peak + first.arguments + weights
    backward(x)
    again = tessera.estimate(step, x)
    assert (again.parameters, again.gradients) == (weights, weights)
    assert 2 * weights <= again.state <= 2 * weights + 1024  # two moments, and how many steps
    assert again.total > again.peak + 4 * weights


def test_the_total_of_a_function_of_arguments_and_of_a_file(tmp_path):
    plain = tessera.estimate(lambda x, y: x + y, Spec((1000,)), Spec((1000,), "float64"))
    assert plain.arguments == 12000 and plain.total == plain.peak + 12000
    net = M.Linear(64, 32)
    traced = jit.trace(net, capture_as_const=True, symbolic=True)
    traced(tensor(4, 64))
    traced.dump(tmp_path / "net.tess")
    found = tessera.estimate(jit.load(tmp_path / "net.tess"), Spec((4, 64)))
    assert found.arguments == 4 * 4 * 64
    assert found.total >= found.peak + found.arguments


def test_it_prints_a_table():
    lines = str(tessera.estimate(lambda x: x + 1, Spec((1 << 20,)))).splitlines()
    rows = [each.split() for each in lines]
    assert rows[0] == ["arguments", "4.0", "MiB"] and rows[1] == ["results", "4.0", "MiB"]
    (total,) = (number for number, row in enumerate(rows) if row[0] == "total")
    assert rows[total - 1][:4] == ["peak", "of", "the", "call"]
    assert rows[total][1:] == ["8.0", "MiB"]
    assert lines[total + 1] == "at the peak, by line" and "test_estimate.py:" in lines[total + 2]
    assert len(lines) == total + 3
