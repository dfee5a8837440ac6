"""LeNet on drawn digits: data loader, gradients, momentum, a schedule of the learning rate."""

import megengine as mge
import megengine.data as data
import megengine.data.transform as T  # noqa: N812
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import numpy as np
from megengine.autodiff import GradManager
from megengine.data.dataset import Dataset

CLASSES, SIZE = 4, 28
logger = mge.get_logger(__name__)


class Strokes(Dataset):
    """Noisy grey pictures of a bar: its direction is the class."""

    def __init__(self, count, seed):
        super().__init__()
        self.count, self.seed = count, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.RandomState(1000 * self.seed + index)
        label = index % CLASSES
        rows, columns = np.mgrid[:SIZE, :SIZE] - SIZE / 2 + rng.uniform(-3, 3, (2, 1, 1))
        angle = np.pi * label / CLASSES
        distance = np.abs(np.cos(angle) * rows + np.sin(angle) * columns)
        picture = 255 * (distance < 3) + rng.normal(0, 30, (SIZE, SIZE))
        return picture.clip(0, 255).astype("uint8")[:, :, None], np.int32(label)


class LeNet(M.Module):
    """Two convolutions and three linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1 = M.Conv2d(1, 6, 5)
        self.conv2 = M.Conv2d(6, 16, 5)
        self.pool = M.MaxPool2d(2, 2)
        self.relu = M.ReLU()
        self.fc1 = M.Linear(16 * 5 * 5, 120)
        self.fc2 = M.Linear(120, 84)
        self.classifier = M.Linear(84, CLASSES)

    def forward(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = F.flatten(x, 1)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.classifier(x)


def loader(count, seed, sampler, workers=0):
    """Batches of pictures, framed to 32 by 32, and labels."""
    transform = T.Compose([T.Normalize(mean=30.0, std=60.0), T.Pad(2), T.ToMode("CHW")])
    dataset = Strokes(count, seed)
    return data.DataLoader(dataset, sampler(dataset), transform, num_workers=workers)


def train(model, epochs):
    """Trains; gives the mean losses of the epochs."""
    batches = loader(96, 1, lambda d: data.RandomSampler(d, batch_size=16, drop_last=True, seed=3))
    manager = GradManager().attach(model.parameters())
    optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    schedule = optim.MultiStepLR(optimizer, milestones=[2, 3], gamma=0.5)
    losses = []
    for epoch in range(epochs):
        assert np.isclose(schedule.get_lr()[0], 0.02 * 0.5 ** ((epoch >= 2) + (epoch >= 3)))
        total = 0.0
        for picture, label in batches:
            picture, label = mge.Tensor(picture), mge.Tensor(label)
            with manager:
                loss = F.nn.cross_entropy(model(picture), label)
                manager.backward(loss)
            optimizer.step().clear_grad()
            total += loss.item() * len(picture)
        schedule.step()
        losses.append(total / 96)
        logger.info("epoch %d: loss %.4f", epoch, losses[-1])
    return losses


def evaluate(model, workers):
    """How many of the pictures have the right class, and the loss over all."""
    model.eval()
    batches = loader(40, 2, lambda d: data.SequentialSampler(d, batch_size=16), workers)
    right, total, count = 0, 0.0, 0
    for picture, label in batches:
        logits, label = model(mge.tensor(picture)), mge.tensor(label)
        accuracy = F.topk_accuracy(logits, label, topk=1)
        assert (F.argmax(logits, axis=1) == label).mean().item() == accuracy.item()
        right += accuracy.item() * len(label)
        total += F.loss.cross_entropy(logits, label, reduction="sum").item()
        count += len(label)
    model.train()
    assert count == 40
    return right / count, total / count


def main():
    mge.random.seed(11)
    model = LeNet()
    for layer in (model.conv1, model.conv2):
        M.init.msra_normal_(layer.weight, nonlinearity="relu")
    before = evaluate(model, 0)
    losses = train(model, 5)
    after = evaluate(model, 0)
    assert losses[-1] < 0.5 * losses[0], losses
    assert after[0] > 0.9 and after[1] < before[1], (before, after)
    assert evaluate(model, 2) == after  # workers bring the same batches in the same order
    print(f"accuracy {before[0]:.2f} -> {after[0]:.2f}")


if __name__ == "__main__":
    main()
