"""Networks of one layer, and of several, that are quantized, and numbers for them."""

from functools import partial

import numpy as np
import tessera
import tessera.module as M  # noqa: N812
from tessera.quantization import (
    LSQ,
    FakeQuantize,
    MinMaxObserver,
    QConfig,
    QuantMode,
    create_qparams,
    ema_fakequant_qconfig,
    ema_lowbit_fakequant_qconfig,
    min_max_fakequant_qconfig,
    tqt_qconfig,
)

_ASYMMETRIC = {"dtype": "quint8"}


def _asymmetric(**weight):
    return QConfig(
        partial(MinMaxObserver, dtype="qint8_narrow", **weight),
        partial(MinMaxObserver, mode=QuantMode.ASYMMERTIC, **_ASYMMETRIC),
        partial(FakeQuantize, dtype="qint8_narrow"),
        partial(FakeQuantize, **_ASYMMETRIC),
    )


QCONFIGS = {
    "min and max": min_max_fakequant_qconfig,
    "moving averages": ema_fakequant_qconfig,
    "four bits": ema_lowbit_fakequant_qconfig,
    "zero points": _asymmetric(),
    "trained thresholds": tqt_qconfig,
    "trained steps": QConfig(None, None, partial(LSQ, dtype="qint8"), partial(LSQ, dtype="quint8")),
}
OF_CHANNELS = _asymmetric(axis=0)


def numbers(*shape, seed=0):
    random = np.random.RandomState(seed)
    return tessera.tensor(random.standard_normal(shape).astype(np.float32))


_IMAGES, _SMALL, _ROWS = (2, 4, 7, 7), (2, 4, 5, 5), (8, 5)

# Makers of a layer, with shapes of its operands.
LAYERS = {
    "Conv2d": (partial(M.Conv2d, 4, 6, 3, padding=1), _IMAGES),
    "Conv2d same": (partial(M.Conv2d, 4, 6, 2, padding="same"), _IMAGES),
    "Conv2d reflect": (
        partial(M.Conv2d, 4, 6, 3, stride=2, padding=1, groups=2, padding_mode="reflect"),
        _IMAGES,
    ),
    "Conv2d depthwise": (partial(M.Conv2d, 4, 4, 3, groups=4, bias=False), _IMAGES),
    "ConvRelu2d": (partial(M.ConvRelu2d, 4, 6, 3, dilation=2), _IMAGES),
    "ConvBn2d": (partial(M.ConvBn2d, 4, 6, 3), _IMAGES),
    "ConvBnRelu2d": (partial(M.ConvBnRelu2d, 4, 6, 3, groups=2, bias=False), _IMAGES),
    "ConvBnRelu2d plain": (partial(M.ConvBnRelu2d, 4, 6, 1, affine=False), _IMAGES),
    "ConvTranspose2d": (
        partial(M.ConvTranspose2d, 4, 6, 3, stride=2, output_padding=1),
        _SMALL,
    ),
    "ConvTransposeRelu2d": (partial(M.ConvTransposeRelu2d, 4, 6, 3, groups=2), _SMALL),
    "ConvTransposeBn2d": (partial(M.ConvTransposeBn2d, 4, 6, 3, groups=2), _SMALL),
    "ConvTransposeBnRelu2d": (partial(M.ConvTransposeBnRelu2d, 4, 6, 3, bias=False), _SMALL),
    "Linear": (partial(M.Linear, 5, 7), (3, 2, 5)),
    "Linear of one row": (partial(M.Linear, 5, 7), (5,)),
    "LinearRelu": (partial(M.LinearRelu, 5, 7, bias=False), _ROWS),
    "LinearBn1d": (partial(M.LinearBn1d, 5, 7), _ROWS),
    "LinearBnRelu1d": (partial(M.LinearBnRelu1d, 5, 7, bias=False), _ROWS),
    "BatchMatMulActivation": (
        partial(M.BatchMatMulActivation, 3, 4, 5, nonlinear_mode="RELU"),
        (3, 4, 5),
    ),
    "BatchMatMulActivation plain": (
        partial(M.BatchMatMulActivation, 3, 4, 5, bias=False),
        (3, 4, 6),
    ),
    "Elemwise": (partial(M.Elemwise, "FUSE_ADD_RELU"), (3, 4), (3, 4)),
    "Elemwise sigmoid": (partial(M.Elemwise, "sigmoid"), (3, 4)),
    "Concat": (M.Concat, (3, 4), (2, 4)),
}
# Layers whose weight may have a scale for each channel.
WITH_CHANNELS = [
    name for name in LAYERS if name.startswith(("Conv", "Linear")) and "Transpose" not in name
]


class Between(M.Module):
    """A layer between stubs."""

    def __init__(self, layer):
        super().__init__()
        self.quant, self.layer, self.dequant = M.QuantStub(), layer, M.DequantStub()

    def forward(self, *inps):
        inps = [self.quant(each) for each in inps]
        return self.dequant(self.layer(inps) if len(inps) > 1 and self._joins else self._of(inps))

    def _of(self, inps):
        return self.layer(*inps)

    @property
    def _joins(self):
        return type(self.layer).__name__ == "Concat"


def between(name, seed=1):
    """(network, operands) of a layer whose parameters are random numbers."""
    make, *shapes = LAYERS[name]
    net = Between(make())
    for number, parameter in enumerate(net.parameters()):
        parameter._reset(numbers(*parameter.shape, seed=seed + number) * 0.5 + 0.2)
    return net, [numbers(*shape, seed=50 + number) for number, shape in enumerate(shapes)]


def begin_steps(net):
    """Gives steps that are trained a size that fits the numbers."""
    for each in net.modules():
        if hasattr(each, "set_qparams"):
            is_unsigned = each.dtype == "quint8"
            mode = QuantMode.ASYMMERTIC if is_unsigned else QuantMode.SYMMERTIC
            zero_point = tessera.tensor(120) if is_unsigned else None
            each.set_qparams(create_qparams(mode, each.dtype, tessera.tensor(0.03), zero_point))


class Small(M.Module):
    """Convolutions, the sum of two ways, a product along rows, and their means as classes."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = M.QuantStub(), M.DequantStub()
        self.first = M.ConvBnRelu2d(3, 8, 3, stride=2, padding=1)
        self.second = M.ConvBnRelu2d(8, 8, 3, padding=1, bias=False)
        self.add = M.Elemwise("FUSE_ADD_RELU")
        self.fc = M.Linear(4, 5)

    def forward(self, x):
        x = self.first(self.quant(x))
        x = self.add(x, self.second(x))
        return self.dequant(self.fc(x)).mean([1, 2])
