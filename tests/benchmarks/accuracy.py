"""Accuracy that quantization costs classifiers: after training, and trained on for it.

Each network is trained in floats, from several seeds on the same data; `quantize_model` takes some
of the pictures that it was trained on, and `quantize_qat` a few epochs more. Figures are means over
the seeds, beside that of floats; pictures are those that nothing was trained on.
"""

import copy
import math
from dataclasses import dataclass

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from digits_net import load_digits
from drawn import CLASSES, pictures
from harness import Row
from tessera import jit
from tessera.autodiff import GradManager
from tessera.optimizer import SGD
from tessera.quantization import PostTrainingConfig, quantize, quantize_model, quantize_qat

from tests.e2e.quantized_networks import Classifier, Residual

BATCH, CALIBRATION = 64, 4  # batches that ranges are found from
CONFIGS = {
    "min_max": PostTrainingConfig(),
    "mse": PostTrainingConfig(method="mse"),
    "min_max, quint8": PostTrainingConfig(activation_dtype="quint8"),
}


@dataclass
class Task:
    """Pictures with their classes, to train on and held out, and a network for them.

    `epochs` and `rate` are those of the training in floats, `fewer` and `lower` of that for
    integers.
    """

    data: tuple
    held_out: tuple
    make: object
    epochs: int
    rate: float
    fewer: int
    lower: float

    def trained(self, net, seed, epochs, rate):
        """The network after `epochs`, in inference; the rate falls along half a cosine."""
        optimizer = SGD(net.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4)
        manager = GradManager().attach(net.parameters())

        @jit.trace(symbolic=True)
        def step(image, label):
            with manager:
                loss = F.cross_entropy(net(image), label)
                manager.backward(loss)
            optimizer.step().clear_grad()

        batches = list(self._batches(seed, epochs))
        for number, (image, label) in enumerate(batches):
            share = (1 + math.cos(math.pi * number / len(batches))) / 2
            for group in optimizer.param_groups:
                group["lr"] = rate * share
            step(tessera.tensor(image), tessera.tensor(label))
        return net.eval()

    def _batches(self, seed, epochs):
        images, labels = self.data
        random = np.random.RandomState(seed)
        for _ in range(epochs):
            order = random.permutation(len(images))[: len(images) // BATCH * BATCH]
            for chosen in order.reshape(-1, BATCH):
                yield images[chosen], labels[chosen]

    def samples(self):
        """Some batches that it was trained on."""
        return [tessera.tensor(each) for each in _parts(self.data[0][: BATCH * CALIBRATION])]

    def wrong(self, net):
        """How many of the pictures held out get another class."""
        images, labels = self.held_out
        call = jit.trace(net, capture_as_const=True)
        logits = [call(tessera.tensor(each)).numpy() for each in _parts(images)]
        return int((np.concatenate(logits).argmax(1) != labels).sum())

    def measured(self, seed):
        """{name: wrong answers} of the network of a seed."""
        tessera.seed(seed)
        net = self.trained(self.make(), seed, self.epochs, self.rate)
        found = {"float": self.wrong(net)}
        for name, config in CONFIGS.items():
            found[name] = self.wrong(quantize_model(net, self.samples(), config)[0])
        simulated = quantize_qat(copy.deepcopy(net).train())
        self.trained(simulated, seed + 100, self.fewer, self.lower)
        return {**found, "trained": self.wrong(quantize(simulated, inplace=False))}


def _parts(images):
    return [images[start : start + BATCH] for start in range(0, len(images), BATCH)]


def digits_net():
    """The demo's network of layers that become integers together."""
    layers = [M.ConvBnRelu2d(1, 16, 3, padding=1), M.ConvBnRelu2d(16, 32, 3, padding=1)]
    layers += [M.MaxPool2d(2), M.Flatten(), M.LinearRelu(512, 64), M.Linear(64, 10)]
    return M.Sequential(M.QuantStub(), *layers, M.DequantStub())


def small_resnet():
    """ResNet-8: K. He et al., arXiv:1512.03385, section 4.2, with a block of each width."""
    layers = [M.ConvBnRelu2d(3, 16, 3, 2, 1, bias=False), Residual(16, 16, 1)]
    return Classifier([*layers, Residual(16, 32, 2), Residual(32, 64, 2)], 64, CLASSES)


def _rows(name, task, seeds, unit, share, after, trained):
    """Errors after each way, which may be `after` or `trained` more than those of floats."""
    found = [task.measured(seed) for seed in range(seeds)]
    mean = {key: share * float(np.mean([each[key] for each in found])) for key in found[0]}
    base, note = mean["float"], f"mean of {seeds} seeds"
    rows = [Row(f"{name}, errors of floats", base, unit, note=note)]
    for config in CONFIGS:
        title = f"{name}, errors after quantize_model by {config}"
        rows.append(Row(title, mean[config], unit, target=base + after, note=note))
    title = f"{name}, errors after quantize_qat"
    return [*rows, Row(title, mean["trained"], unit, target=base + trained, note=note)]


def digits():
    """Wrong answers of 360: 2 more after training, 1 more when trained for it."""
    data, held_out = load_digits()
    task = Task(data, held_out, digits_net, 12, 0.05, 3, 0.005)
    return _rows("digits", task, 5, "of 360", 1, 2, 1)


def drawn():
    """Percent of 2 000 pictures, 8 000 others to train on: half a point, a fifth of a point."""
    images, labels = pictures(0, 10000)
    task = Task((images[2000:], labels[2000:]), (images[:2000], labels[:2000]), small_resnet,
                4, 0.05, 1, 0.005)  # fmt: skip
    return _rows("shapes and textures", task, 2, "%", 0.05, 0.5, 0.2)


BENCHMARKS = {"accuracy_digits": digits, "accuracy_pictures": drawn}
