"""Networks that are trained for integers: ResNet-18, MobileNetV2, a Transformer's encoder."""

import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812


class Residual(M.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.first = M.ConvBnRelu2d(inner, outer, 3, stride, 1, bias=False)
        self.second = M.ConvBn2d(outer, outer, 3, 1, 1, bias=False)
        self.shortcut = None
        if stride != 1 or inner != outer:
            self.shortcut = M.ConvBn2d(inner, outer, 1, stride, bias=False)
        self.add = M.Elemwise("FUSE_ADD_RELU")

    def forward(self, x):
        y = self.second(self.first(x))
        return self.add(y, x if self.shortcut is None else self.shortcut(x))


class Classifier(M.Module):
    """Integers in, layers, means of images, classes out."""

    def __init__(self, layers, width, classes=10):
        super().__init__()
        self.quant, self.dequant = M.QuantStub(), M.DequantStub()
        self.layers, self.fc = M.Sequential(*layers), M.Linear(width, classes)

    def forward(self, x):
        x = F.mean(self.layers(self.quant(x)), (2, 3))
        return self.dequant(self.fc(x))


def resnet18():
    """K. He et al., arXiv:1512.03385, with 18 layers."""
    layers, width = [M.ConvBnRelu2d(3, 64, 7, 2, 3, bias=False), M.MaxPool2d(3, 2, 1)], 64
    for outer, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Residual(width, outer, stride), Residual(outer, outer, 1)]
        width = outer
    return Classifier(layers, width)


class InvertedResidual(M.Module):
    """A wide depthwise convolution between narrow products."""

    def __init__(self, inner, outer, stride, expansion):
        super().__init__()
        wide = inner * expansion
        expand = [] if expansion == 1 else [M.ConvBnRelu2d(inner, wide, 1, bias=False)]
        self.layers = M.Sequential(
            *expand,
            M.ConvBnRelu2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            M.ConvBn2d(wide, outer, 1, bias=False),
        )
        self.add = M.Elemwise("ADD") if stride == 1 and inner == outer else None

    def forward(self, x):
        y = self.layers(x)
        return y if self.add is None else self.add(x, y)


# Expansion, channels, repeats, stride of each stage: M. Sandler et al., arXiv:1801.04381, table 2.
_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
           (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip


def mobilenet_v2():
    """MobileNetV2 for images of 32 x 32: the first two strides are 1."""
    layers, width = [M.ConvBnRelu2d(3, 32, 3, 1, 1, bias=False)], 32
    for number, (expansion, outer, repeats, stride) in enumerate(_STAGES):
        for repeat in range(repeats):
            step = stride if repeat == 0 and number > 1 else 1
            layers.append(InvertedResidual(width, outer, step, expansion))
            width = outer
    return Classifier([*layers, M.ConvBnRelu2d(width, 1280, 1, bias=False)], 1280)


class Quantized(M.Module):
    """Layers between floats."""

    def __init__(self, *layers):
        super().__init__()
        self.quant, self.dequant = M.QuantStub(), M.DequantStub()
        self.layers = M.Sequential(*layers)

    def forward(self, x):
        return self.dequant(self.layers(self.quant(x)))


class Encoder(M.Module):
    """A Transformer's layer (A. Vaswani et al., arXiv:1706.03762), and classes of its mean. Layers
    are of integers, attention's weights and norms are floats.
    """

    def __init__(self, width=32, heads=4, classes=10):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (
            Quantized(M.Linear(width, width)) for _ in range(4)
        )
        self.ffn = Quantized(M.LinearRelu(width, 4 * width), M.Linear(4 * width, width))
        self.norms = [M.LayerNorm(width), M.LayerNorm(width)]
        self.fc = Quantized(M.Linear(width, classes))

    def split(self, x):
        batch, length, width = x.shape
        return F.swapaxes(F.reshape(x, (batch, length, self.heads, width // self.heads)), 1, 2)

    def forward(self, x):
        query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        scores = F.matmul(query, F.swapaxes(key, -1, -2)) * query.shape[-1] ** -0.5
        mixed = F.swapaxes(F.matmul(F.softmax(scores, -1), value), 1, 2)
        x = self.norms[0](x + self.output(F.flatten(mixed, 2)))
        x = self.norms[1](x + self.ffn(x))
        return self.fc(x.mean(1))
