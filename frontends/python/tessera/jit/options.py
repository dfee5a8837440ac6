"""Options of `trace` that MegEngine has, and calls that are profiled."""

import inspect
import json

from ..utils.profiler import Profiler, is_profiling
from .graph_opt_config import GraphOptimizationConfig
from .memory_config import DTRConfig, SublinearMemoryConfig


def fuses(sublinear_memory_config=None, dtr_config=None, opt_level=2, graph_opt_config=None,
          symbolic_shape=True, without_host=False):  # fmt: skip
    """Whether these options let operators share kernels.

    TypeError: each must have its type. ValueError: opt_level must be 0 to 3.
    """
    _check("sublinear_memory_config", sublinear_memory_config, SublinearMemoryConfig)
    _check("dtr_config", dtr_config, DTRConfig)
    _check("graph_opt_config", graph_opt_config, GraphOptimizationConfig)
    for name, flag in {"symbolic_shape": symbolic_shape, "without_host": without_host}.items():
        if not isinstance(flag, bool):
            raise TypeError(f"trace: {name} must be a bool, got {flag!r}")
    if isinstance(opt_level, bool) or opt_level not in (0, 1, 2, 3):
        raise ValueError(f"trace: opt_level must be 0, 1, 2 or 3, got {opt_level!r}")
    return opt_level > 0 and (graph_opt_config is None or graph_opt_config.fuses)


def _check(name, value, kind):
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"trace: {name} must be a {kind.__name__} or None, got {value!r}")


class Signature:
    """The signature of a trace is that of its function, that of the class has all its options."""

    def __get__(self, traced, kind):
        if traced is not None:
            return inspect.signature(traced.function)
        function = inspect.Parameter(
            "function", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None
        )
        return inspect.Signature([function, *options_of(kind)])


def options_of(kind):
    """The options of a class of traces, as parameters that are keywords."""
    _, _, *own, _ = inspect.signature(kind._setup).parameters.values()
    each = [*own, *inspect.signature(fuses).parameters.values()]
    return [one.replace(kind=one.KEYWORD_ONLY) for one in each]


class Profiled:
    """What a trace with `profiling` has."""

    _profiler = None

    def get_profile(self):
        """What the latest call ran and when: a Chrome trace as a dict, in the form of
        `utils.profiler.Profiler`. A call within another profiler is in that one's.

        RuntimeError: the trace must have profiling=True and a call.
        """
        if self._profiler is None:
            raise RuntimeError(
                "trace: get_profile must come after a call with profiling=True, got none"
            )
        return json.loads(self._profiler.json())

    def _profile(self):
        """Makes every call from now on a profiled one."""
        plain = self._call_recorded

        def _call_profiled(*arguments):
            if is_profiling():
                return plain(*arguments)
            profiler = Profiler().start()
            try:
                value = plain(*arguments)
            finally:
                profiler.stop()
            self._profiler = profiler
            return value

        self._call_recorded = _call_profiled
