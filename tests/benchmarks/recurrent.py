"""An LSTM layer over sequences, forward and backward: traced, eager, and PyTorch's."""

import numpy as np
import tessera
import tessera.module as M  # noqa: N812
from harness import Row, interleaved, synced, torch
from tessera import jit
from tessera.autodiff import GradManager

STEPS, BATCH, WIDTH = 64, 16, 256


def torch_layer(x):
    """The same in PyTorch."""
    net, x = torch.nn.LSTM(WIDTH, WIDTH), torch.from_numpy(x)

    def step():
        net(x)[0].sum().backward()
        net.zero_grad()

    return step


def lstm():
    """Milliseconds of one layer's output and the gradients of its weights."""
    net, array = M.LSTM(WIDTH, WIDTH), np.random.rand(STEPS, BATCH, WIDTH).astype(np.float32)
    manager, x = GradManager().attach(net.parameters()), tessera.tensor(array)

    def step(x):
        with manager:
            manager.backward(net(x)[0].sum())
        gradient = net._flatten_weights.grad
        net._flatten_weights.grad = None
        return gradient

    traced = jit.trace(step)
    for _ in range(3):
        traced(x)
    peer = torch_layer(array) if torch else None
    times = interleaved(synced(lambda: step(x)), synced(lambda: traced(x)), peer)
    eager, whole, torchs = (t and t * 1e3 for t in times)
    return [
        Row("LSTM layer forward and backward eager", eager, "ms", torchs),
        Row("LSTM layer forward and backward traced", whole, "ms", torchs),
    ]


BENCHMARKS = {"lstm_layer": lstm}
