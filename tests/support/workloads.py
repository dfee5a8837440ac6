"""Trainings whose sizes differ from step to step, each for at most two programs."""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera import optimizer
from tessera.autodiff import GradManager

WORDS, CLASSES = 11, 5


class Reader(M.Module):
    """A prediction for each word of a text."""

    def __init__(self):
        super().__init__()
        self.embedding = M.Embedding(WORDS, 8)
        self.block = M.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
        self.head = M.Linear(8, WORDS)

    def forward(self, words):
        return self.head(self.block(self.embedding(words)))


class Viewer(M.Module):
    """A class for each image, of any size."""

    def __init__(self):
        super().__init__()
        self.first, self.second = M.ConvBnRelu2d(3, 8, 3, 2, 1), M.ConvBn2d(8, 8, 3, 1, 1)
        self.pool, self.head = M.MaxPool2d(2), M.Linear(8, CLASSES)

    def forward(self, image):
        x = self.first(image)
        x = self.pool(F.relu(x + self.second(x)))
        return self.head(F.mean(x, [2, 3]))


class Sorter(M.Module):
    """A class for each image of one size."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = M.Conv2d(3, 4, 3, padding=1), M.BatchNorm2d(4)
        self.head = M.Linear(4 * 6 * 6, CLASSES)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.norm(self.conv(image))), 1, 1)
        return self.head(F.flatten(x, 1))


def text(length):
    """Three texts, and the word that follows each word."""
    words = np.random.RandomState(length).randint(0, WORDS, (3, length + 1)).astype(np.int32)
    return words[:, :-1], words[:, 1:]


def images(count, height, width):
    """Images and their classes."""
    random = np.random.RandomState(count + height * width)
    shape = count, 3, height, width
    return random.randn(*shape).astype(np.float32), random.randint(0, CLASSES, count, np.int32)


# The network, its optimizer, and a batch for each step.
WORKLOADS = {
    "a Transformer on 50 lengths": (
        Reader,
        lambda parameters: optimizer.AdamW(parameters, lr=1e-2),
        [text(length) for length in (8, 8, *range(2, 52), 8, 30)],
    ),
    "20 image sizes": (
        Viewer,
        lambda parameters: optimizer.SGD(parameters, lr=0.1, momentum=0.9),
        [images(4, 24, 24)] * 2 + [images(4, 20 + 2 * i, 20 + 3 * (i % 7)) for i in range(20)],
    ),
    "a smaller last batch": (
        Sorter,
        lambda parameters: optimizer.SGD(parameters, lr=0.1, momentum=0.9),
        [images(count, 6, 6) for count in (8, 8, 8, 5, 8, 8, 5, 8, 3, 3, 6, 6)],
    ),
}
LIMIT = 2  # programs of a workload: that of the first sizes, and the one of all others


def train(name, wrap, is_whole):
    """Losses and parameters after each batch, and what `wrap` made: of the step, or of the network
    with its gradient outside."""
    make, optimizer_of, batches = WORKLOADS[name]
    tessera.seed(3)
    net = make()
    manager, solver = GradManager().attach(net.parameters()), optimizer_of(net.parameters())
    forward = net if is_whole else wrap(net)

    def learn(x, label):
        with manager:
            y = forward(x)
            loss = F.nn.cross_entropy(y.reshape(-1, y.shape[-1]), label.reshape(-1))
            manager.backward(loss)
        solver.step().clear_grad()
        return loss

    step = wrap(learn) if is_whole else learn
    losses = [step(*map(tessera.Tensor, batch)) for batch in batches]
    return [*losses, *net.parameters()], step if is_whole else forward


def infer(name, wrap):
    """What the network gives for each batch, and what `wrap` made of it."""
    make, _, batches = WORKLOADS[name]
    tessera.seed(3)
    call = wrap(make().eval())
    return [call(tessera.Tensor(x)) for x, _ in batches], call
