"""Copies and pickles: functions, modules, and modules whose methods are traced."""

import copy
import pickle
import weakref

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import floats

COPIES = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
DEEP = COPIES[1:]


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.fc = M.Linear(3, 2)
        self.shared = [self.fc.weight]
        self.function, self.add = F.relu, M.Elemwise("FUSE_ADD_RELU")

    @jit.trace(symbolic=True)
    def forward(self, x):
        return self.add(self.function(self.fc(x)), x[:, :2])

    double = jit.trace(lambda self, x: self.fc(x) * 2)


class Trainer:
    """No module: an object of the user's with a traced method."""

    def __init__(self):
        self.scale = tessera.Tensor([2.0])

    @jit.trace
    def step(self, x):
        return x * self.scale


@jit.trace
def traced_function(x):
    return x + 1


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


FUNCTIONS = {name: getattr(F, name) for name in F.__all__ if name not in ("fft", "quantized")}
for part in (F.nn, F.fft, F.quantized, F.quantized_conv):
    FUNCTIONS |= {f"{part.__name__}.{name}": getattr(part, name) for name in part.__all__}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_their_own_copies(name):
    function = FUNCTIONS[name]
    assert all(made(function) is function for made in COPIES)
    assert weakref.ref(function)() is function


def test_operators_beneath_sugar_are_too():
    from tessera import _core

    for name, operator in vars(_core.ops).items():
        if callable(operator) and not name.startswith("_"):
            assert all(made(operator) is operator for made in COPIES), name
            assert weakref.WeakSet([operator])


@pytest.mark.parametrize("made", DEEP)
def test_modules(made):
    net, x = Net(), tensor(4, 3)
    expected = net(x).tolist()
    other = made(net)
    assert [n for n, _ in other.named_parameters()] == ["fc.bias", "fc.weight"]
    assert other.shared[0] is other.fc.weight and other(x).tolist() == expected
    M.init.fill_(other.fc.weight, 9)
    assert net(x).tolist() == expected != other(x).tolist()


@pytest.mark.parametrize("made", DEEP)
def test_copies_of_traced_modules_start_without_recordings(made):
    net, x = Net(), tensor(4, 3)
    expected = [net(x).tolist() for _ in range(3)][0], net.double(x).tolist()
    assert net.forward.explain() and net.double.explain()
    other = made(net)
    assert other.forward.explain() == other.double.explain() == ""
    assert other.forward is not net.forward and other.forward.symbolic
    assert [other(x).tolist() for _ in range(3)] == [expected[0]] * 3
    assert other.double(x).tolist() == expected[1]
    M.init.zeros_(other.fc.weight)
    assert other.double(x).tolist() == (other.fc.bias * 2 + F.zeros((4, 2))).tolist()
    assert net(x).tolist() == expected[0] and net.forward.explain()


@pytest.mark.parametrize("made", DEEP)
def test_copies_of_a_traced_module_train_on_their_own(made):
    net, x = Net(), tensor(4, 3)
    net(x)
    other = made(net)
    for _ in range(3):
        with GradManager().attach(other.parameters()) as manager:
            manager.backward(other(x).sum())
    assert other.fc.weight.grad is not None and net.fc.weight.grad is None


@pytest.mark.parametrize("made", DEEP)
def test_objects_with_traced_methods(made):
    trainer, x = Trainer(), tensor(3)
    expected = [trainer.step(x).tolist() for _ in range(3)][0]
    other = made(trainer)
    other.scale = tessera.Tensor([0.0])
    assert other.step.explain() == "" and other.step(x).tolist() == [0.0] * 3
    assert trainer.step(x).tolist() == expected


@pytest.mark.parametrize("made", COPIES)
def test_traced_functions(made):
    assert made(traced_function) is traced_function
    net, x = M.Linear(3, 2), tensor(4, 3)
    traced = jit.trace(net.forward, capture_as_const=True)
    expected = [traced(x).tolist() for _ in range(2)][0]
    other = made(traced)
    assert other is not traced and other.capture_as_const and other.explain() == ""
    assert other(x).tolist() == expected


@pytest.mark.parametrize("made", DEEP)
def test_hooks_go_with_the_copy(made):
    net, x = M.Linear(2, 2), tensor(1, 2)
    handle = net.register_forward_pre_hook(nothing_at_all)
    other = made(net)
    handle.remove()
    assert not net._forward_pre_hooks and len(other._forward_pre_hooks) == 1
    assert np.array_equal(net(x).numpy(), other(x).numpy())


def nothing_at_all(module, inputs):
    """A hook that a pickle can name."""
