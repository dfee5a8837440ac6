"""MobileNetV2, which learns whether a part of a photograph shows a temple or a flower.

    tools/dev python frontends/examples/mobilenet.py [--steps N] [--dump mobilenet.tess]

M. Sandler et al.: MobileNetV2: Inverted Residuals and Linear Bottlenecks, 2018. The photographs are
those of scikit-learn; parts at their right end are held out.
"""

import pictures
import tessera as mge
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import training
from tessera.optimizer import SGD

INPUTS = {"image": {0: training.BATCH}}
# Table 2 of the paper: expansion, channels, blocks, stride of the first.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def rounded(channels, width):
    """The multiple of 8 that is nearest to channels * width."""
    return max(8, int(channels * width + 4) // 8 * 8)


def convolution(inputs, outputs, size=3, stride=1, groups=1):
    """A convolution, batch normalisation, and ReLU6."""
    conv = M.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return [conv, M.BatchNorm2d(outputs), M.Elemwise("relu6")]


class InvertedResidual(M.Module):
    """More channels, each filtered by itself, and few channels again without an activation."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        layers = convolution(inputs, hidden, size=1) if expansion != 1 else []
        layers += convolution(hidden, hidden, stride=stride, groups=hidden)
        layers += [M.Conv2d(hidden, outputs, 1, bias=False), M.BatchNorm2d(outputs)]
        self.conv = M.Sequential(*layers)
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        """float[N, inputs, H, W] -> float[N, outputs, H / stride, W / stride]."""
        return x + self.conv(x) if self.is_residual else self.conv(x)


class MobileNetV2(M.Module):
    """A convolution, the stages, a convolution, and a linear layer; `width` scales the channels."""

    def __init__(self, num_classes=1000, width=1.0, stages=STAGES):
        super().__init__()
        channels = rounded(32, width)
        layers = convolution(3, channels, stride=2)
        for expansion, outputs, count, stride in stages:
            outputs = rounded(outputs, width)
            for number in range(count):
                step = stride if number == 0 else 1
                layers.append(InvertedResidual(channels, outputs, step, expansion))
                channels = outputs
        last = rounded(1280, max(1.0, width)) if stages is STAGES else 4 * channels
        layers += convolution(channels, last, size=1)
        self.features = M.Sequential(*layers)
        self.classifier = M.Sequential(M.Dropout(0.2), M.Linear(last, num_classes))
        for module in self.modules():
            if isinstance(module, M.Conv2d):
                M.init.msra_normal_(module.weight, mode="fan_out")

    def forward(self, x):
        """float[N, 3, H, W] -> logits float[N, num_classes]."""
        return self.classifier(F.mean(self.features(x), axis=[2, 3]))


batch = pictures.parts


def loss(model, image, label):
    """Cross entropy."""
    return F.nn.cross_entropy(model(image), label)


def training_step(model):
    """SGD with momentum."""
    optimizer = SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=4e-5)
    return training.step_of(model, loss, optimizer)


def main(arguments=None):
    """Trains, tells the accuracy for parts that are held out, and dumps."""
    parser = training.parser(__doc__, steps=60)
    parser.add_argument("--width", type=float, default=1.0, help="scale of the channels")
    options = parser.parse_args(arguments)
    mge.random.seed(0)
    model = MobileNetV2(num_classes=2, width=options.width)
    training.fit(training_step(model), batch, options)
    training.accuracy(model.eval(), batch)
    training.finish(model, INPUTS, batch(0, 4), options)


if __name__ == "__main__":
    main()
