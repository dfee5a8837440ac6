"""Modules as graphs of their calls, which people read, edit, train, save and load without the
module's source.
"""

from .._listed import listed as _listed
from . import compat as compat
from ._passes import optimize
from .checking import TracedModuleChecker, disable_default_checker, enable_expr_checker
from .functions import register_as_builtin, wrap
from .pytree import register_supported_type
from .refusing import refuse_constants
from .rewriting import replace_pattern
from .traced_module import TracedModule, trace_module

__all__ = [
    "TracedModule",
    "TracedModuleChecker",
    "disable_default_checker",
    "enable_expr_checker",
    "optimize",
    "refuse_constants",
    "register_as_builtin",
    "register_supported_type",
    "replace_pattern",
    "trace_module",
    "wrap",
]

__dir__ = _listed(*__all__)
