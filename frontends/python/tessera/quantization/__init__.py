"""How numbers become integers of few bits: what describes it."""

from .utils import QParams, QuantMode, create_qparams

__all__ = ["QParams", "QuantMode", "create_qparams"]
