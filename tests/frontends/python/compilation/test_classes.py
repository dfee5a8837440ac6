"""What is compiled again and what never: classes of calls, counted beside a model of them."""

import itertools
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812

from tests.support.classes import OPERATORS

RANDOM_SHAPES = """
import json
import tessera
from tests.support.classes import Calls
calls = Calls(seed=0)
for number in range(10000):
    calls.call(checked=number % 100 == 0)
    if number % 1000 == 0:
        tessera.sync()
tessera.sync()
print(json.dumps({"classes": len(calls.classes), "wrong": calls.wrong, **tessera.cache_stats()}))
"""


def test_random_shapes_compile_once_for_each_class():
    env = {**os.environ, "TESS_CACHE_DIR": "", "TESS_WARM_SET": ""}
    command = [sys.executable, "-c", RANDOM_SHAPES]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(OPERATORS) == 50 and result["classes"] > 200 and result["wrong"] == []
    assert result["compilations"] == result["misses"] == result["entries"] == result["classes"]
    assert result["primitives"] > 0  # of library calls: one for each shape, and not counted above
    assert result["bytes"] <= result["limit"]
    assert result["primitive_bytes"] <= result["primitive_limit"]


def tensor(*shape):
    return tessera.Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1)


def misses():
    return tessera.cache_stats()["misses"]


def written(key, value):
    """A copy of a tensor with elements replaced."""
    y = tensor(20, 6) * 1
    y[key] = value
    return y


def gradient_of(key):
    x = tessera.Parameter(tensor(20, 6))
    manager = tessera.autodiff.GradManager().attach([x])
    with manager:
        manager.backward(F.sum(x[key] * 2))
    return x.grad


VARIED = {
    "a Python number": lambda n: tensor(4, 5) + (n + 0.5),
    "a Python integer": lambda n: tensor(4, 5) * n,
    "an attribute of a kernel": lambda n: F.leaky_relu(-tensor(7), 0.1 * n),
    "limits": lambda n: F.clip(tensor(7), n, 2.0 * n),
    "a size": lambda n: F.exp(tensor(n, 5)) - tensor(n, 5),
    "a size of a broadcast": lambda n: tensor(n, 5) + tensor(5),
    "a size of a reduction": lambda n: F.sum(tensor(3, n), 1),
    "a size of a product": lambda n: F.matmul(tensor(n, 6), tensor(6, n)),
    "a size of a new tensor": lambda n: F.full((n, 3), n),
    "a size of a softmax": lambda n: F.softmax(tensor(n, n + 1), 1),
    "a stride": lambda n: tensor(40, 6)[::n] + 1,
    "a stride and an offset": lambda n: tensor(40, 40)[n:, n : 2 * n] * tensor(40 - n, n),
    "a stride of a reduction": lambda n: F.sum(tensor(40, 6)[::n], 0),
    "a layout of two axes": lambda n: F.exp(tensor(n, n + 1).transpose(1, 0)),
    "a range": lambda n: F.arange(n, n + 4),
    "a size of a repetition": lambda n: F.repeat(tensor(n, n + 1), 3, 1),
    "a size of a tiling": lambda n: F.tile(tensor(n, n + 1), (2, 3)),
    "a size of a roll": lambda n: F.roll(tensor(n, n + 1), 3, 1),
    "a size of another tensor": lambda n: F.reshape_like(tensor(n, 4)[:, ::2], tensor(2, n)) + 1,
    "a size that is repeated": lambda n: F.broadcast_like(tensor(n, 1), tensor(n, 3)) + 1,
    "a size that is summed": lambda n: F.sum_to(tensor(3, n, 2), tensor(n, 1)),
    "a size of a triangle": lambda n: F.tril(tensor(n, n + 1)),
    "a shift": lambda n: F.roll(tensor(30, 2), n, 0),
    "a border": lambda n: F.pad(tensor(3, 4), ((n, 2 * n), (0, n + 1))),
    "an index that is written": lambda n: written(n, -1.0),
    "a slice that is written": lambda n: written(slice(n, n + 3), -1.0),
    "a slice of another size that is written": lambda n: written(slice(1, n), -tensor(n - 1, 6)),
    "an index whose gradient is taken": lambda n: gradient_of(n),
    "a slice whose gradient is taken": lambda n: gradient_of(slice(1, n + 2)),
}


@pytest.mark.parametrize("what", VARIED)
def test_what_a_kernel_takes_compiles_nothing_again(what):
    for n in (2, 3) * 5:  # a gradient of several operators is a program after some calls
        VARIED[what](n)
    before = misses()
    results = [VARIED[what](n) for n in range(4, 12)]
    tessera.sync()
    assert misses() == before
    values = {(each.shape, str(each.tolist())) for each in results}
    assert len(values) == len(results)  # each call was another


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_one_class_reads_and_writes_every_slice(size):
    """Bindings of one program: starts, stops and steps of any sign, none of them in range."""
    wrong = []
    bounds = [None, *range(-size - 2, size + 3)]
    for key in (slice(*each) for each in itertools.product(bounds, bounds, [1, 2, -1, -3])):
        expected = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        y = tessera.Tensor(expected) * 1
        read_well = np.array_equal(y[key].numpy(), expected[key])
        expected[key] = -7
        y[key] = -7.0
        if not read_well or not np.array_equal(y.numpy(), expected):
            wrong.append(key)
    assert not wrong


def unrolled(steps):
    """The gradient of a recurrent layer, a step for each x[:, t], and what NumPy says it is."""
    x = tessera.Parameter(tensor(2, steps, 3) / (6 * steps))
    weight = tensor(3, 3) * 0.05
    manager = tessera.autodiff.GradManager().attach([x])
    states = [tensor(2, 3) * 0]
    with manager:
        for t in range(steps):
            states.append(F.tanh(F.matmul(states[-1], weight) + x[:, t]))
        manager.backward(F.sum(states[-1]))
    expected, gradient = np.zeros(x.shape, np.float32), np.ones((2, 3), np.float32)
    for t in reversed(range(steps)):
        expected[:, t] = gradient * (1 - states[t + 1].numpy() ** 2)
        gradient = expected[:, t] @ weight.numpy().T
    return x.grad.numpy(), expected


def test_512_steps_of_a_loop_compile_no_more_than_4():
    counters = ("misses", "compilations", "programs", "kernels_compiled")
    for _ in range(4):  # until the gradient of a step is a program
        unrolled(4)
    before = tessera.cache_stats()
    gradient, expected = unrolled(512)
    after = tessera.cache_stats()
    assert [after[name] - before[name] for name in counters] == [0] * len(counters)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-30)


INFERENCES = """
import json
import numpy as np
import tessera
from tessera import _core

def ones(*shape):
    return tessera.Tensor(np.ones(shape, np.float32))

CALLS = {
    "Matmul": lambda n: ({}, ones(n, 6), ones(6, n)),
    "Pad": lambda n: ({"low": [n], "high": [1]}, ones(n)),
    "NonZero": lambda n: ({}, ones(3, n)),
    "LeakyRelu": lambda n: ({"negative_slope": 0.1 * n}, ones(n, 3)),
    "Full": lambda n: ({"shape": [n], "value": 1.0 * n},),
}

def inferred(name, n):
    attrs, *operands = CALLS[name](n)
    op = _core.op_class(name)(**attrs)
    before = tessera.cache_stats()
    _core.apply(op, *operands)
    tessera.sync()
    after = tessera.cache_stats()
    return [after[key] - before[key] for key in ("inferences", "compilations", "misses")]

print(json.dumps({name: [inferred(name, n) for n in (5, 5, 7)] for name in CALLS}))
"""
DIRECT = {"LeakyRelu": 0, "Full": 1}  # launched without a binding; its shape stands in an attribute


@pytest.mark.parametrize("ships", [True, False])
def test_a_miss_infers_once(ships):
    """The user's sizes; to compile, the class's unknown ones, too. (A program of several operators
    infers each when it is bound.) A hit asks no operator.
    """
    env = {**os.environ, "TESS_CACHE_DIR": "", "TESS_VERIFY": "0"}
    env |= {} if ships else {"TESS_WARM_SET": ""}
    done = subprocess.run(
        [sys.executable, "-c", INFERENCES], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    for name, (first, second, other) in json.loads(done.stdout).items():
        assert first == [1 + first[1], first[1], 1] and (ships or first[1] == 1), name
        assert second == [DIRECT.get(name, 0), 0, 0], name
        assert other == [DIRECT.get(name, 1), 0, 0], name


def test_an_update_with_another_learning_rate_compiles_nothing():
    value = tessera.Parameter(np.ones(3, np.float32))
    optimizer = tessera.optimizer.SGD([value], lr=0.1)

    def step(rate):
        optimizer.param_groups[0]["lr"] = rate
        value.grad = tensor(3)
        optimizer.step()

    step(0.1)
    before = misses()
    for rate in (0.2, 0.4):
        step(rate)
    assert misses() == before
    np.testing.assert_allclose(value.numpy(), 1 - 0.7 * np.arange(1, 4), rtol=1e-6)


def test_threads_share_one_cache():
    """Eight threads call operators that nobody called before: each compiles once."""
    barrier, wrong = threading.Barrier(8), []

    def work(number):
        x = tensor(3, 5) + number
        barrier.wait()
        for _ in range(50):
            y = F.logaddexp(x, F.expm1(x) * 2).numpy()
        expected = np.logaddexp(x.numpy(), np.expm1(x.numpy()) * 2)
        if not np.allclose(y, expected, rtol=1e-5):
            wrong.append(number)

    before = tessera.cache_stats()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = tessera.cache_stats()
    assert not wrong
    assert after["misses"] - before["misses"] <= 4  # + number, logaddexp, expm1, * 2
    assert after["results"] - before["results"] == 8 * (1 + 50 * 3)
    calls = after["hits"] - before["hits"] + after["misses"] - before["misses"]
    assert calls == 8 * (1 + 50 * 3)
