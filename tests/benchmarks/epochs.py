"""An epoch of training and of loading: traced beside PyTorch, the loaders side by side.

A module's call beside its function tells what the module costs.
"""

import time

import networks
import numpy as np
import peers
import tessera
import tessera.functional as F  # noqa: N812
from digits_net import Training, load_digits
from harness import Row, interleaved, statement, synced, torch
from peers.network import Network
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.data import ArrayDataset, DataLoader, SequentialSampler
from training import BATCH, torch_training_step


def batches(images, labels, size):
    """Whole batches, in order."""
    ends = range(size, len(images) + 1, size)
    return [(images[end - size : end], labels[end - size : end]) for end in ends]


def epoch(step, data):
    """Every batch once, from arrays to an updated model."""

    def run():
        for image, label in data:
            step(image, label)

    return run


def epoch_row(name, step, peer, data):
    """Milliseconds of an epoch; `step` takes tensors, `peer` PyTorch's."""
    ours = epoch(lambda x, y: step(tessera.tensor(x), tessera.tensor(y)), data)
    theirs = [(torch.from_numpy(x), torch.from_numpy(y.astype("i8"))) for x, y in data if torch]
    times = interleaved(synced(ours), peer and epoch(peer, theirs))
    value, torchs = (t and t * 1e3 for t in times)
    return Row(f"{name}, an epoch traced", value, "ms", torchs, 1.3, True)


def digits():
    """The demo's network, batches of 64."""
    images, labels = load_digits()[0]
    peer = torch_training_step() if torch else None
    step = Training((images, labels), 0, 10, True).step
    return [epoch_row("digits", step, peer, batches(images, labels, BATCH))]


def resnet18():
    """128 pictures of 32 x 32 in batches of 32."""
    random = np.random.RandomState(0)
    images = random.randn(128, 3, 32, 32).astype(np.float32)
    labels = random.randint(0, 10, 128).astype(np.int32)
    step = jit.trace(symbolic=True)(networks.resnet18())
    pytorch = peers.load("PyTorch")
    peer = pytorch and pytorch.trainer(Network("resnet", (18,), loss="cross_entropy"))
    return [epoch_row("ResNet-18 at 32 x 32", step, peer, batches(images, labels, 32))]


PICTURES = 2048


def normalised(image):
    """uint8[3, 64, 64], mirrored, to float32 of mean 0.5 and deviation 0.25."""
    return np.ascontiguousarray((image[:, :, ::-1] / np.float32(255) - 0.5) / np.float32(0.25))


def normalised_pair(pair):
    """The same, beside its number."""
    return normalised(pair[0]), pair[1]


class Pairs:
    """A dataset of PyTorch's kind."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return normalised(self.images[index]), self.labels[index]


def seconds_of(loader):
    """A pass over a loader that has run before."""
    start = time.perf_counter()
    for _ in loader:
        pass
    return time.perf_counter() - start


def loader():
    """2 048 pictures in batches of 64 by two workers, which stay."""
    random = np.random.RandomState(0)
    images = random.randint(0, 256, (PICTURES, 3, 64, 64)).astype(np.uint8)
    dataset = ArrayDataset(images, np.arange(PICTURES))
    sampler = SequentialSampler(dataset, batch_size=64)
    ours = DataLoader(dataset, sampler, transform=normalised_pair, num_workers=2)
    theirs = torch and torch.utils.data.DataLoader(
        Pairs(images, np.arange(PICTURES)), 64, num_workers=2, persistent_workers=True
    )
    times = interleaved(lambda: seconds_of(ours), theirs and (lambda: seconds_of(theirs)), rounds=5)
    ours.close()
    value, torchs = (t and t * 1e3 for t in times)
    return [Row("loader with 2 workers, an epoch", value, "ms", torchs, 0.9, True)]


def module_call():
    """A module beside the operators that it calls."""
    x, linear = tessera.Tensor(np.ones((2, 4), np.float32)), M.Linear(4, 4)
    names = {"m": linear, "x": x, "F": F, "w": linear.weight, "b": linear.bias}
    through, plain = interleaved(
        statement("m(x)", **names), statement("F.linear(x, w, b)", **names)
    )
    extra = (through - plain) * 1e9
    return [Row("a module's call beyond its operators", extra, "ns", None, 1000)]


BENCHMARKS = {
    "epoch_digits": digits,
    "epoch_resnet18": resnet18,
    "epoch_loader": loader,
    "module_call": module_call,
}
