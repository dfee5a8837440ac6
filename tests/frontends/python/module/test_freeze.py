"""Module.freeze: parameters that neither GradManager nor optimizers change."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.optimizer as optim
from tessera import jit
from tessera.autodiff import GradManager


def network():
    return M.Sequential(M.Linear(3, 4), M.BatchNorm1d(4), M.Linear(4, 2))


def values(module):
    return [parameter.numpy().copy() for parameter in module.parameters()]


def moved(module, before):
    pairs = zip(values(module), before, strict=True)
    return [not np.array_equal(now, was) for now, was in pairs]


def trainer(net, optimizer):
    manager, x = GradManager().attach(net.parameters()), F.arange(12).reshape(4, 3) / 5

    def step():
        with manager:
            loss = (net(x) ** 2).mean()
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return step


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("traced", [False, True])
def test_frozen_parameters_stay(name, traced):
    net = network()
    net[0].freeze()
    step = trainer(net, OPTIMIZERS[name](net.parameters()))
    step, before = jit.trace(step) if traced else step, values(net)
    for _ in range(12):  # past the step from which the update is a program
        step()
    own = len(list(net[0].parameters()))
    assert moved(net, before) == [False] * own + [True] * (len(before) - own)
    before = values(net.unfreeze())
    step()
    assert all(moved(net, before)[:own])
    before = values(net.freeze())
    with warnings.catch_warnings(action="ignore"):
        step()
    assert not any(moved(net, before))


def test_lbfgs_leaves_frozen_parameters():
    net = M.Sequential(M.Linear(3, 4), M.Linear(4, 2))
    net[0].freeze()
    manager, before = GradManager().attach(net.parameters()), values(net)
    optimizer = optim.LBFGS(net.parameters(), lr=0.1)

    def closure():
        with manager:
            loss = (net(F.ones((1, 3))) ** 2).sum()
            manager.backward(loss)
        return loss

    optimizer.step(closure)
    assert moved(net, before) == [False, False, True, True]


def test_a_frozen_parameter_has_no_gradient():
    net = network()
    manager = GradManager().attach(net.parameters())
    with manager:
        manager.backward(net(F.ones((4, 3))).sum())
    net[2].freeze()
    assert net[2].weight.grad is None and net[0].weight.grad is not None
    with manager:
        manager.backward(net(F.ones((4, 3))).sum())
    assert net[2].weight.grad is None


def test_copies_are_frozen_too_and_gradients_go_through():
    net = copy.deepcopy(network().freeze())
    x = F.ones((4, 3))
    manager = GradManager().attach([x, *net.parameters()])
    with manager:
        manager.backward((net.eval()(x) ** 2).sum())
    assert x.grad is not None and all(each.grad is None for each in net.parameters())


def saved(net, path):
    tessera.save(net, path)
    return tessera.load(path, allow_code=True)


@pytest.mark.parametrize("kept", [lambda net, _: pickle.loads(pickle.dumps(net)), saved])
def test_pickles_and_files_of_a_module_are_frozen(kept, tmp_path):
    net = network()
    net[0].freeze()
    again = kept(net, tmp_path / "net.tess")
    before = values(again)
    trainer(again, OPTIMIZERS["SGD"](again.parameters()))()
    assert moved(again, before) == [False, False, True, True, True, True]
    state = network()
    state.load_state_dict(kept(net, tmp_path / "net.tess").state_dict())
    before = values(state)
    trainer(state, OPTIMIZERS["SGD"](state.parameters()))()
    assert all(moved(state, before))


def test_a_file_of_a_step_leaves_frozen_parameters(tmp_path):
    net = network()
    net[0].freeze()
    step = trainer(net, OPTIMIZERS["SGD"](net.parameters()))
    traced = jit.trace(step, capture_as_const=True)
    traced()
    traced.dump(tmp_path / "step.tess", training=True)
    program = jit.load(tmp_path / "step.tess")
    assert [program().item() for _ in range(3)] == [step().item() for _ in range(3)]


def test_a_traced_function_must_not_freeze():
    net = network()

    @jit.trace
    def function(x):
        net.freeze()
        return net(x)

    with pytest.raises(RuntimeError, match="freeze: a module must be frozen outside of traced"):
        function(F.ones((4, 3)))
