"""Passes over traced modules, the patterns that they look for, and `optimize`."""

from . import const_pass, fold_scale_pass, fuse_pass, norm_pass
from .matcher import PatternMatcher
from .optimization import optimize
from .pass_base import (
    BackwardPass,
    BasePass,
    ForwardPass,
    PassContext,
    get_default_pass_context,
    get_registered_pass,
    register_pass,
)

__all__ = [
    "BackwardPass",
    "BasePass",
    "ForwardPass",
    "PassContext",
    "PatternMatcher",
    "const_pass",
    "fold_scale_pass",
    "fuse_pass",
    "get_default_pass_context",
    "get_registered_pass",
    "norm_pass",
    "optimize",
    "register_pass",
]
