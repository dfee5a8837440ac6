"""The path that every function takes: an operator applied to tensors."""

from .._core import OpDef, Tensor, apply
from .._listed import listed as _listed
from . import ops
from .symint import SymInt, set_symbolic_shape, sym_max, sym_min, use_symbolic_shape

__all__ = [
    "OpDef",
    "SymInt",
    "Tensor",
    "apply",
    "ops",
    "set_symbolic_shape",
    "sym_max",
    "sym_min",
    "use_symbolic_shape",
]

__dir__ = _listed(*__all__)
