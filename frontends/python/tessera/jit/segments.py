"""Traced functions with parts that are left out: what is between them runs compiled."""

from contextlib import contextmanager

from .. import _core, effects
from ..utils.progress import compiling
from .fitting import LIMITS, compiled
from .memory_config import options_of_device
from .numerics import with_numerics


class ExcludedError(RuntimeError):
    """Code to leave out must run, in a call that is recorded only."""


class Segments:
    """The programs of a function with parts left out.

    Python runs at every call. Operators outside of the parts left out are recorded and run by one
    program for each stretch between them; a stretch that reads as one before has its program. What
    needs values within a stretch, such as `x[mask]`, runs eagerly and parts it.
    """

    def __init__(self, options):
        self._options = {**options, "capture_as_const": False}
        self.programs = programs = {}
        self._kept = _core.KeptCall(None, lambda _: programs.clear())

    def call(self, function, args, kwargs):
        """The result of the call. An exception comes out when what was before it ran."""
        with effects.Effects() as seen:
            seen.segments = self
            self.begin(seen)
            try:
                return function(*args, **kwargs)
            finally:
                self.end(seen)

    def begin(self, seen):
        """A stretch begins. It ends early where a value is needed: a size that depends on data."""

        def _between(ends):
            self.end(seen) if ends else self.begin(seen)

        _core.trace_begin([], run=False, between=_between)
        seen.recording = True

    def end(self, seen):
        """The stretch ends and runs."""
        if not seen.recording:
            return  # the recording ended with an error
        seen.recording = False
        seen.name_tensors()
        segment = _core.trace_end_segment()
        if not segment.num_ops:
            return
        options = with_numerics(self._options)
        if not any(name in options for name in LIMITS):
            options |= options_of_device([])
        key = segment.key, options["numerics"], *map(options.get, LIMITS)
        if key not in self.programs:
            with compiling():
                self.programs[key] = compiled(segment, options)
        program = self.programs[key]
        segment.run(program)
        self._kept.keep(sum(program.held_bytes for program in self.programs.values()))


@contextmanager
def exclude_from_trace():
    """Code within it runs eagerly, in a traced function too: at every call, between two programs.

    There it may look at values, decide by them, and change Python state. A function that has such
    parts runs its Python code at every call; the operators outside of them are recorded, not run,
    and each stretch of them runs as one program, compiled when it is new. `dump` refuses such a
    function.

    RuntimeError: the call must run, and is not recorded only (estimate, record_only).

    >>> import tessera as ts
    >>> from tessera.jit import exclude_from_trace
    >>> @ts.jit.trace
    ... def step(x):
    ...     y = x * 2
    ...     with exclude_from_trace():
    ...         print("y is", y.item())
    ...     return y + 1
    >>> [step(ts.tensor([n])).item() for n in range(3)]
    y is 0
    y is 2
    y is 4
    [1, 3, 5]
    """
    seen = effects.current()
    if seen is None:
        yield
        return
    _leave(seen)
    try:
        yield
    finally:
        if seen.segments is not None:
            effects.set_current(seen)
            seen.segments.begin(seen)


def _leave(seen):
    """The recording ends: what it holds runs, or ran already."""
    if seen.segments is not None:
        seen.segments.end(seen)
    elif not seen.runs:
        raise ExcludedError(
            "exclude_from_trace: the code to leave out must run, got a call that is recorded only"
        )
    else:
        _core.trace_abandon()
        seen.excluded = True
    effects.set_current(None)
