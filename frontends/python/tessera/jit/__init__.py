"""Functions compiled whole: trace, dump, load."""

from .program import Dim, Program, load
from .trace import exclude_from_trace, trace

__all__ = ["Dim", "Program", "exclude_from_trace", "load", "trace"]
