"""How numbers become integers of few bits: what describes it."""

from .._listed import listed as _listed
from .utils import QParams, QuantMode, create_qparams

__all__ = ["QParams", "QuantMode", "create_qparams"]

__dir__ = _listed(*__all__)
