"""Training steps of whole networks, eager and traced, beside PyTorch's eager mode."""

import networks
import peers
import tessera
from harness import Row, interleaved, synced
from peers.network import Network
from tessera import jit


def step_rows(name, build, network, batch, target):
    """Milliseconds of one step: eager (with a target on the ratio to PyTorch) and traced."""
    inputs, labels = batch()
    labels = labels.astype("int32") if labels.dtype.kind == "i" else labels
    tensors = tessera.tensor(inputs), tessera.tensor(labels)
    eager, traced = build(), jit.trace(symbolic=True)(build())
    pytorch = peers.load("PyTorch")
    peer = pytorch and pytorch.eager_step(network, (inputs, labels))
    times = interleaved(synced(lambda: eager(*tensors)), synced(lambda: traced(*tensors)), peer)
    one, two, torchs = (t and t * 1e3 for t in times)
    return [
        Row(f"{name} step eager", one, "ms", torchs, target, True),
        Row(f"{name} step traced", two, "ms", torchs),
    ]


def mlp():
    """batch 32, 64-128-128-10, Adam."""
    network = Network("mlp", networks.MLP_SIZES, loss="cross_entropy", optimizer="adam")
    return step_rows("MLP", networks.mlp, network, networks.mlp_batch, 1 / 0.4)


def resnet18():
    """batch 8, 64 x 64."""
    network = Network("resnet", (18,), loss="cross_entropy")
    return step_rows("ResNet-18", networks.resnet18, network, networks.resnet_batch, 1 / 0.9)


def encoder():
    """Four layers of width 256, 8 heads, 128 positions, batch 4."""
    network = Network("encoder", (networks.LAYERS,), loss="square")
    build = networks.encoder
    return step_rows("Transformer encoder", build, network, networks.encoder_batch, 1 / 0.9)


BENCHMARKS = {"eager_mlp": mlp, "eager_resnet18": resnet18, "eager_encoder": encoder}
