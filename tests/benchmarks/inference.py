"""Traced inference: ResNet-18, and chains of convolutions with bias and relu."""

import networks
import numpy as np
import tessera
from harness import Row, interleaved, synced
from tessera import jit
from tessera.module import Conv2d, ReLU, Sequential

BATCH, CHANNELS, LAYERS = 8, 64, 4


def chain():
    """Convolutions of 3 x 3, each with bias and relu."""
    layers = ([Conv2d(CHANNELS, CHANNELS, 3, 1, 1), ReLU()] for _ in range(LAYERS))
    return Sequential(*(layer for pair in layers for layer in pair))


def row(name, model, *shape):
    """Milliseconds of one call."""
    model.eval()
    x = tessera.tensor(np.random.randn(*shape).astype(np.float32))
    traced = jit.trace(capture_as_const=True)(lambda x: model(x))
    (seconds,) = interleaved(synced(lambda: traced(x)))
    return Row(name, seconds * 1e3, "ms")


def resnet18():
    """Batches of 8 at 64 x 64, and one image of 224 x 224."""
    model = networks.ResNet18()
    return [
        row("ResNet-18 inference 8 x 64 x 64", model, 8, 3, 64, 64),
        row("ResNet-18 inference 1 x 224 x 224", model, 1, 3, 224, 224),
    ]


def chains():
    """Images of 8 x 8 to 56 x 56."""
    return [
        row(f"convolutions, bias, relu {size} x {size}", chain(), BATCH, CHANNELS, size, size)
        for size in (8, 14, 28, 56)
    ]


BENCHMARKS = {"inference_resnet18": resnet18, "inference_convolutions": chains}
