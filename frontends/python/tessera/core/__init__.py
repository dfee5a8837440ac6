"""The path that every function takes: an operator applied to tensors."""

from .._core import OpDef, Tensor, apply
from . import ops
from .symint import SymInt, sym_max, sym_min

__all__ = ["OpDef", "SymInt", "Tensor", "apply", "ops", "sym_max", "sym_min"]
