"""ResNet-18 and ResNet-50, which learn whether a part of a photograph shows a temple or a flower.

    tools/dev python frontends/examples/resnet.py [--depth 50] [--steps N] [--dump resnet.tess]

K. He et al.: Deep Residual Learning for Image Recognition, 2015. The photographs are those of
scikit-learn; parts at their right end are held out.
"""

import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import SGD

INPUTS = {"image": {0: training.BATCH}}


class BasicBlock(M.Module):
    """Two 3 x 3 convolutions around which the input passes by."""

    expansion = 1

    def __init__(self, inputs, channels, stride=1):
        super().__init__()
        self.conv1 = M.Conv2d(inputs, channels, 3, stride, 1, bias=False)
        self.bn1 = M.BatchNorm2d(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = M.BatchNorm2d(channels)
        self.downsample = shortcut(inputs, channels, stride)

    def forward(self, x):
        """float[N, inputs, H, W] -> float[N, channels, H / stride, W / stride]."""
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.downsample(x))


class Bottleneck(M.Module):
    """A 3 x 3 convolution between two of 1 x 1, around which the input passes by."""

    expansion = 4

    def __init__(self, inputs, channels, stride=1):
        super().__init__()
        outputs = channels * self.expansion
        self.conv1 = M.Conv2d(inputs, channels, 1, bias=False)
        self.bn1 = M.BatchNorm2d(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn2 = M.BatchNorm2d(channels)
        self.conv3 = M.Conv2d(channels, outputs, 1, bias=False)
        self.bn3 = M.BatchNorm2d(outputs)
        self.downsample = shortcut(inputs, outputs, stride)

    def forward(self, x):
        """float[N, inputs, H, W] -> float[N, 4 * channels, H / stride, W / stride]."""
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + self.downsample(x))


def shortcut(inputs, outputs, stride):
    """The way around a block: the input, or where the shape changes a 1 x 1 convolution of it."""
    if inputs == outputs and stride == 1:
        return M.Identity()
    return M.Sequential(
        M.Conv2d(inputs, outputs, 1, stride, bias=False),
        M.BatchNorm2d(outputs),
    )


class ResNet(M.Module):
    """Four stages of blocks, each of half the size and twice the channels of the one before."""

    def __init__(self, block, layers, num_classes=1000, width=64):
        super().__init__()
        self.conv1 = M.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = M.BatchNorm2d(width)
        self.maxpool = M.MaxPool2d(3, 2, 1)
        self.channels = width
        self.layer1 = self._stage(block, width, layers[0])
        self.layer2 = self._stage(block, width * 2, layers[1], stride=2)
        self.layer3 = self._stage(block, width * 4, layers[2], stride=2)
        self.layer4 = self._stage(block, width * 8, layers[3], stride=2)
        self.fc = M.Linear(self.channels, num_classes)
        for module in self.modules():
            if isinstance(module, M.Conv2d):
                M.init.msra_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def _stage(self, block, channels, count, stride=1):
        blocks = []
        for number in range(count):
            blocks.append(block(self.channels, channels, stride if number == 0 else 1))
            self.channels = channels * block.expansion
        return M.Sequential(*blocks)

    def forward(self, x):
        """float[N, 3, H, W] -> logits float[N, num_classes]."""
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def resnet18(num_classes=1000, width=64):
    """Table 1 of the paper, 18 layers."""
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, width)


def resnet50(num_classes=1000, width=64):
    """Table 1 of the paper, 50 layers."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, width)


batch = pictures.parts


def loss(model, image, label):
    """Cross entropy."""
    return F.nn.cross_entropy(model(image), label)


def training_step(model):
    """SGD with momentum, as in the paper."""
    optimizer = SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    return training.step_of(model, loss, optimizer)


def main(arguments=None):
    """Trains, tells the accuracy for parts that are held out, and dumps."""
    parser = training.parser(__doc__, steps=60)
    parser.add_argument("--depth", type=int, choices=(18, 50), default=18)
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    options = parser.parse_args(arguments)
    mge.random.seed(0)
    model = {18: resnet18, 50: resnet50}[options.depth](num_classes=2, width=options.width)
    training.fit(training_step(model), batch, options)
    training.accuracy(model.eval(), batch)
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
