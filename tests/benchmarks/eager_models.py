"""Training steps of whole networks, eager and traced, beside PyTorch's eager mode."""

import networks
import tessera
import torch_networks
from harness import Row, interleaved, synced, torch
from tessera import jit


def step_rows(name, build, torch_build, batch, target):
    """Milliseconds of one step: eager (with a target on the ratio to PyTorch) and traced."""
    inputs, labels = batch()
    is_class = labels.dtype.kind == "i"
    tensors = tessera.tensor(inputs), tessera.tensor(labels.astype("int32") if is_class else labels)
    eager, traced = build(), jit.trace(symbolic=True)(build())
    peer = None
    if torch:
        theirs, step = (torch.from_numpy(inputs), torch.from_numpy(labels)), torch_build()
        peer = lambda: step(*theirs)  # noqa: E731
    times = interleaved(synced(lambda: eager(*tensors)), synced(lambda: traced(*tensors)), peer)
    one, two, torchs = (t and t * 1e3 for t in times)
    return [
        Row(f"{name} step eager", one, "ms", torchs, target, True),
        Row(f"{name} step traced", two, "ms", torchs),
    ]


def mlp():
    """batch 32, 64-128-128-10, Adam."""
    return step_rows("MLP", networks.mlp, torch_networks.torch_mlp, networks.mlp_batch, 1 / 0.4)


def resnet18():
    """batch 8, 64 x 64."""
    build = networks.resnet18, torch_networks.torch_resnet18
    return step_rows("ResNet-18", *build, networks.resnet_batch, 1 / 0.9)


def encoder():
    """Four layers of width 256, 8 heads, 128 positions, batch 4."""
    build = networks.encoder, torch_networks.torch_encoder
    return step_rows("Transformer encoder", *build, networks.encoder_batch, 1 / 0.9)


BENCHMARKS = {"eager_mlp": mlp, "eager_resnet18": resnet18, "eager_encoder": encoder}
