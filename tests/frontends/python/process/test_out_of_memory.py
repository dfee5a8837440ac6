"""Memory that runs out is an exception that says what holds it, and leaves the process usable."""

import ast
import contextlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, device, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager
from tessera.optimizer import Adam

MIB = 1 << 20


@pytest.fixture
def limited():
    """Sets a limit of so many bytes beside what is held; it ends with the test."""

    def limit(extra):
        tessera.sync()
        device.coalesce_free_memory()
        device.set_memory_limit(device.get_allocated_memory() + extra)

    yield limit
    device.set_memory_limit(1 << 60)


@pytest.fixture
def level():
    """Sets the async level; it is as before afterwards."""
    before = config.get_async_level()
    yield config.set_async_level
    config.set_async_level(before)


def numbers(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return tessera.Tensor(values.astype(np.float32))


class Net(M.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first, self.norm = M.Linear(width, width), M.BatchNorm1d(width)
        self.last = M.Linear(width, width)

    def forward(self, x):
        return self.last(F.dropout(F.gelu(self.norm(self.first(x))), 0.1))


def message_of(function):
    with pytest.raises(MemoryError) as caught:
        function()
    return str(caught.value)


def test_the_message(limited):
    net = Net(512)
    optimizer = Adam(net.parameters(), lr=0.01)
    with GradManager().attach(net.parameters()) as manager:
        manager.backward(net(numbers(4, 512)).sum())
    optimizer.step()
    largest = numbers(1024, 1024)
    kept = [largest * float(i) for i in range(12)]
    limited(MIB)
    text = message_of(lambda: largest * 2.0)
    assert re.match(
        r"cpu0: memory must stay within \d+ bytes, got a request of 4194304 bytes", text
    )
    named = re.findall(r"^  4\.0 MiB f32\[1024, 1024\] made at (.*)$", text, re.MULTILINE)
    assert len(named) == 10
    assert sum("test_out_of_memory.py" in each for each in named) >= 9
    assert re.search(r"^wanted by \w+ of .*f32\[1024, 1024\]", text, re.MULTILINE)
    held = re.search(
        r"^held on cpu0: parameters (.*) MiB, gradients (.*) MiB, optimizer state (.*) MiB, "
        r"activations and other values (.*) MiB, free blocks .* MiB$",
        text,
        re.MULTILINE,
    )
    parameters, gradients, state, others = map(float, held.groups())
    assert parameters >= 2.0 and gradients >= 2.0
    assert state >= 4.0  # two moments of each parameter
    assert others >= 52.0
    assert text.endswith("around a part of the model")
    device.set_memory_limit(1 << 60)
    assert (largest * 2.0).numpy()[1, 1] == kept[2].numpy()[1, 1]


def test_temporary_memory_of_an_operator(limited, level):
    level(0)
    x = numbers(1200, 600)
    limited(8 * MIB)
    text = message_of(lambda: [F.sort(x, dim=0), F.sort(F.concat([x, x]), dim=0)])
    assert "wanted by" in text


def test_a_trace_that_finds_no_memory(limited):
    x = numbers(512, 512)
    function = jit.trace(lambda a: F.exp(a @ a) @ a)
    expected = function(x).numpy().tobytes()
    limited(MIB // 2)
    assert "memory must stay within" in message_of(lambda: function(x).numpy())
    device.set_memory_limit(1 << 60)
    assert function(x).numpy().tobytes() == expected


class Step:
    """One step of training that begins with the same state each time."""

    def __init__(self, traced):
        tessera.seed(5)
        self.net = Net()
        self.x, self.y = numbers(16, 8), numbers(16, 8, seed=1)
        self.manager = GradManager().attach(self.net.parameters())
        self.first = {name: value.copy() for name, value in self.net.state_dict().items()}
        self.call = jit.trace(self.forward) if traced else self.forward

    def forward(self, x, y):
        with self.manager:
            loss = F.loss.square_loss(self.net(x), y)
            self.manager.backward(loss)
        return loss

    def reset(self):
        tessera.seed(5)
        self.net.load_state_dict(self.first)
        for each in self.net.parameters():
            each.grad = None
        self.optimizer = Adam(self.net.parameters(), lr=0.01)
        tessera.sync()

    def run(self):
        loss = self.call(self.x, self.y)
        self.optimizer.step()
        values = [loss, *self.net.parameters(), *self.net.buffers()]
        return [each.numpy().tobytes() for each in values]


def failures(step, expected):
    """Fails each request of a step in turn: how many were raised, how many requests there are."""
    raised, number = 0, 0
    while number < 2000:
        step.reset()
        before = device.get_allocated_memory()
        requests = _core.memory_stats("cpu0")["allocations"]
        _core.fail_allocation("cpu0", number)
        try:
            values = step.run()
            assert values == expected, number
            requests = _core.memory_stats("cpu0")["allocations"] - requests
            if number >= requests:
                return raised, number
        except MemoryError as error:
            assert "memory must stay within" in str(error)
            raised += 1
        tessera.sync()
        number += 1
        assert device.get_allocated_memory() - before < MIB
    raise AssertionError("no end of requests")


@pytest.mark.parametrize("traced", [False, True])
def test_a_failure_at_each_request_of_a_step(traced, level):
    """The step that comes next gives the bits that it gave before."""
    level(0)
    step = Step(traced)
    for _ in range(3):
        step.reset()
        expected = step.run()
    raised, number = failures(step, expected)
    _core.fail_allocation("cpu0", None)
    assert raised >= 5 and raised >= number * 0.9
    step.reset()
    assert step.run() == expected


def test_failures_beside_the_queue():
    """Work on the queue gives its memory back, and what fails there is told by who reads it."""
    step = Step(False)
    for _ in range(3):
        step.reset()
        expected = step.run()
    for number in range(0, 200, 3):
        step.reset()
        _core.fail_allocation("cpu0", number)
        with contextlib.suppress(MemoryError):
            assert step.run() == expected
        with contextlib.suppress(MemoryError):
            tessera.sync()
        _core.fail_allocation("cpu0", None)
    step.reset()
    assert step.run() == expected


COMPILE_WITHOUT_ROOM = """
import resource
import numpy as np
import tessera
from tessera import jit

x = tessera.Tensor(np.arange(6, dtype="float32").reshape(2, 3))
step = jit.trace(lambda x: (x * 3.25 - x / 7.5).sum(axis=1), symbolic=True)
with open("/proc/self/status") as file:
    size = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmSize"))
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + (32 << 20), before[1]))
try:
    step(x)
except MemoryError as error:
    print(str(error).splitlines()[0])
resource.setrlimit(resource.RLIMIT_AS, before)
print(step(x).numpy().tolist())
"""


def test_a_compilation_without_memory():
    """LLVM would end the process."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILE_WITHOUT_ROOM],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "TESS_CACHE_DIR": ""},
    )
    first, second = done.stdout.splitlines()
    must = "compile: the process must be able to take [0-9]+ MiB for the compilation, got"
    assert re.match(must, first)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_allclose(ast.literal_eval(second), (x * 3.25 - x / 7.5).sum(1), rtol=1e-6)
