"""Training in two precisions: which operators compute in which, and gradients that neither vanish
nor overflow in the narrow one.
"""

import sys

from .._listed import listed as _listed
from .autocast import autocast
from .convert_format import convert_module_format, convert_tensor_format
from .grad_scaler import GradScaler
from .settings import Settings

__all__ = ["GradScaler", "autocast", "convert_module_format", "convert_tensor_format"]

__dir__ = _listed(*__all__)

sys.modules[__name__].__class__ = Settings
