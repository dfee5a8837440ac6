"""What it costs to record a call beside running it eagerly; the peer column is Tessera's eager."""

import types

import networks
import numpy as np
import tessera
from harness import Row, interleaved, synced
from tessera import jit
from tessera.jit.python_state import PythonState
from tessera.jit.recording import record

CHAIN = 1000
MOST_PER_OPERATOR = 1000  # ns
MOST_OF_EAGER = 1.1
MOST_FOR_READS = 500  # ns


def recorded(function, tensors):
    """The call, recorded as a trace's first call is."""
    return lambda: record(function, tensors, tensors, {})


def chained(x, y):
    """x + y, CHAIN times, each on the last one's result."""
    for _ in range(CHAIN):
        x = x + y
    return x


def chain():
    """Adds of 16 floats: what recording adds to each."""
    tensors = tuple(map(tessera.Tensor, np.random.rand(2, 16).astype(np.float32)))
    times = interleaved(synced(lambda: chained(*tensors)), synced(recorded(chained, tensors)))
    eager, both = (t / CHAIN * 1e9 for t in times)
    name = "recording an add, beside running it"
    return [Row(name, both - eager, "ns", target=MOST_PER_OPERATOR)]


class Scale:
    """Values of a class, an object and a base, by a method and a property."""

    first = second = 1.0

    def __init__(self):
        self.third = self.fourth = 1.0

    @property
    def read(self):
        return self.third * self.fourth

    def times(self, x):
        return x * (self.first * self.second * self.read)


def reads():
    """A traced call that reads ten values of Python's state, beside one that reads none."""
    scale, space, table = Scale(), types.SimpleNamespace(a=1.0, b=1.0), {"c": 1.0, "d": 1.0}
    settings = types.ModuleType("settings")
    settings.first = settings.second = 1.0

    def reading(x):
        more = settings.first * settings.second * space.a * space.b * table["c"] * table["d"]
        return scale.times(x) * more

    x = tessera.Tensor(np.ones(16, np.float32))
    traced, plain = jit.trace(reading), jit.trace(lambda x: x * 1.0 * 1.0)
    for _ in range(3):
        traced(x), plain(x)
    with_reads, without = interleaved(lambda: traced(x), lambda: plain(x))
    extra = (with_reads - without) * 1e9
    return [
        Row("ten values of Python's state, compared in a call", extra, "ns", None, MOST_FOR_READS)
    ]


def watched():
    """Recording a function whose frames are watched: what each add costs more."""
    x = tessera.Tensor(np.ones(16, np.float32))

    def watch():
        with PythonState(chained, (x, x), {}):
            return record(chained, [x, x], (x, x), {})

    both, bare = interleaved(synced(watch), synced(recorded(chained, (x, x))))
    return [Row("watching an add that is recorded", (both - bare) / CHAIN * 1e9, "ns")]


def model(name, build, batch):
    """A training step, recorded and not."""
    inputs, labels = batch()
    labels = labels.astype("int32") if labels.dtype.kind == "i" else labels
    tensors, step = (tessera.tensor(inputs), tessera.tensor(labels)), build()
    step(*tensors)
    times = interleaved(synced(lambda: step(*tensors)), synced(recorded(step, tensors)))
    eager, both = (t * 1e3 for t in times)
    return [
        Row(
            f"{name} step recorded (PyTorch column: eager)",
            both,
            "ms",
            eager,
            1 / MOST_OF_EAGER,
            True,
        )
    ]


BENCHMARKS = {
    "recording_reads": reads,
    "recording_watched": watched,
    "recording_chain": chain,
    "recording_mlp": lambda: model("MLP", networks.mlp, networks.mlp_batch),
    "recording_resnet18": lambda: model("ResNet-18", networks.resnet18, networks.resnet_batch),
    "recording_encoder": lambda: model("encoder", networks.encoder, networks.encoder_batch),
}
