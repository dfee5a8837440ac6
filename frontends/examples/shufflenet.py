"""ShuffleNetV2, which learns whether a part of a photograph shows a temple or a flower.

    tools/dev python frontends/examples/shufflenet.py [--steps N] [--dump shufflenet.tess]

N. Ma et al.: ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design, 2018. The
photographs are those of scikit-learn; parts at their right end are held out.
"""

import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import SGD

INPUTS = {"image": {0: training.BATCH}}
# Table 5 of the paper: channels of the stages and of the last convolution, by the scale.
CHANNELS = {
    "0.5x": (48, 96, 192, 1024),
    "1x": (116, 232, 464, 1024),
    "1.5x": (176, 352, 704, 1024),
    "2x": (244, 488, 976, 2048),
}


def pointwise(inputs, outputs):
    """A 1 x 1 convolution with ReLU."""
    return [M.Conv2d(inputs, outputs, 1, bias=False), M.BatchNorm2d(outputs), M.ReLU()]


def depthwise(channels, stride):
    """Each channel filtered by itself."""
    conv = M.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)
    return [conv, M.BatchNorm2d(channels)]


def shuffled(x):
    """The two halves of the channels, one from each in turn."""
    count, channels, height, width = x.shape
    x = x.reshape(count, 2, channels // 2, height, width).transpose(0, 2, 1, 3, 4)
    return x.reshape(count, channels, height, width)


class Block(M.Module):
    """Half of the channels pass by; where the size halves, all of them go both ways."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        half = outputs // 2
        first = inputs if stride == 2 else half
        layers = *pointwise(first, half), *depthwise(half, stride), *pointwise(half, half)
        self.branch = M.Sequential(*layers)
        self.bypass = None
        if stride == 2:
            self.bypass = M.Sequential(*depthwise(inputs, 2), *pointwise(inputs, half))

    def forward(self, x):
        """float[N, inputs, H, W] -> float[N, outputs, H / stride, W / stride]."""
        if self.bypass is not None:
            return shuffled(F.concat([self.bypass(x), self.branch(x)], axis=1))
        passed, rest = F.split(x, 2, axis=1)
        return shuffled(F.concat([passed, self.branch(rest)], axis=1))


class ShuffleNetV2(M.Module):
    """A convolution and pooling, three stages of blocks, a convolution, and a linear layer."""

    def __init__(self, num_classes=1000, channels=CHANNELS["1x"], counts=(4, 8, 4), first=24):
        super().__init__()
        conv = M.Conv2d(3, first, 3, 2, 1, bias=False)
        layers = [conv, M.BatchNorm2d(first), M.ReLU(), M.MaxPool2d(3, 2, 1)]
        inputs = first
        for outputs, count in zip(channels, counts, strict=False):
            for number in range(count):
                layers.append(Block(inputs, outputs, 2 if number == 0 else 1))
                inputs = outputs
        self.features = M.Sequential(*layers, *pointwise(inputs, channels[-1]))
        self.fc = M.Linear(channels[-1], num_classes)

    def forward(self, x):
        """float[N, 3, H, W] -> logits float[N, num_classes]."""
        return self.fc(F.mean(self.features(x), axis=[2, 3]))


batch = pictures.parts


def loss(model, image, label):
    """Cross entropy."""
    return F.nn.cross_entropy(model(image), label)


def training_step(model):
    """SGD with Nesterov's momentum."""
    optimizer = SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True, weight_decay=4e-5)
    return training.step_of(model, loss, optimizer)


def main(arguments=None):
    """Trains, tells the accuracy for parts that are held out, and dumps."""
    parser = training.parser(__doc__, steps=60)
    parser.add_argument("--scale", choices=CHANNELS, default="1x", help="which of the networks")
    options = parser.parse_args(arguments)
    mge.random.seed(0)
    model = ShuffleNetV2(num_classes=2, channels=CHANNELS[options.scale])
    training.fit(training_step(model), batch, options)
    training.accuracy(model.eval(), batch)
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
