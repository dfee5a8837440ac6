"""Functions compiled whole: trace, dump, load, estimate, largest_batch, explain."""

from .._listed import listed as _listed
from .batch import largest_batch
from .estimate import ComputedAgain, Estimate, Spec, estimate
from .explain import Explanation, explain
from .file_options import DumpInfo
from .graph_opt_config import GraphOptimizationConfig
from .memory_config import DTRConfig, SublinearMemoryConfig
from .mismatch import TraceError, TraceMismatchError
from .numerics import numerics
from .partial import partial_trace
from .program import Dim, Program, load
from .segments import exclude_from_trace
from .trace import trace

__all__ = [
    "ComputedAgain",
    "DTRConfig",
    "Dim",
    "DumpInfo",
    "Estimate",
    "Explanation",
    "GraphOptimizationConfig",
    "Program",
    "Spec",
    "SublinearMemoryConfig",
    "TraceError",
    "TraceMismatchError",
    "estimate",
    "explain",
    "exclude_from_trace",
    "largest_batch",
    "load",
    "numerics",
    "partial_trace",
    "trace",
]

__dir__ = _listed(*__all__)
