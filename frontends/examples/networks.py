"""Networks of the usual kinds, each with a training step: an MLP, ResNet-18, a Transformer encoder.

A builder returns a step: forward, backward and update of a batch.
"""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager
from tessera.module import BatchNorm2d, Conv2d, Linear, Module, ReLU, Sequential
from tessera.optimizer import SGD, Adam

random = np.random.RandomState(0)

MLP_SIZES = (64, 128, 128, 10)
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # ResNet-18: channels, stride (He et al. 2015)
WIDTH, HEADS, LAYERS = 256, 8, 4  # of the Transformer encoder


def mlp_batch():
    """32 vectors and their classes."""
    return random.randn(32, 64).astype(np.float32), random.randint(0, 10, 32)


def resnet_batch():
    """8 images of 64 x 64 and their classes."""
    return random.randn(8, 3, 64, 64).astype(np.float32), random.randint(0, 1000, 8)


def encoder_batch():
    """4 sequences of 128 vectors and what they should become."""
    return tuple(random.randn(2, 4, 128, WIDTH).astype(np.float32))


def training(model, loss, optimizer):
    """A step of `model`; `loss` takes its output and the target."""
    manager = GradManager().attach(model.parameters())

    def step(inputs, target):
        with manager:
            value = loss(model(inputs), target)
            manager.backward(value)
        optimizer.step().clear_grad()
        return value

    return step


def mlp():
    """64-128-128-10 with ReLU, Adam."""
    first, second, third, last = MLP_SIZES
    layers = Linear(first, second), ReLU(), Linear(second, third), ReLU(), Linear(third, last)
    model = Sequential(*layers)
    return training(model, F.cross_entropy, Adam(model.parameters(), lr=1e-3))


class Block(Module):
    """Two 3 x 3 convolutions around which the input passes by."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = BatchNorm2d(outputs)
        self.conv2 = Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = BatchNorm2d(outputs)
        self.down = None
        if stride != 1 or inputs != outputs:
            down = Conv2d(inputs, outputs, 1, stride, bias=False), BatchNorm2d(outputs)
            self.down = Sequential(*down)

    def forward(self, x):
        """Images [N, outputs, H / stride, W / stride]."""
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + (x if self.down is None else self.down(x)))


class ResNet18(Module):
    """Deep Residual Learning for Image Recognition, table 1, 18 layers."""

    def __init__(self):
        super().__init__()
        self.conv = Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn = BatchNorm2d(64)
        blocks, inputs = [], 64
        for outputs, stride in STAGES:
            blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
            inputs = outputs
        self.blocks = Sequential(*blocks)
        self.fc = Linear(512, 1000)

    def forward(self, x):
        """Logits [N, 1000]."""
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 3, 2, 1)
        return self.fc(F.mean(self.blocks(x), [2, 3]))


def resnet18():
    """ResNet-18, SGD with momentum."""
    model = ResNet18()
    return training(model, F.cross_entropy, SGD(model.parameters(), lr=0.01, momentum=0.9))


class EncoderLayer(Module):
    """Attention, then a linear layer of four times the width, each normalised after the sum
    (Vaswani et al. 2017).
    """

    def __init__(self):
        super().__init__()
        self.qkv = Linear(WIDTH, 3 * WIDTH)
        self.out = Linear(WIDTH, WIDTH)
        self.up, self.down = Linear(WIDTH, 4 * WIDTH), Linear(4 * WIDTH, WIDTH)
        self.scales = [tessera.Parameter(np.ones(WIDTH, np.float32)) for _ in range(2)]
        self.biases = [tessera.Parameter(np.zeros(WIDTH, np.float32)) for _ in range(2)]

    def attend(self, x):
        """Attention of every position to all."""
        batch, length, _ = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        mixed = F.nn.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(0, 2, 1, 3).reshape(batch, length, WIDTH))

    def norm(self, x, which):
        """Layer normalisation over the last axis."""
        return F.layer_norm(x, (WIDTH,), True, self.scales[which], self.biases[which])

    def forward(self, x):
        """Sequences [N, length, WIDTH]."""
        x = self.norm(x + self.attend(x), 0)
        return self.norm(x + self.down(F.relu(self.up(x))), 1)


def encoder():
    """Four encoder layers, SGD."""
    model = Sequential(*(EncoderLayer() for _ in range(LAYERS)))
    return training(model, F.square_loss, SGD(model.parameters(), lr=0.01, momentum=0.9))
