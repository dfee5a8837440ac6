"""Layers: functions with parameters."""

import importlib as _importlib
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._known_form import export_known_form as _export_known_form
from .._listed import listed as _listed
from . import init
from ._help import add_tables as _add_tables
from .activation import (
    ELU,
    GELU,
    Hardswish,
    LeakyReLU,
    Mish,
    PReLU,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)
from .attention import MultiHeadAttention
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm
from .container import ModuleDict, ModuleList, Sequential
from .conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .elemwise import Concat, Dropout, Elemwise, Flatten, Identity, Pad, PixelShuffle
from .embedding import Embedding
from .fused import (
    ConvBn2d,
    ConvBnRelu2d,
    ConvRelu2d,
    ConvTransposeBn2d,
    ConvTransposeBnRelu2d,
    ConvTransposeRelu2d,
    LinearBn1d,
    LinearBnRelu1d,
    LinearRelu,
)
from .linear import BatchMatMulActivation, Linear
from .local_conv import (
    DeformableConv2d,
    DeformablePSROIPooling,
    LocalConv2d,
    RegionRestrictedConv,
    SlidingWindow,
    SlidingWindowTranspose,
)
from .loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
    TripletMarginLoss,
)
from .module import Module
from .normalization import (
    GeneralNorm,
    GroupNorm,
    InstanceNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    LayerNorm,
    LocalResponseNorm,
    RMSNorm,
)
from .pooling import (
    AdaptiveAvgPool2d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from .quant_dequant import DequantStub, QuantStub
from .recurrent import GRUCell, LSTMCell, RNNCell
from .sequences import GRU, LSTM, RNN
from .transformer import TransformerDecoderLayer, TransformerEncoderLayer
from .vision import (
    ActiveBlur,
    AdditiveElemwise,
    AdditiveGaussianNoise,
    AdditiveLaplaceNoise,
    AdditivePoissonNoise,
    Emboss,
    Flip,
    LinearContrast,
    Remap,
    Resize,
    Rot90,
    Rotate,
    Sharpen,
)
from .vision_filters import Dilation, FillPoly, GaussianBlur
from .vision_mixing import CropAndPad, Cutmix, Mixup

if _TYPE_CHECKING:
    from . import qat as qat
    from . import quantized as quantized


def __getattr__(name):
    if name in ("qat", "quantized"):  # few need them
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module: name must be that of a part, got {name!r}")


__all__ = [
    "ActiveBlur",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool2d",
    "AdditiveElemwise",
    "AdditiveGaussianNoise",
    "AdditiveLaplaceNoise",
    "AdditivePoissonNoise",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchMatMulActivation",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Concat",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvBn2d",
    "ConvBnRelu2d",
    "ConvRelu2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "ConvTransposeBn2d",
    "ConvTransposeBnRelu2d",
    "ConvTransposeRelu2d",
    "CropAndPad",
    "CrossEntropyLoss",
    "Cutmix",
    "DeformableConv2d",
    "DeformablePSROIPooling",
    "DequantStub",
    "Dilation",
    "Dropout",
    "ELU",
    "Elemwise",
    "Embedding",
    "Emboss",
    "FillPoly",
    "Flatten",
    "Flip",
    "GELU",
    "GRU",
    "GRUCell",
    "GaussianBlur",
    "GeneralNorm",
    "GroupNorm",
    "Hardswish",
    "HuberLoss",
    "Identity",
    "InstanceNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "KLDivLoss",
    "L1Loss",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LinearBn1d",
    "LinearBnRelu1d",
    "LinearContrast",
    "LinearRelu",
    "LocalConv2d",
    "LocalResponseNorm",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "Mish",
    "Mixup",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "NLLLoss",
    "PReLU",
    "Pad",
    "PixelShuffle",
    "QuantStub",
    "RMSNorm",
    "RNN",
    "RNNCell",
    "ReLU",
    "RegionRestrictedConv",
    "Remap",
    "Resize",
    "Rot90",
    "Rotate",
    "Sequential",
    "Sharpen",
    "SiLU",
    "Sigmoid",
    "SlidingWindow",
    "SlidingWindowTranspose",
    "SmoothL1Loss",
    "Softmax",
    "SyncBatchNorm",
    "Tanh",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "init",
]

__dir__ = _listed(*__all__)

_export_known_form(_sys.modules[__name__], __all__)
_add_tables(kind for kind in map(globals().get, __all__) if kind not in (init, Module))
