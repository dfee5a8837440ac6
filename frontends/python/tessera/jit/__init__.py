"""Functions compiled whole: trace, dump, load, estimate."""

from .estimate import Estimate, Spec, estimate
from .mismatch import TraceMismatchError
from .partial import partial_trace
from .program import Dim, Program, load
from .segments import exclude_from_trace
from .trace import trace

__all__ = [
    "Dim",
    "Estimate",
    "Program",
    "Spec",
    "TraceMismatchError",
    "estimate",
    "exclude_from_trace",
    "load",
    "partial_trace",
    "trace",
]
