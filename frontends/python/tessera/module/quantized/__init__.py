"""Layers for inference by integers: what QAT modules of the same names become, with the same
numbers, bit for bit.
"""

import sys as _sys

from ..._known_form import export_known_form as _export_known_form
from ..._listed import listed as _listed
from .._help import add_tables as _add_tables
from .conv import (
    Conv2d,
    ConvBn2d,
    ConvBnRelu2d,
    ConvRelu2d,
    ConvTranspose2d,
    ConvTransposeBn2d,
    ConvTransposeBnRelu2d,
    ConvTransposeRelu2d,
)
from .elemwise import Concat, DequantStub, Elemwise, QuantStub
from .linear import BatchMatMulActivation, Linear, LinearBn1d, LinearBnRelu1d, LinearRelu
from .module import QuantizedModule
from .weight_only import WeightOnlyEmbedding, WeightOnlyLinear

__all__ = [
    "BatchMatMulActivation",
    "Concat",
    "Conv2d",
    "ConvBn2d",
    "ConvBnRelu2d",
    "ConvRelu2d",
    "ConvTranspose2d",
    "ConvTransposeBn2d",
    "ConvTransposeBnRelu2d",
    "ConvTransposeRelu2d",
    "DequantStub",
    "Elemwise",
    "Linear",
    "LinearBn1d",
    "LinearBnRelu1d",
    "LinearRelu",
    "QuantStub",
    "QuantizedModule",
    "WeightOnlyEmbedding",
    "WeightOnlyLinear",
]

__dir__ = _listed(*__all__)

_export_known_form(_sys.modules[__name__], __all__)
_add_tables(kind for kind in map(globals().get, __all__) if kind is not QuantizedModule)
