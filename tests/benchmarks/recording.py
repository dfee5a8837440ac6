"""What it costs to record a call beside running it eagerly; the peer column is Tessera's eager."""

import networks
import numpy as np
import tessera
from harness import Row, interleaved, synced
from tessera.jit.recording import record

CHAIN = 1000
MOST_PER_OPERATOR = 1000  # ns
MOST_OF_EAGER = 1.1


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
    "recording_chain": chain,
    "recording_mlp": lambda: model("MLP", networks.mlp, networks.mlp_batch),
    "recording_resnet18": lambda: model("ResNet-18", networks.resnet18, networks.resnet_batch),
    "recording_encoder": lambda: model("encoder", networks.encoder, networks.encoder_batch),
}
