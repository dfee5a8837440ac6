"""Functions compiled whole: trace, dump, load, estimate."""

from .estimate import Estimate, Spec, estimate
from .program import Dim, Program, load
from .trace import exclude_from_trace, trace

__all__ = [
    "Dim",
    "Estimate",
    "Program",
    "Spec",
    "estimate",
    "exclude_from_trace",
    "load",
    "trace",
]
