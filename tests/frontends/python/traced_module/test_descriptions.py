"""Every module of the package, made again of its description and its state."""

import warnings

import pytest
import tessera as ts
import tessera.module as M  # noqa: N812
from tessera.dtype import is_dtype_equal
from tessera.quantization import DynamicLinear
from tessera.traced_module.descriptions import description_of
from tessera.traced_module.functions import package_modules

from tests.support.helper import bits

T, IMAGES = ts.Tensor, (2, 4, 6, 6)

# For each class modules with settings that are not the defaults.
MODULES = {
    "ActiveBlur": [M.ActiveBlur],
    "AdaptiveAvgPool2d": [lambda: M.AdaptiveAvgPool2d((3, 2))],
    "AdaptiveMaxPool2d": [lambda: M.AdaptiveMaxPool2d(4)],
    "AdditiveElemwise": [lambda: M.AdditiveElemwise(per_channel=True)],
    "AdditiveGaussianNoise": [lambda: M.AdditiveGaussianNoise(1.0, 2.0, True, seed=4)],
    "AdditiveLaplaceNoise": [lambda: M.AdditiveLaplaceNoise(1.0, 2.0, True, seed=4)],
    "AdditivePoissonNoise": [lambda: M.AdditivePoissonNoise(2.0, seed=4)],
    "AvgPool1d": [lambda: M.AvgPool1d(3, 2, 1, "average")],
    "AvgPool2d": [lambda: M.AvgPool2d(3, 2, 1, "average"), lambda: M.AvgPool2d(2)],
    "AvgPool3d": [lambda: M.AvgPool3d((1, 2, 3), 2)],
    "BCELoss": [lambda: M.BCELoss("sum")],
    "BCEWithLogitsLoss": [lambda: M.BCEWithLogitsLoss("none")],
    "BatchMatMulActivation": [
        lambda: M.BatchMatMulActivation(2, 4, 3, False, "RELU"),
        lambda: M.BatchMatMulActivation(2, 4, 3),
    ],
    "BatchNorm1d": [lambda: M.BatchNorm1d(4, 1e-3, 0.5, False)],
    "BatchNorm2d": [lambda: M.BatchNorm2d(4, freeze=True), lambda: M.BatchNorm2d(4)],
    "BatchNorm3d": [lambda: M.BatchNorm3d(4, track_running_stats=False)],
    "Concat": [M.Concat],
    "Conv1d": [lambda: M.Conv1d(4, 6, 4, padding="same"), lambda: M.Conv1d(4, 6, 3, 2, 1)],
    "Conv2d": [
        lambda: M.Conv2d(4, 6, 3, padding="same"),
        lambda: M.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2, False, padding_mode="reflect"),
        lambda: M.Conv2d(4, 6, 3, conv_mode="cross_correlation", compute_mode="float32"),
    ],
    "Conv3d": [lambda: M.Conv3d(4, 6, 2, 1, 1, groups=2)],
    "ConvBn2d": [lambda: M.ConvBn2d(4, 3, 3, 2, 1, bias=False, eps=1e-3, momentum=0.5)],
    "ConvBnRelu2d": [lambda: M.ConvBnRelu2d(4, 3, 3, padding="same", affine=False)],
    "ConvRelu2d": [lambda: M.ConvRelu2d(4, 3, 1, bias=False)],
    "ConvTranspose1d": [lambda: M.ConvTranspose1d(4, 6, 3, 2, 1, 1)],
    "ConvTranspose2d": [lambda: M.ConvTranspose2d(4, 6, 3, 2, groups=2, bias=False)],
    "ConvTranspose3d": [lambda: M.ConvTranspose3d(4, 6, 2, 2)],
    "ConvTransposeBn2d": [lambda: M.ConvTransposeBn2d(4, 3, 3, 2, 1, 1, eps=1e-3)],
    "ConvTransposeBnRelu2d": [lambda: M.ConvTransposeBnRelu2d(4, 3, 3)],
    "ConvTransposeRelu2d": [lambda: M.ConvTransposeRelu2d(4, 3, 3, 2)],
    "CropAndPad": [lambda: M.CropAndPad("nearest", False)],
    "CrossEntropyLoss": [
        lambda: M.CrossEntropyLoss(T([1.0, 2.0]), 7, "none", 0.5),
        M.CrossEntropyLoss,
    ],
    "Cutmix": [lambda: M.Cutmix(3.0, seed=1)],
    "DeformableConv2d": [lambda: M.DeformableConv2d(4, 3, 3, padding=1)],
    "DeformablePSROIPooling": [lambda: M.DeformablePSROIPooling(False, 2, 2, 3, 2, 0.5, 0.2)],
    "DequantStub": [M.DequantStub],
    "Dilation": [lambda: M.Dilation(2, "BORDER_REFLECT", 1.0)],
    "Dropout": [lambda: M.Dropout(0.5), M.Dropout],
    "ELU": [lambda: M.ELU(0.5)],
    "Elemwise": [lambda: M.Elemwise("fuse_mul_add3")],
    "Embedding": [lambda: M.Embedding(7, 3, 2), lambda: M.Embedding(7, 3, freeze=True)],
    "Emboss": [lambda: M.Emboss((0.2, 0.8), 1.5, seed=3)],
    "FillPoly": [M.FillPoly],
    "Flatten": [lambda: M.Flatten(2, 3)],
    "Flip": [lambda: M.Flip(False, True, "NCHW")],
    "GELU": [lambda: M.GELU("tanh")],
    "GRU": [lambda: M.GRU(4, 5, 2, False, True, 0.5, True)],
    "GRUCell": [lambda: M.GRUCell(4, 5, False), lambda: M.GRUCell(4, 5)],
    "GaussianBlur": [lambda: M.GaussianBlur(3, 1.0, 2.0, format="NCHW")],
    "GeneralNorm": [lambda: M.GeneralNorm((4, 9), (1, 2), affine=False)],
    "GroupNorm": [lambda: M.GroupNorm(2, 4, 1e-3)],
    "Hardswish": [M.Hardswish],
    "HuberLoss": [lambda: M.HuberLoss("sum", 2.0)],
    "Identity": [M.Identity],
    "InstanceNorm": [lambda: M.InstanceNorm(4, 1e-3, False)],
    "InstanceNorm1d": [lambda: M.InstanceNorm1d(4, affine=True), lambda: M.InstanceNorm1d(3)],
    "InstanceNorm2d": [lambda: M.InstanceNorm2d(4, 1e-3)],
    "KLDivLoss": [lambda: M.KLDivLoss("sum", True)],
    "L1Loss": [lambda: M.L1Loss("sum")],
    "LSTM": [lambda: M.LSTM(4, 5, 2, proj_size=3)],
    "LSTMCell": [lambda: M.LSTMCell(4, 5, bias=False)],
    "LayerNorm": [lambda: M.LayerNorm((5, 8), 1e-3), lambda: M.LayerNorm(8, affine=False)],
    "LeakyReLU": [lambda: M.LeakyReLU(0.2)],
    "Linear": [lambda: M.Linear(4, 3), lambda: M.Linear(4, 3, False)],
    "LinearBn1d": [lambda: M.LinearBn1d(4, 3, bias=False, track_running_stats=False)],
    "LinearBnRelu1d": [lambda: M.LinearBnRelu1d(4, 3)],
    "LinearContrast": [lambda: M.LinearContrast((0.5, 1.0), True, seed=2)],
    "LinearRelu": [lambda: M.LinearRelu(4, 3, False)],
    "LocalConv2d": [lambda: M.LocalConv2d(4, 6, 6, 5, 3, 2, 1, groups=2)],
    "LocalResponseNorm": [lambda: M.LocalResponseNorm(3, alpha=0.5)],
    "MSELoss": [lambda: M.MSELoss("sum")],
    "MaxPool1d": [lambda: M.MaxPool1d(3, 2, 1)],
    "MaxPool2d": [lambda: M.MaxPool2d(2)],
    "MaxPool3d": [lambda: M.MaxPool3d((1, 2, 3), 2, (0, 1, 0))],
    "Mish": [M.Mish],
    "Mixup": [lambda: M.Mixup(3.0, seed=1)],
    "MultiHeadAttention": [
        lambda: M.MultiHeadAttention(8, 2, 0.1, 0.2, False, kdim=4, vdim=6),
        lambda: M.MultiHeadAttention(8, 2),
    ],
    "NLLLoss": [lambda: M.NLLLoss(T([1.0, 2.0]), 7, "none")],
    "PReLU": [lambda: M.PReLU(4, 0.5)],
    "Pad": [lambda: M.Pad(((0, 0), (1, 2)), "replicate"), lambda: M.Pad(((1, 1),), "constant", 2)],
    "PixelShuffle": [lambda: M.PixelShuffle(2)],
    "QuantStub": [M.QuantStub],
    "RMSNorm": [lambda: M.RMSNorm(8, affine=False)],
    "RNN": [lambda: M.RNN(4, 5, 2, nonlinearity="relu")],
    "RNNCell": [lambda: M.RNNCell(4, 5, nonlinearity="relu")],
    "ReLU": [M.ReLU],
    "RegionRestrictedConv": [lambda: M.RegionRestrictedConv(4, 6, 3, groups=2, bias=False)],
    "Remap": [lambda: M.Remap("reflect", 1.0, "nearest")],
    "Resize": [lambda: M.Resize((9, 4), "cubic", "NHWC")],
    "Rot90": [lambda: M.Rot90(1, (2, 3))],
    "Rotate": [lambda: M.Rotate(False, format="NCHW")],
    "Sharpen": [lambda: M.Sharpen(0.5, (0.5, 2.0), seed=3)],
    "SiLU": [M.SiLU],
    "Sigmoid": [M.Sigmoid],
    "SlidingWindow": [lambda: M.SlidingWindow((3, 2), (1, 0), 2)],
    "SlidingWindowTranspose": [lambda: M.SlidingWindowTranspose((6, 6), 3, 1, 2)],
    "SmoothL1Loss": [lambda: M.SmoothL1Loss("sum", 0.5)],
    "Softmax": [lambda: M.Softmax(axis=0), M.Softmax],
    "SyncBatchNorm": [lambda: M.SyncBatchNorm(4, 1e-3)],
    "Tanh": [M.Tanh],
    "TransformerDecoderLayer": [
        lambda: M.TransformerDecoderLayer(8, 2, 12, 0.3, "gelu", 1e-3, True, False),
    ],
    "TransformerEncoderLayer": [lambda: M.TransformerEncoderLayer(8, 2)],
    "TripletMarginLoss": [lambda: M.TripletMarginLoss(2.0, 1.0, 1e-3, True, "sum")],
}
CALLS = [(name, make) for name, makes in MODULES.items() for make in makes]


def test_every_closed_module_of_the_package_is_here():
    rooms = (name.rpartition(".") for name in package_modules())
    names = {name for room, _, name in rooms if room == "module"}
    assert names - {"Module", "ModuleDict", "ModuleList", "Sequential"} == set(MODULES)


def test_modules_that_simulate_quantization_have_no_call():
    layer = M.qat.Linear.from_float_module(M.Linear(4, 3))
    message = "description_of: a module must be made by a call of its class alone, got "
    with pytest.raises(ValueError, match=message + type(layer).__module__):
        description_of(layer)


DTYPE = ts.dtype.qint8(0.3)
QUANTIZED = [
    lambda: M.quantized.Conv2d(4, 6, 3, padding="same", groups=2, dtype=DTYPE),
    lambda: M.quantized.ConvBnRelu2d(4, 6, 3, bias=False, dtype=DTYPE),
    lambda: M.quantized.ConvTransposeRelu2d(4, 6, (3, 2), stride=2, bias=False, dtype=DTYPE),
    lambda: M.quantized.Linear(DTYPE, 4, 3),
    lambda: M.quantized.LinearRelu(DTYPE, 4, 3, bias=False),
    lambda: M.quantized.BatchMatMulActivation(3, 4, 2, nonlinear_mode="RELU", dtype=DTYPE),
    lambda: M.quantized.Elemwise("add", DTYPE),
    lambda: M.quantized.Concat(DTYPE),
    lambda: M.quantized.QuantStub(ts.dtype.quint8(0.1, 7)),
    M.quantized.DequantStub,
    lambda: M.quantized.WeightOnlyLinear(20, 3, False, 4, 16, "relu"),
    lambda: M.quantized.WeightOnlyEmbedding(9, 20, 4, dtype="float16"),
    lambda: DynamicLinear(4, 3, False, "relu"),
]


@pytest.mark.parametrize("make", QUANTIZED)
def test_a_quantized_module_is_made_again(make):
    module = make()
    kind, args, kwargs = description_of(module)
    made = kind(*args, **kwargs)
    assert settings(made) == settings(module)
    found, wanted = (getattr(each, "output_dtype", None) for each in (made, module))
    assert found is wanted is None or is_dtype_equal(found, wanted)
    own, other = module.state_dict(), made.state_dict()
    assert own.keys() == other.keys()
    assert all(own[key].shape == other[key].shape for key in own)


def settings(module):
    """The plain attributes of a module and of those below, in order."""
    own = {key: value for key, value in vars(module).items() if not hasattr(value, "__dict__")}
    own = {key: value for key, value in own.items() if not isinstance(value, ts.Tensor)}
    return [type(module), own, *(settings(child) for child in module.children())]


@pytest.mark.parametrize(("name", "make"), CALLS)
def test_a_module_is_made_again(name, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = make()
    kind, args, kwargs = description_of(module)
    assert kind.__name__ == name
    again = kind(*args, **kwargs)
    again.load_state_dict(module.state_dict())
    assert settings(again) == settings(module)
    found, wanted = (dict(each.named_tensors()) for each in (again, module))
    assert list(found) == list(wanted)
    assert [type(each) for each in found.values()] == [type(each) for each in wanted.values()]
    assert bits(list(found.values())) == bits(list(wanted.values()))
    assert description_of(again)[0] is kind


def test_a_class_of_the_user_keeps_its_arguments_by_their_names():
    class Scaled(M.Module):
        def __init__(self, factor, more=1):
            super().__init__()
            self.times = factor

    with pytest.raises(ValueError, match=r"^description_of: each argument of Scaled must be an "
                       r"attribute of that name, got none for 'factor'$"):  # fmt: skip
        description_of(Scaled(2))
