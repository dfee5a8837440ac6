"""Layers: functions with parameters."""

from . import init
from .activation import GELU, LeakyReLU, ReLU, Sigmoid, SiLU, Softmax
from .batchnorm import BatchNorm1d, BatchNorm2d
from .container import ModuleDict, ModuleList, Sequential
from .conv import Conv2d
from .elemwise import Concat, Dropout, Elemwise, Flatten, Identity
from .linear import Linear
from .module import Module
from .pooling import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d

__all__ = [
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "Concat",
    "Conv2d",
    "Dropout",
    "Elemwise",
    "Flatten",
    "GELU",
    "Identity",
    "LeakyReLU",
    "Linear",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "init",
]
