"""Training beside two busy processes, which take their share of the cores."""

import signal
import statistics
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from harness import Row, measure, repeats, synced
from tessera import autodiff, jit, optimizer

BUSY = "while True: pass"
LIMIT = 2.5  # two cores among four threads give half of each


@contextmanager
def busy_processes(count):
    """`count` stopped processes that a call of `run(True)` makes busy and `run(False)` stops."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]

    def run(wanted):
        for process in processes:
            process.send_signal(signal.SIGCONT if wanted else signal.SIGSTOP)

    try:
        run(False)
        yield run
    finally:
        for process in processes:
            process.kill()
            process.wait()


def training_step(network, batch):
    """A traced step of a network that gets `batch` and 10 labels."""
    parameters = list(network.parameters())
    manager = autodiff.GradManager().attach(parameters)
    rule = optimizer.SGD(parameters, lr=0.01)

    @jit.trace
    def step(image, label):
        with manager:
            loss = F.loss.cross_entropy(network(image), label)
            manager.backward(loss)
        rule.step().clear_grad()
        return loss

    labels = np.arange(len(batch)) % 10
    tensors = tessera.tensor(batch.astype("float32")), tessera.tensor(labels.astype("int32"))
    return synced(lambda: step(*tensors))


def mlp(width):
    """Three layers, batch 128."""
    layers = M.Linear(width, width), M.ReLU(), M.Linear(width, width), M.ReLU(), M.Linear(width, 10)
    return training_step(M.Sequential(*layers), np.random.default_rng(0).normal(size=(128, width)))


def convolutions():
    """Two convolutions of 32 channels of 28x28 images, batch 32."""
    layers = M.Conv2d(3, 32, 3, padding=1), M.ReLU(), M.Conv2d(32, 32, 3, padding=1), M.ReLU()
    head = M.AdaptiveAvgPool2d(1), M.Flatten(), M.Linear(32, 10)
    images = np.random.default_rng(0).normal(size=(32, 3, 28, 28))
    return training_step(M.Sequential(*layers, *head), images)


def shared_cores():
    """How many times longer a step takes than on idle cores; each half a second in turn."""
    steps = {"MLP 256": mlp(256), "MLP 1024": mlp(1024), "convolutions": convolutions()}
    times = {(name, busy): [] for name in steps for busy in (False, True)}
    with busy_processes(2) as run:
        for _ in range(1 + repeats(5)):
            for busy in (False, True):
                run(busy)
                for name, step in steps.items():
                    times[name, busy].append(measure(step, 0.5))
    rows = []
    for name in steps:
        idle, busy = (statistics.median(times[name, busy][1:]) for busy in (False, True))
        note = f"{idle * 1e3:.2f} ms alone"
        rows.append(
            Row(f"{name} beside two busy processes", busy / idle, "x", None, LIMIT, note=note)
        )
    return rows


BENCHMARKS = {"shared_cores": shared_cores}
