"""Bytes of an estimate by category, by line, and within a limit."""

import inspect
import time

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.jit import Spec, estimate
from tessera.optimizer import SGD, Adam

from tests.support.helper import floats
from tests.support.networks import tensor

LAYERS, WIDTH, BATCH = 8, 64, 4096
VALUE = BATCH * WIDTH * 4
WEIGHTS = LAYERS * WIDTH * WIDTH * 4


class Deep:
    """Layers of gelu, their training step and the line of the layers."""

    def __init__(self, optimizer=None):
        self.weights = [
            tessera.Parameter(tensor(WIDTH, WIDTH, seed=i) * 0.1) for i in range(LAYERS)
        ]
        self.manager = GradManager().attach(self.weights)
        self.optimizer = None if optimizer is None else optimizer(self.weights, lr=0.1)

    def forward(self, x):
        for weight in self.weights:
            x = F.gelu(x @ weight)
        return x

    def step(self, x):
        with self.manager:
            loss = (self.forward(x) ** 2).mean()
            self.manager.backward(loss)
        if self.optimizer is not None:
            self.optimizer.step().clear_grad()
        return loss


def line_of(function, offset):
    return f"test_estimate_account.py:{inspect.getsourcelines(function)[1] + offset}"


def checked(found):
    """The categories of an estimate, which add up."""
    assert sum(found.by_category.values()) == found.total
    assert all(count >= 0 for count in found.by_category.values())
    assert sum(found.by_line.values()) <= found.arena + found.outputs
    return found.by_category


def test_a_training_step_by_category():
    deep = Deep(Adam)
    found = estimate(deep.step, Spec((BATCH, WIDTH)))
    by = checked(found)
    assert by["parameters"] == WEIGHTS and by["arguments"] == VALUE
    assert 2 * WEIGHTS <= by["optimizer state"] <= 2 * WEIGHTS + 64 * LAYERS
    assert (LAYERS - 1) * VALUE <= by["saved for the gradient"] <= (LAYERS + 1) * VALUE
    assert by["saved by loops"] == by["other state"] == 0
    assert by["gradients"] <= WEIGHTS  # those that there are at the peak


def test_the_optimizer_before_and_after_its_first_step():
    deep, x = Deep(Adam), tensor(BATCH, WIDTH)
    before = [each.copy() for state in deep.optimizer.state_dict()["state"].values()
              for each in state.values()]  # fmt: skip
    first = estimate(deep.step, x)
    after = [each for state in deep.optimizer.state_dict()["state"].values()
             for each in state.values()]  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert all(weight.grad is None for weight in deep.weights)
    deep.step(x)
    assert estimate(deep.step, x) == first


def test_gradients_that_the_call_leaves():
    by = checked(estimate(Deep().step, Spec((BATCH, WIDTH))))
    assert by["gradients"] == WEIGHTS and by["results"] == 4
    deep = Deep()
    deep.step(tensor(BATCH, WIDTH))
    assert checked(estimate(deep.step, Spec((BATCH, WIDTH))))["gradients"] >= WEIGHTS


def test_by_line():
    found = estimate(Deep().step, Spec((BATCH, WIDTH)))
    (line, count), *_ = found.by_line.items()
    assert line == line_of(Deep.forward, 2) and count >= (LAYERS - 1) * VALUE
    assert line_of(Deep.step, 3) in found.by_line  # of the gradients
    assert list(found.by_line.values()) == sorted(found.by_line.values(), reverse=True)


def test_lines_are_those_of_explain():
    deep, x = Deep(), Spec((BATCH, WIDTH))
    account = jit.explain(deep.step, x)
    rows = [account.piece_row(piece) for piece in account.peak.pieces]
    own = line_of(Deep.forward, 2)
    of_peak = sum(row["bytes"] for row in rows if row["location"].startswith(own))
    assert estimate(deep.step, x).by_line[own] == of_peak


def test_loops_and_states_have_categories():
    weight = tessera.Parameter(tensor(WIDTH, WIDTH) * 0.1)
    manager = GradManager().attach([weight])

    def step(x):
        with manager:
            last, _ = F.scan(lambda h, _: (F.tanh(h @ weight), None), x, None, length=20)
            manager.backward((F.dropout(last, 0.5) ** 2).sum())

    by = checked(estimate(step, Spec((512, WIDTH))))
    assert by["saved by loops"] >= 19 * 512 * WIDTH * 4
    assert by["other state"] == 16  # the generator's seed and offset


def test_a_loaded_program(tmp_path):
    traced = jit.trace(M.Linear(64, 32).__call__, capture_as_const=True, symbolic=True)
    traced(tensor(4, 64))
    traced.dump(tmp_path / "net.tess")
    by = checked(estimate(jit.load(tmp_path / "net.tess"), Spec((4, 64))))
    assert by["constants"] >= 64 * 32 * 4 and by["results"] == 4 * 32 * 4


def test_sizes_that_data_decides():
    checked(estimate(lambda x: F.exp(x[x > 0]) * 2, Spec((100, 100))))


def test_within_a_limit():
    deep, x = Deep(), Spec((BATCH, WIDTH))
    plain = estimate(deep.step, x)
    assert (plain.time_factor, plain.freed, plain.computed_again) == (1.0, 0, ())
    within = estimate(deep.step, x, memory_limit=plain.peak * 2 // 3)
    checked(within)
    assert 1 < within.time_factor < 2
    assert within.freed >= plain.peak // 3 - (1 << 16)
    assert within.arena == plain.arena - within.freed
    assert line_of(Deep.forward, 2) in {each.line for each in within.computed_again}
    assert any("matmul" in each.operators for each in within.computed_again)
    assert all(each.count >= 1 and each.bytes >= VALUE for each in within.computed_again)
    text = str(within)
    assert "kernels and calls run again, which frees" in text and "times the time" in text


def test_a_limit_that_is_large_enough_costs_nothing():
    found = estimate(Deep().step, Spec((BATCH, WIDTH)), memory_limit="1 GiB")
    assert (found.time_factor, found.freed, found.computed_again) == (1.0, 0, ())


def test_a_specification_on_another_device():
    on_sim = Spec((4, 4), device="sim0")
    assert estimate(lambda x: x @ x, on_sim).outputs == 64
    with pytest.raises(ValueError, match="must be on one device, got a tensor on sim0"):
        estimate(lambda x, y: x @ y, on_sim, Spec((4, 4)))
    with pytest.raises(ValueError, match="device must be one of .*, got 'moon'"):
        estimate(lambda x: x, Spec((1,), device="moon"))


class Block(M.Module):
    """H. Touvron et al., LLaMA, 2023, without the rotation of positions."""

    def __init__(self, width, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = M.RMSNorm(width), M.RMSNorm(width)
        self.query, self.key = M.Linear(width, width, False), M.Linear(width, width, False)
        self.value, self.out = M.Linear(width, width, False), M.Linear(width, width, False)
        self.gate, self.up = M.Linear(width, hidden, False), M.Linear(width, hidden, False)
        self.down = M.Linear(hidden, width, False)

    def forward(self, x):
        batch, length, width = x.shape
        y, parts = self.norm1(x), (batch, length, self.heads, width // self.heads)
        heads = [each(y).reshape(parts).transpose(0, 2, 1, 3)
                 for each in (self.query, self.key, self.value)]  # fmt: skip
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(y.transpose(0, 2, 1, 3).reshape(batch, length, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Language(M.Module):
    def __init__(self, layers=32, width=4096, hidden=11008, heads=32, words=32000):
        super().__init__()
        self.words = M.Embedding(words, width)
        self.blocks = [Block(width, hidden, heads) for _ in range(layers)]
        self.norm, self.head = M.RMSNorm(width), M.Linear(width, words, False)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@pytest.fixture
def on_null():
    tessera.set_default_device("null0")
    yield
    tessera.set_default_device("cpu0")


DEADLINE = 30  # seconds: about ten times what it takes while other tests run


@pytest.mark.parametrize("optimizer", [SGD, Adam])
def test_seven_billion_parameters(on_null, optimizer):
    start = time.monotonic()
    net = Language()
    parameters = 4 * sum(each.size for each in net.parameters())
    assert parameters > 4 * 6.7e9
    tokens = Spec((1, 2048), "int32")
    forward = estimate(net, tokens)
    logits = 2048 * 32000 * 4
    assert checked(forward)["parameters"] == parameters and forward.outputs == logits
    rule, manager = optimizer(net.parameters(), lr=0.1), GradManager().attach(net.parameters())

    def step(tokens):
        with manager:
            loss = F.cross_entropy(net(tokens).reshape(-1, 32000), tokens.reshape(-1))
            manager.backward(loss)
        rule.step().clear_grad()
        return loss

    by = checked(estimate(step, tokens))
    assert by["gradients"] > 0.9 * parameters
    moments = 2 if optimizer is Adam else 0
    assert moments * parameters <= by["optimizer state"] <= moments * parameters + (1 << 16)
    assert time.monotonic() - start < DEADLINE


def test_an_estimate_on_null_is_that_of_the_host(on_null):
    def build():
        net = M.Sequential(M.Conv2d(3, 8, 3), M.BatchNorm2d(8), M.Flatten(), M.Linear(288, 4))
        rule, manager = Adam(net.parameters(), lr=0.1), GradManager().attach(net.parameters())

        def step(x):
            with manager:
                manager.backward((F.dropout(net(x), 0.5) ** 2).mean())
            rule.step().clear_grad()

        return step

    here = estimate(build(), Spec((16, 3, 8, 8)))
    tessera.set_default_device("cpu0")
    there = estimate(build(), tessera.Tensor(floats(16, 3, 8, 8)))
    assert here.by_category == there.by_category and here.launches == there.launches
