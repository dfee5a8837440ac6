"""The path that every function takes: an operator applied to tensors."""

from .._core import OpDef, Tensor, apply
from . import ops

__all__ = ["OpDef", "Tensor", "apply", "ops"]
