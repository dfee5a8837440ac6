"""Parts of a program that another engine runs: an execution provider.

`provider.onnx_runtime.load` gives a model of ONNX as one operator, and `partition` replaces the
parts of a Network that a provider claims. ONNX Runtime needs `pip install tessera[provider]`.

>>> import tessera as ts
>>> ts.provider.onnx_runtime.name
'onnx_runtime'
"""

from .._listed import listed as _listed
from .contract import Provider
from .operator import ProviderOperator
from .ort import onnx_runtime
from .partition import partition
from .signature import Signature, Value
from .subgraph import Subgraph

__all__ = [
    "Provider",
    "ProviderOperator",
    "Signature",
    "Subgraph",
    "Value",
    "onnx_runtime",
    "partition",
]

__dir__ = _listed(*__all__)
