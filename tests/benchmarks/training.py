"""A training step of the demo's network: eager, traced, and PyTorch's."""

import sys
from pathlib import Path

import numpy as np
import tessera
from harness import Row, interleaved, synced, torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "frontends" / "examples"))

from digits_net import Training, load_digits  # noqa: E402

BATCH = 64


def torch_step(image, label):
    """The same network and optimizer in PyTorch, on one batch."""
    train = torch_training_step()
    image, label = torch.from_numpy(image), torch.from_numpy(label.astype(np.int64))
    return lambda: train(image, label)


def torch_training_step():
    """The same, of any batch."""
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)

    def step(image, label):
        loss = nn.functional.cross_entropy(net(image), label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def step():
    """Milliseconds of one step at batch 64."""
    data, _ = load_digits()
    image, label = data[0][:BATCH], data[1][:BATCH]
    tensors = tessera.tensor(image), tessera.tensor(label)
    eager, traced = (Training(data, 0, 10, mode).step for mode in (False, True))
    peer = torch_step(image, label) if torch else None
    times = interleaved(synced(lambda: eager(*tensors)), synced(lambda: traced(*tensors)), peer)
    one, two, torchs = (t and t * 1e3 for t in times)
    return [
        Row("training step eager", one, "ms", torchs),
        Row("training step traced", two, "ms", torchs, 1.5, True),
    ]


BENCHMARKS = {"training_step": step}
