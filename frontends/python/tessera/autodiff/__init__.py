"""Gradients: GradManager for training loops, grad and its kin for functions, Function for own
rules; and vmap, which makes a function of elements one of whole tensors.
"""

from .._listed import listed as _listed
from .anomaly import detect_anomaly
from .checkpoint import checkpoint
from .derivatives import hessian, jacobian, jvp
from .function import Function
from .functional import grad, value_and_grad, vjp
from .grad_manager import GradManager, GradManagerGroup
from .modes import no_grad
from .vmap import vmap

__all__ = [
    "Function",
    "GradManager",
    "GradManagerGroup",
    "checkpoint",
    "detect_anomaly",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "no_grad",
    "value_and_grad",
    "vjp",
    "vmap",
]

__dir__ = _listed(*__all__)
