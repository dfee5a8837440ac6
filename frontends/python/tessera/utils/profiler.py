"""What a program spends its time on, as a Chrome trace that Perfetto and chrome://tracing open.

>>> import tessera as ts
>>> from tessera.utils.profiler import Profiler
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder, Profiler(folder) as profiler:
...     x = ts.tensor([1.0, 2.0]) + 1
>>> {"add"} <= {event["name"] for event in profiler.events()}
True
"""

import contextlib
import json
import os
import threading

from .. import _core
from ..logger import get_logger
from . import _profile_summary as _summary

__all__ = ["Profiler", "is_profiling", "profile", "scope"]

_FORMAT = "chrome_timeline.json"

_lock = threading.Lock()
_running = None  # the profiler that records: one in the process


class Profiler(contextlib.ContextDecorator):
    """Records every kernel, library call and copy of the process, and the memory in use.

    As a context manager or a decorator it writes the file PATH/PID.chrome_timeline.json when the
    code ends, whether by an error or not; the file of the run before is replaced. `start`, `stop`
    and `dump` are its parts, and `summary` prints where the time went. Times are in microseconds; a
    kernel is called by the operators that it computes, and comes with their line and module. The
    first 2^20 events are kept; `otherData` counts those beyond.

    Args:
        path: the folder that `dump` makes where it is missing
        format: "chrome_timeline.json", as MegEngine calls it

    Raises:
        ValueError: format must be that one
        RuntimeError: one profiler records at a time, and `stop` and `dump` come after `start`
        OSError: the folder must be writable

    Example:
        >>> from tessera.utils.profiler import Profiler
        >>> profiler = Profiler()
        >>> profiler.start().stop()
        >>> [event["name"] for event in profiler.events() if event["cat"] == "kernel"]
        []
    """

    def __init__(self, path="profile", format=_FORMAT):
        if format != _FORMAT:
            raise ValueError(f"Profiler: format must be {_FORMAT!r}, got {format!r}")
        self.directory = os.fspath(path)
        self._trace = None  # JSON, when it has stopped

    @property
    def path(self):
        """The file that `dump` writes."""
        return os.path.join(self.directory, f"{os.getpid()}.{_FORMAT}")

    def start(self):
        """Begins to record, after queued work has ended; returns the profiler."""
        global _running
        with _lock:
            if _running is not None:
                raise RuntimeError("Profiler: one profiler must record at a time, got a second")
            _core.sync()
            _core.start_profile()
            _running, self._trace = self, None
        return self

    def stop(self):
        """Ends the recording, after queued work; its errors are raised when it has ended."""
        global _running
        with _lock:
            if _running is not self:
                raise RuntimeError("Profiler: stop must come after start, got no start")
            try:
                _core.sync()
            finally:
                _core.stop_profile()
                _running, self._trace = None, _core.profile_json()

    def json(self):
        """The last recording as JSON."""
        return self._finished("json")

    def events(self):
        """The events of the last recording, as dicts: see "Read a profile"."""
        return json.loads(self._finished("events"))["traceEvents"]

    def summary(self, by=("operator", "module", "line"), limit=20):
        """Prints where the time of the last recording went: a row for each operator, module and
        line of the user's program, the most time first.

        Args:
            by: columns to add up by, of "operator", "module", "line" and "kind" (kernel, library,
                copy, loop)
            limit: rows at most; None: all

        Raises:
            ValueError: `by` must name columns
            RuntimeError: the recording must have ended
        """
        print(_summary.table(self._finished("summary"), by, limit))

    def dump(self):
        """Writes the last recording to `path`, which it returns."""
        trace = self._finished("dump")
        try:
            os.makedirs(self.directory, exist_ok=True)
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(trace + "\n")
        except OSError as error:
            text = f"Profiler: folder must be writable, got {error.strerror}"
            raise type(error)(error.errno, text, self.path) from error
        get_logger("profiler").info("profile written to %s", self.path)
        return self.path

    def _finished(self, what):
        if self._trace is None:
            raise RuntimeError(f"Profiler: {what} must come after stop, got no stop")
        return self._trace

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            self.dump()


def profile(function=None, *, path="profile", format=_FORMAT):
    """A decorator that profiles each call: `@profile` or `@profile(path="folder")`.

    Without a function it is a Profiler with these arguments.

    >>> from tessera.utils.profiler import profile
    >>> profile(path="step").directory
    'step'
    """
    profiler = Profiler(path, format)
    return profiler if function is None else profiler(function)


@contextlib.contextmanager
def scope(name):
    """Operators within are those of a part `name`, in profiles and errors, as in a module.

    >>> import tessera as ts
    >>> from tessera.utils.profiler import scope
    >>> from tessera.utils.profiler import Profiler
    >>> profiler = Profiler().start()
    >>> with scope("head"):
    ...     x = ts.tensor([1.0]) + 1
    >>> profiler.stop()
    """
    _core.push_scope(name)
    try:
        yield
    finally:
        _core.pop_scope()


def is_profiling():
    """Whether a profiler records.

    >>> from tessera.utils.profiler import is_profiling
    >>> is_profiling()
    False
    """
    return _running is not None
