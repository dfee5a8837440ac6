"""save and load: tensors, arrays and plain values in nested containers, and modules, in one file.

The file is a safetensors file, which other tools read as named tensors. What contains them is JSON
in its `__metadata__`: the header around it is JSON, so that one parser reads all, where Protobuf
would be a second one and a dependency.
"""

from .._listed import listed as _listed
from .checkpoint import load, save

__all__ = ["load", "save"]

__dir__ = _listed(*__all__)
