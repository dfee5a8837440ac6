"""Sizes within traced functions: expressions, which programs compute when inputs are bound."""

import math
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.core import SymInt
from tessera.jit import Dim

from tests.support.helper import gradient_programs, programs, same_bits

USED = {
    "reshape": lambda x: F.reshape(x, (x.shape[0] * 2, x.shape[1] // 2)),
    "reshape, one left open": lambda x: x.reshape(-1, x.shape[0]),
    "reshape, 1 left open": lambda x: F.reshape(x[:, 0], (x.shape[0], -1)) * x[:, 1],
    "several ints": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "the size": lambda x: x.reshape(x.size),
    "of a result": lambda x: _split_rows(F.concat([x, x], 0)),
    "of a product": lambda x: _as_row(F.matmul(x, F.transpose(x, (1, 0)))),
    "broadcast": lambda x: F.broadcast_to(x[:1], (x.shape[0] * 3, x.shape[1])),
    "full": lambda x: x + F.full((x.shape[0], 1), 2.0),
    "ones": lambda x: F.ones((x.shape[0], 3)) * x[:, :1],
    "arange": lambda x: F.arange(x.shape[0]) + F.arange(1, x.shape[0] + 1),
    "arange, 2 apart": lambda x: F.arange(0, x.shape[0] * 2, 2),
    "eye": lambda x: F.matmul(F.eye(x.shape[0]), x),
    "of a max": lambda x: F.full((max(x.shape[0], 2), 3), 1.0),
    "a slice": lambda x: x[: x.shape[0] // 2, 1:].reshape(x.shape[0] // 2, 3) * 2,
    "the length of a slice": lambda x: x[1:].reshape((x[1:].shape[0], 4, 1)) + 1,
    "a slice from the end": lambda x: F.ones(x[:-1].shape) * x[:-1],
    "every other": lambda x: F.ones(x[::2].shape[0]),
    "one row": lambda x: x[x.shape[0] - 1] + x[x.shape[0] // 2],
    "as a number": lambda x: x.sum(axis=0) / x.shape[0] + x.shape[0] * 2,
    "a border": lambda x: F.pad(x, ((x.shape[0], 1), (0, 0))).sum(axis=1),
    "tiles": lambda x: F.tile(x, (x.shape[0], 1)),
    "repeats": lambda x: F.repeat(x, x.shape[0], 1),
    "parts": lambda x: F.split(x, [x.shape[0] // 2], 0)[1].mean(axis=0),
    "a shift": lambda x: F.roll(x, x.shape[0] // 2, 0),
    "classes": lambda x: F.one_hot(F.arange(x.shape[0], dtype="int32"), x.shape[0]),
    "the largest": lambda x: F.topk(F.transpose(x, (1, 0)), x.shape[0] // 2)[0],
    "written": lambda x: _written(x),
    "minus": lambda x: F.full((x.shape[0] - 1, x.shape[0] % 4 + 1), 1.0),
}


def _split_rows(x):
    return x.reshape(2, x.shape[0] // 2, x.shape[1])


def _as_row(x):
    return x.reshape(1, x.shape[0] * x.shape[1])


def _written(x):
    x = x + 0
    x[x.shape[0] // 2 :] = 1.0
    x[0, : x.shape[1] - 1] = 2.0
    return x


def rows(*shape):
    return tessera.Tensor(np.random.RandomState(sum(shape)).randn(*shape).astype(np.float32))


@pytest.mark.parametrize("what", USED)
def test_sizes_follow_the_call(what):
    traced = jit.trace(USED[what])
    for count in [4, 4, 6, 2, 10, 4, 16]:
        x = rows(count, 4)
        assert same_bits(traced(x), USED[what](x))
    if what != "minus":  # a result has a size of 1 once
        assert programs(traced) == 2


@pytest.mark.parametrize("what", USED)
def test_a_file_computes_sizes(what, tmp_path):
    traced = jit.trace(USED[what], capture_as_const=True)
    traced(rows(4, 4))
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 2, 64)}})
    for allow_code in (False, True):
        program = jit.load(tmp_path / "p", allow_code=allow_code)
        for count in (2, 4, 6, 30):
            assert same_bits(program(rows(count, 4)), USED[what](rows(count, 4)))


def test_a_row_that_broadcasts():
    """Two sizes that are not known to be equal may be 2 and 1."""

    def sums(x):
        out = x + x[x.shape[0] // 2 :]
        return F.ones(out.shape) + out

    traced = jit.trace(sums)
    for _ in range(3):
        assert same_bits(traced(rows(2, 4)), sums(rows(2, 4)))


def seen_in_a_trace(look):
    """What `look` gives for a tensor [6, 4] in a traced function."""
    found = []
    jit.trace(lambda x: found.append(look(x)) or x)(rows(6, 4))
    return found[0]


def test_it_counts_as_an_int():
    def _look(x):
        n = x.shape[0]
        assert isinstance(n, SymInt) and isinstance(n, int)
        return (
            [0, 1, 2, 3, 4, 5, 6][n], list(range(n))[-1], int(n), float(n), math.sqrt(n + 10),
            n == 6, n != 6, n < 7, n >= 7, n > 5, hash(n) == hash(6), bool(n), {6: "six"}[n],
            n / 4, 3 / n, n**2, divmod(n, 4), -n, abs(n), n & 3, x.shape == (6, 4),
            np.zeros(x.shape).shape, np.array(x.shape).tolist(), np.int64(2) * n, n + 0.5, len(x),
        )  # fmt: skip

    got = seen_in_a_trace(_look)
    assert got == (
        6, 5, 6, 6.0, 4.0, True, False, True, False, True, True, True, "six", 1.5, 0.5, 36,
        (1, 2), -6, 6, 2, True, (6, 4), [6, 4], 12, 6.5, 6,
    )  # fmt: skip


def test_it_prints_as_the_number_and_tells_its_expression():
    texts = seen_in_a_trace(lambda x: [f"{x.shape[0]}", str(x.shape), f"{x.shape[0] * 2 + 1:3d}"])
    assert texts == ["6", "(6, 4)", " 13"]
    assert seen_in_a_trace(lambda x: (x.shape[0] * 2 + 1).expression) == "2*s8 + 1"


@pytest.mark.parametrize("symbolic", [False, True])
def test_a_result_is_an_int(symbolic):
    def _sizes(x):
        chosen = x[x > 0]
        return chosen, x.shape[0], {"all": [x.shape[0] * 2, chosen.shape[0], chosen.shape[0] + 1]}

    traced = jit.trace(_sizes, symbolic=symbolic)
    for count, more in ((1, 6), (1, 6), (2, 6), (4, 6), (1, 9), (3, 9), (3, 2), (0, 4)):
        x = tessera.Tensor([1.0] * count + [-1.0] * more)
        chosen, size, rest = traced(x)
        numbers = [size, *rest["all"]]
        assert chosen.shape == (count,) and {type(each) for each in numbers} == {int}
        assert numbers == [count + more, 2 * (count + more), count, count + 1]


def test_it_survives_its_trace_as_a_number():
    kept = []
    seen_in_a_trace(lambda x: kept.append(x.shape[0]))
    (n,) = kept
    assert F.ones((n, 2)).shape == (6, 2)
    assert pickle.loads(pickle.dumps(n)) == 6
    traced = jit.trace(lambda x: x.reshape(n, -1))
    for count in (6, 6, 12, 18):
        x = rows(count)
        assert same_bits(traced(x), x.reshape(6, -1))


def test_an_int_stays_one_outside_of_traces():
    assert type(rows(3, 4).shape[0]) is int
    weight = rows(4, 4)
    assert type(seen_in_a_trace(lambda x: weight.shape[0])) is int
    assert type(seen_in_a_trace(lambda x: x[:1].shape[0])) is int


class Attention(M.Module):
    """Multi-head attention that reads its sizes, as PyTorch programs do."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = M.Linear(dim, 3 * dim)
        self.out = M.Linear(dim, dim)

    def forward(self, x):
        batch, length, dim = x.shape
        parts = self.qkv(x).reshape(batch, length, 3, self.heads, dim // self.heads)
        query, key, value = (parts[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        scores = F.matmul(query, key.transpose(0, 1, 3, 2)) / math.sqrt(dim // self.heads)
        mixed = F.matmul(F.softmax(scores, axis=-1), value)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, length, dim))


SHAPES = [(2, 5), (2, 5), (3, 7), (4, 2), (2, 16), (7, 3), (3, 7)]


def test_attention_at_any_batch_and_length(tmp_path):
    tessera.random.seed(3)
    net = Attention(8, 2)
    traced = jit.trace(net)
    for batch, length in SHAPES:
        x = rows(batch, length, 8)
        assert same_bits(traced(x), net(x))
    assert programs(traced) == 2
    constant = jit.trace(net, capture_as_const=True)
    constant(rows(2, 5, 8))
    dims = {"x": {0: Dim("batch", 2, 64), 1: Dim("length", 2, 512)}}
    constant.dump(tmp_path / "p", arg_names=["x"], dims=dims)
    program = jit.load(tmp_path / "p")
    for batch, length in SHAPES:
        assert same_bits(program(rows(batch, length, 8)), net(rows(batch, length, 8)))


def trained(wrap, shapes):
    tessera.random.seed(3)
    net = Attention(8, 2)
    manager = GradManager().attach(net.parameters())
    forward = wrap(net)
    losses = []
    for batch, length in shapes:
        with manager:
            loss = (forward(rows(batch, length, 8)) ** 2).mean()
            manager.backward(loss)
        for parameter in net.parameters():
            parameter._reset(parameter - 0.1 * parameter.grad)
            parameter.grad = None
        losses.append(loss.item())
    return losses, [parameter.numpy() for parameter in net.parameters()], forward


def test_attention_trains_at_any_batch_and_length():
    shapes = SHAPES * 2
    eager, traced = trained(lambda f: f, shapes), trained(jit.trace, shapes)
    assert eager[0] == traced[0]
    assert same_bits(eager[1], traced[1])
    assert programs(traced[2]) == 2


GRADIENTS = {
    "reduced": lambda x: (F.mean(x * x, 1) * F.sum(x, 1)).mean(),
    "spread": lambda x: (F.broadcast_to(x[:1], x.shape) * x).sum(),
    "joined": lambda x: (F.concat([x, x * 2, x[1:]], 0) ** 2).sum(),
    "cut": lambda x: (x[1:, ::2] ** 2).sum() + (x[:-1] ** 2).mean() + x[-1].sum(),
    "picked": lambda x: (F.gather(x, 0, F.zeros(x.shape, dtype="int32")) * x).mean(),
    "by an index": lambda x: (x[F.arange(x.shape[0], dtype="int32")] ** 3).mean(),
    "in parts": lambda x: F.stack(F.split(x, 2, 1)).std(),
    "bordered": lambda x: (F.pad(x, ((1, 2), (0, 0))) ** 2).mean(),
    "repeated": lambda x: (F.repeat(F.tile(x, (2, 1)), 2, 0) ** 2).mean(),
    "normalised": lambda x: (F.layer_norm(x, 4, False) * x).sum() / x.shape[0],
    "a loss": lambda x: F.loss.cross_entropy(x, F.zeros(x.shape[0], dtype="int32")),
    "flattened": lambda x: (F.flatten(x) * F.arange(x.size)).mean(),
    "a product": lambda x: F.matmul(x, x.T).mean(),
    "largest": lambda x: F.topk(x.T, 2)[0].mean() + x.max(axis=0).sum(),
}


@pytest.mark.parametrize("what", GRADIENTS)
def test_gradients_of_whole_steps(what):
    def _step(x):
        with GradManager().attach(x) as manager:
            loss = GRADIENTS[what](x)
            manager.backward(loss)
        return loss, x.grad

    traced = jit.trace(_step)
    for count in [4, 4, 6, 2, 10, 4, 16]:
        assert same_bits(traced(rows(count, 4)), _step(rows(count, 4)))
    assert programs(traced) == 2


@pytest.mark.parametrize("what", GRADIENTS)
def test_gradients_of_forward_halves(what):
    traced = jit.trace(GRADIENTS[what])
    for count in [4, 4, 6, 3, 10, 4, 16]:
        grads = []
        for function in (GRADIENTS[what], traced):
            x = rows(count, 4)
            with GradManager().attach(x) as manager:
                manager.backward(function(x))
            grads.append(x.grad)
        assert same_bits(*grads)
    assert programs(traced) == gradient_programs(traced) == 2


def test_a_backward_half_knows_the_sizes_of_arguments():
    def _function(x):
        return F.broadcast_to(x.sum(axis=0), (x.shape[0], 3, 4)).reshape(x.shape[0] * 3, 4) * 2

    traced = jit.trace(_function)
    for count in (2, 2, 5, 5, 9, 9):
        grads = []
        for function in (_function, traced):
            x = rows(count, 4)
            with GradManager().attach(x) as manager:
                manager.backward((function(x) ** 2).sum())
            grads.append(x.grad)
        assert same_bits(*grads)
