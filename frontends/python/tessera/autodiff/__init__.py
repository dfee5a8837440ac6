"""Gradients: GradManager for training loops, grad and its kin for functions, Function for own
rules.
"""

from .checkpoint import checkpoint
from .function import Function
from .functional import grad, value_and_grad, vjp
from .grad_manager import GradManager, GradManagerGroup
from .modes import no_grad

__all__ = [
    "Function",
    "GradManager",
    "GradManagerGroup",
    "checkpoint",
    "grad",
    "no_grad",
    "value_and_grad",
    "vjp",
]
