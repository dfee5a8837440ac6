"""Layers: functions with parameters."""

import sys as _sys

from .._known_form import export_known_form as _export_known_form
from . import init
from .activation import GELU, LeakyReLU, PReLU, ReLU, Sigmoid, SiLU, Softmax
from .attention import MultiHeadAttention
from .batchnorm import BatchNorm1d, BatchNorm2d
from .container import ModuleDict, ModuleList, Sequential
from .conv import Conv1d, Conv2d
from .elemwise import Concat, Dropout, Elemwise, Flatten, Identity, Pad, PixelShuffle
from .embedding import Embedding
from .fused import ConvBn2d, ConvBnRelu2d, ConvRelu2d, LinearBn1d, LinearBnRelu1d, LinearRelu
from .linear import Linear
from .module import Module
from .normalization import GroupNorm, InstanceNorm, LayerNorm
from .pooling import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d

__all__ = [
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "Concat",
    "Conv1d",
    "Conv2d",
    "ConvBn2d",
    "ConvBnRelu2d",
    "ConvRelu2d",
    "Dropout",
    "Elemwise",
    "Embedding",
    "Flatten",
    "GELU",
    "GroupNorm",
    "Identity",
    "InstanceNorm",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LinearBn1d",
    "LinearBnRelu1d",
    "LinearRelu",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "PReLU",
    "Pad",
    "PixelShuffle",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "init",
]

_export_known_form(_sys.modules[__name__], __all__)
