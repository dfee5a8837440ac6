"""Python state that changes after a function was traced: later calls are as eagerly."""

import math
import warnings

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera import optimizer as optim
from tessera.autodiff import GradManager

from tests.support.helper import same_bits
from tests.support.networks import Net, tensor

scale = 2.0


class Settings:
    def __init__(self, **values):
        vars(self).update(values)


class Scaled(M.Module):
    def __init__(self):
        super().__init__()
        self.factor, self.shape, self.choices = 2.0, (2, 3), {"power": 1, "add": [0.5, 1.5]}
        self.weight, self.act, self.array = tessera.Parameter([1.0, 2.0, 3.0]), F.exp, np.ones(3)
        self.inner = Settings(offset=1.0)

    def forward(self, x):
        y = self.act(x.reshape(self.shape) * self.factor * self.weight)
        y = y ** self.choices["power"] + self.choices["add"][1] + self.inner.offset
        return (y + tessera.Tensor(self.array)) * scale


def set_array(net):
    net.array[1] = 7


def set_global(net):
    global scale
    scale = 3.0 if scale == 2.0 else 2.0


CHANGES = {
    "number": lambda net: setattr(net, "factor", 3.0),
    "kind of number": lambda net: setattr(net, "factor", 2),
    "tuple": lambda net: setattr(net, "shape", (3, 2)[::-1]),
    "other shape": lambda net: setattr(net, "shape", (1, 2, 3)),
    "dict": lambda net: net.choices.update(power=2),
    "list in a dict": lambda net: net.choices["add"].__setitem__(1, 9.0),
    "parameter": lambda net: setattr(net, "weight", tessera.Parameter([3.0, 2.0, 1.0])),
    "function": lambda net: setattr(net, "act", F.tanh),
    "object": lambda net: setattr(net.inner, "offset", 5.0),
    "array": set_array,
    "global": set_global,
    "vars": lambda net: vars(net).update(factor=-0.0),
    "hook": lambda net: net.register_forward_hook(lambda module, inputs, out: out * 2),
}


@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("what", CHANGES)
def test_state_that_changes_is_recorded_anew(what, calls):
    net, x = Scaled(), tensor(6)
    traced = jit.trace(lambda x: net(x))
    for _ in range(calls):
        traced(x)
    CHANGES[what](net)
    for seed in range(3):
        x = tensor(6, seed=seed)
        assert same_bits(traced(x), net(x)), seed


def test_a_state_that_comes_back_has_its_program():
    net, x = Scaled(), tensor(6)
    traced = jit.trace(net)
    for factor in (2.0, 2.0, 3.0, 3.0):
        net.factor = factor
        traced(x)
    kept = [id(variant) for variants in traced._variants.values() for variant in variants]
    for factor in (2.0, 3.0, 2.0):
        net.factor = math.fsum([factor, 0])  # another object of the same value
        assert same_bits(traced(x), net(x))
    assert kept == [id(v) for variants in traced._variants.values() for v in variants]


LAYERS = {
    "drop_prob": (lambda: M.Dropout(0.5), lambda layer: setattr(layer, "drop_prob", 0.1)),
    "momentum": (lambda: M.BatchNorm1d(4), lambda layer: setattr(layer, "momentum", 0.3)),
    "eps": (lambda: M.BatchNorm1d(4), lambda layer: setattr(layer, "eps", 0.3)),
    "training": (lambda: M.BatchNorm1d(4), lambda layer: layer.eval()),
    "weight": (
        lambda: M.Linear(4, 4),
        lambda layer: setattr(layer, "weight", tessera.Parameter(np.eye(4, dtype="float32"))),
    ),
}


@pytest.mark.parametrize("what", LAYERS)
def test_settings_of_layers(what):
    make, change = LAYERS[what]
    results = []
    for wrap in (jit.trace, lambda function: function):
        tessera.seed(1)
        net = M.Sequential(M.Linear(4, 4), make())
        run, outputs = wrap(lambda x, net=net: net(x)), []
        for step in range(6):
            if step == 3:
                change(net[1])
            outputs.append(run(tensor(3, 4, seed=step)))
        results.append([*outputs, *net.tensors()])
    assert same_bits(*results)


def set_all(**values):
    def change(optimizer):
        for group in optimizer.param_groups:
            group.update(values)

    return change


def add_group(optimizer):
    optimizer.add_param_group({"params": [LATE[id(optimizer)]]})


LATE = {}  # parameters that an optimizer gets later
OPTIMIZERS = {
    "SGD": (lambda p: optim.SGD(p, lr=0.1, momentum=0.5, weight_decay=0.1),
            [set_all(weight_decay=0.0), set_all(momentum=0.9), set_all(nesterov=True),
             set_all(lr=0.5), add_group]),
    "Adam": (lambda p: optim.Adam(p, lr=0.1),
             [set_all(betas=(0.5, 0.6)), set_all(eps=0.1), set_all(weight_decay=0.3),
              lambda optimizer: setattr(optimizer, "decoupled", True)]),
    "Adagrad": (lambda p: optim.Adagrad(p, lr=0.1), [set_all(lr_decay=0.5), set_all(eps=0.1)]),
    "Adadelta": (lambda p: optim.Adadelta(p, lr=0.1), [set_all(rho=0.5)]),
}  # fmt: skip


def train(wrap, make, change):
    tessera.seed(2)
    net, late = Net(), tessera.Parameter([1.0, 2.0, 3.0])
    manager = GradManager().attach([*net.parameters(), late])
    optimizer = make(net.parameters())
    LATE[id(optimizer)] = late

    @wrap
    def step(x):
        with manager:
            loss = (net(x) * late).sum()
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    losses = []
    for number in range(6):
        if number == 3:
            change(optimizer)
        losses.append(step(tensor(8, 6, seed=number)))
    return [*losses, *net.tensors(), late]


@pytest.mark.parametrize(
    "name, number", [(n, i) for n in OPTIMIZERS for i in range(len(OPTIMIZERS[n][1]))]
)
def test_settings_of_optimizers(name, number):
    make, changes = OPTIMIZERS[name]
    eager = train(lambda function: function, make, changes[number])
    assert same_bits(train(jit.trace, make, changes[number]), eager)


def test_the_learning_rate_is_read_by_the_program():
    p = tessera.Parameter([1.0])
    optimizer, manager, runs = optim.SGD([p], lr=1.0), GradManager().attach(p), []

    @jit.trace
    def step(g):
        runs.append(1)
        with manager:
            manager.backward(p * g)
        optimizer.step().clear_grad()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rate in (1.0, 2.0, 3.0, 4.0):
            optimizer.param_groups[0]["lr"] = rate
            step(tessera.Tensor([1.0]))
    assert p.item() == 1 - 10 and len(runs) == 2


class Trainer:
    def __init__(self):
        self.steps, self.used, self.history = 0, 1.0, []

    @jit.trace
    def run(self, x):
        return x * self.used if self.steps >= 0 else x

    def log(self):
        self.history.append(self.steps)


def test_attributes_that_no_code_named_count_not():
    trainer = Trainer()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            trainer.log()
            assert trainer.run(tensor(3)).shape == (3,)
    (variants,) = vars(trainer)["__trace_run"]._variants.values()
    assert len(variants) == 1


def test_an_object_that_two_attributes_hold_counts_by_the_one_that_is_read():
    shared = Settings(factor=2.0)
    holder = Settings(before=shared, used=shared, behind=[shared])
    traced, x = jit.trace(lambda x: x * holder.used.factor), tensor(3)
    for factor in (2.0, 2.0, 5.0, 5.0):
        shared.factor = factor
        assert same_bits(traced(x), x * factor)


def test_names_that_are_made_count_all():
    settings = Settings(first=2.0, second=3.0)
    which = "second"
    traced, x = jit.trace(lambda x: x * getattr(settings, which)), tensor(3)
    for factor in (2.0, 2.0, 5.0, 5.0):
        settings.second = factor
        assert same_bits(traced(x), x * factor)


def test_changes_that_change_nothing_are_told_and_count_no_more():
    trainer = Trainer()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(12):
            trainer.steps = step
            assert trainer.run(tensor(3)).shape == (3,)
        trainer.used = 4.0
        assert same_bits(trainer.run(tensor(3)), tensor(3) * 4.0)
    (text,) = [str(each.message) for each in caught]
    assert text == "trace: run looks no more at self.steps, whose changes changed nothing in it"
    (variants,) = vars(trainer)["__trace_run"]._variants.values()
    assert len(variants) == 2


def test_state_that_never_settles_is_told():
    settings = Settings(factor=0.0)
    traced = jit.trace(lambda x: x * settings.factor)
    with pytest.warns(
        RuntimeWarning, match="recorded 8 times, now because settings.factor is 7.0, was 6.0"
    ):
        for step in range(20):
            settings.factor = float(step)
            assert traced(tessera.Tensor([1.0])).item() == step


def test_what_is_compared_is_bounded():
    rows = [[Settings(number=1) for _ in range(256)] for _ in range(256)]
    traced = jit.trace(lambda x: x * sum(each.number for row in rows for each in row))
    with pytest.warns(RuntimeWarning, match="reads more of Python's state than is compared"):
        for number in (1, 1, 2):
            rows[-1][-1].number = number
            assert traced(tessera.Tensor([1.0])).item() == 256 * 256 - 1 + number


def test_what_is_not_compared_is_listed():
    large, values = np.ones(2000), dict.fromkeys(range(2000), 1.0)
    traced = jit.trace(lambda x: x * float(large.sum()) + sum(values.values()))
    traced(tessera.Tensor([1.0]))
    text = traced.explain()
    assert "not compared: large, of numpy.ndarray, at test_trace_state.py" in text
    assert "not compared: values, of dict" in text


def test_what_is_attached_later_gets_its_gradient():
    manager = GradManager()
    p, q = tessera.Parameter([3.0]), tessera.Parameter([5.0])
    manager.attach(p)

    @jit.trace
    def step(x):
        with manager:
            manager.backward(p * q * x)

    for _ in range(3):
        step(tessera.Tensor([2.0]))
    assert q.grad is None
    manager.attach(q)
    for number in range(1, 4):
        step(tessera.Tensor([2.0]))
        assert q.grad.item() == 6 * number
    manager.attach(p, callbacks=lambda _, grad: grad * 10)
    for number in range(1, 4):
        step(tessera.Tensor([2.0]))
        assert p.grad.item() == 10 * (6 + 10 * number)


def test_what_a_traced_function_attaches_is_part_of_it():
    manager, runs = GradManager(), []

    @jit.trace
    def step(x):
        runs.append(1)
        with manager.attach(x):
            manager.backward(x * x)
        return x.grad

    for number in range(6):
        assert step(tessera.Tensor([float(number)])).item() == 2 * number
    assert len(runs) == 2
