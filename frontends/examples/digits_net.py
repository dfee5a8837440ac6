"""The digits, the network that reads them, and its training loop: what examples/digits.py is made
of.
"""

import time
from dataclasses import dataclass, field

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.data import ArrayDataset, DataLoader, RandomSampler
from tessera.module import BatchNorm2d, Conv2d, Linear, MaxPool2d, Module
from tessera.optimizer import SGD, MultiStepLR
from tessera.utils import counters
from tqdm import tqdm

SPLIT_SEED = 20240229
HELD_OUT = 360


def load_digits(limit=None):
    """(images, labels) to train on and held out: float32 [N, 1, 8, 8] in 0..1, int32 [N]."""
    from sklearn import datasets

    digits = datasets.load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    order = np.random.RandomState(SPLIT_SEED).permutation(len(images))
    images, labels = images[order], digits.target[order].astype(np.int32)
    train = slice(HELD_OUT, None if limit is None else HELD_OUT + limit)
    return (images[train], labels[train]), (images[:HELD_OUT], labels[:HELD_OUT])


class Net(Module):
    """Two convolutions with batch norm and ReLU, pooling, two linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = Conv2d(1, 16, 3, padding=1)
        self.bn1 = BatchNorm2d(16)
        self.conv2 = Conv2d(16, 32, 3, padding=1)
        self.bn2 = BatchNorm2d(32)
        self.pool = MaxPool2d(2)
        self.fc1 = Linear(32 * 4 * 4, 64)
        self.fc2 = Linear(64, 10)

    def forward(self, image):
        """Logits of [N, 1, 8, 8] images."""
        x = F.relu(self.bn1(self.conv1(image)))
        x = self.pool(F.relu(self.bn2(self.conv2(x))))
        return self.fc2(F.relu(self.fc1(F.flatten(x, 1))))


@dataclass
class History:
    """What one training run left behind."""

    losses: list = field(default_factory=list)
    seconds: list = field(default_factory=list)  # of each step
    launches: list = field(default_factory=list)  # kernels of each step
    allocations: list = field(default_factory=list)  # requests to the system in each step


class Training:
    """Everything that a run changes: model, optimizer, schedule, order of the samples."""

    def __init__(self, data, seed, epochs, traced, workers=0):
        tessera.seed(seed)
        self.epochs, self.epoch, self.traced = epochs, 0, traced
        self.model = Net()
        self.optimizer = SGD(self.model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
        milestones = [epochs * 2 // 3, epochs * 9 // 10]
        self.schedule = MultiStepLR(self.optimizer, milestones, gamma=0.1)
        dataset = ArrayDataset(*data)
        self.sampler = RandomSampler(dataset, batch_size=64, drop_last=True, seed=seed)
        self.loader = DataLoader(dataset, self.sampler, num_workers=workers)
        self.manager = GradManager().attach(self.model.parameters())
        self.step = jit.trace(symbolic=True)(self._step) if traced else self._step
        self.history = History()

    def _step(self, image, label):
        with self.manager:
            loss = F.cross_entropy(self.model(image), label)
            self.manager.backward(loss)
        self.optimizer.step().clear_grad()
        return loss

    def run(self, until=None):
        """Trains to the end, or to the end of epoch number `until`; returns itself."""
        self.model.train()
        mode = "traced" if self.traced else "eager"
        until = until or self.epochs
        total = (until - self.epoch) * len(self.sampler)
        with tqdm(total=total, desc=f"{mode} training", unit="step", mininterval=0.5) as bar:
            while self.epoch < until:
                for image, label in self.loader:
                    self._measured_step(tessera.tensor(image), tessera.tensor(label))
                    bar.update()
                self.epoch += 1
                self.schedule.step()
                bar.set_postfix(epoch=self.epoch, loss=f"{self.history.losses[-1]:.4f}")
        return self

    def _measured_step(self, image, label):
        tessera.sync()
        launches, allocations = counters.launches(), counters.allocations()
        start = time.perf_counter()
        loss = self.step(image, label)
        tessera.sync()
        self.history.seconds.append(time.perf_counter() - start)
        self.history.launches.append(counters.launches() - launches)
        self.history.allocations.append(counters.allocations() - allocations)
        self.history.losses.append(loss.item())

    def save(self, path):
        """Writes a checkpoint."""
        state = {
            "epoch": self.epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "order": self.sampler.seed,
            "random": tessera.random.default_rng.state_dict(),
        }
        tessera.save(state, path)

    def restore(self, path):
        """Goes on from a checkpoint; returns itself."""
        state = tessera.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        tessera.random.default_rng.load_state_dict(state["random"])
        self.epoch = state["epoch"]
        self.sampler.seed = state["order"]
        self.sampler.set_epoch(self.epoch)
        return self

    def weights(self):
        """Parameters, running statistics and optimizer state, as bytes by name."""
        named = {name: value.tobytes() for name, value in self.model.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            named.update({f"{number}.{name}": value.tobytes() for name, value in state.items()})
        return named


def accuracy(logits, labels):
    """Share of rows whose largest element is at the label, in percent."""
    return float((np.asarray(logits).argmax(1) == labels).mean() * 100)


def evaluate(model, images, labels):
    """Accuracy of `model` in inference mode, in percent."""
    model.eval()
    with tessera.no_grad():
        return accuracy(model(tessera.tensor(images)).numpy(), labels)
