"""Time and memory of a program: as a Chrome trace that Perfetto and chrome://tracing open, a
picture of memory, a page, or a table.

>>> import tessera as ts
>>> from tessera.utils.profiler import Profiler
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder, Profiler(folder) as profiler:
...     x = ts.tensor([1.0, 2.0]) + 1
>>> {"add"} <= {event["name"] for event in profiler.events()}
True
"""

import atexit
import contextlib
import json
import os
import threading

from .. import _core
from .._page.writing import write_text
from ..logger import get_logger
from ._profile import merge, summary
from ._profile.flow import flow_of
from ._profile.page import profile_page
from ._profile.picture import picture_of
from ._profile.recording import Recording

__all__ = ["Profiler", "is_profiling", "merge_trace_events", "profile", "scope"]

_TRACE, _PICTURE, _PAGE = "chrome_timeline.json", "memory_flow.svg", "html"
_FORMATS = (_TRACE, _PICTURE, _PAGE)

_lock = threading.Lock()
_running = None  # the profiler that records: one in the process
_is_watching_exit = False


class Profiler(contextlib.ContextDecorator):
    """Records every kernel, library call and copy of the process, compilations and waits, and the
    blocks of memory that are taken and given back.

    As a context manager or a decorator it writes a file PATH/PID.FORMAT for each format when the
    code ends, whether by an error or not; the files of the run before are replaced. `start`, `stop`
    and `dump` are its parts, and `summary` prints where time and memory went. A profiler that still
    records when the program ends is stopped and writes its files then. A forked process does not
    record. Times are in microseconds; a kernel is called by the operators that it computes, and
    comes with their line and module. The first 2^20 events are kept; `otherData` counts those
    beyond.

    Args:
        path: the folder that `dump` makes where it is missing
        format: "chrome_timeline.json" and "memory_flow.svg", as MegEngine calls them, or "html"
        formats: several of these; None: the one of `format`
        with_backtrace: memory, waits and eager operators come with all calls of the user that lead
            to them, in `args["calls"]`
        with_scopes: modules and scopes are events, too, of the category "scope"
        counters: names of at most four hardware counters, which steps and scopes then come with:
            "cycles", "instructions", "cache-misses", "branch-misses", "page-faults",
            "context-switches", "task-clock" (nanoseconds). They count all threads of the process
            that there are at `start`, and their children. Where the kernel forbids it, or nothing
            counts, the profile has a note that says so, and no counters
        sample_rate: each n-th change of memory is a point of its curve in the Chrome trace; 0: all
        profile_device: with False kernels, library calls and copies are left out
        num_tensor_watch: the largest blocks that are named at the peak of memory
        enable_cupti: accepted and without a meaning: CUPTI is NVIDIA's, and kernels are timed by
            themselves

    Raises:
        ValueError: a format or a counter is unknown, or a number is negative
        RuntimeError: one profiler records at a time, and `stop` and `dump` come after `start`
        OSError: the folder must be writable; an error of the profiled code comes first

    Example:
        >>> from tessera.utils.profiler import Profiler
        >>> profiler = Profiler()
        >>> profiler.start().stop()
        >>> [event["name"] for event in profiler.events() if event["cat"] == "kernel"]
        []
    """

    CHROME_TIMELINE = _TRACE

    def __init__(self, path="profile", format=_TRACE, formats=None, with_backtrace=False,
                 with_scopes=False, counters=(), sample_rate=0, profile_device=True,
                 num_tensor_watch=10, enable_cupti=False):  # fmt: skip
        self.directory = os.fspath(path)
        self.formats = _checked_formats([format] if formats is None else formats)
        for name, value in (("sample_rate", sample_rate), ("num_tensor_watch", num_tensor_watch)):
            if value < 0:
                raise ValueError(f"Profiler: {name} must be at least 0, got {value}")
        self._options = {
            "steps": bool(profile_device),
            "scopes": bool(with_scopes),
            "calls": bool(with_backtrace),
            "memory_stride": max(int(sample_rate), 1),
            "counters": list(counters),
        }
        _check_counters(self._options["counters"])
        self._watched = int(num_tensor_watch)
        self._steps = 0
        self._trace = None  # JSON, when it has stopped

    def __call__(self, function):
        """The function, profiled at each call; `__profiler__` of it is this profiler."""
        profiled = super().__call__(function)
        profiled.__profiler__ = self
        return profiled

    @property
    def path(self):
        """The file that `dump` writes; of several formats that of the first."""
        return self._path_of(self.formats[0])

    def _path_of(self, format):
        return os.path.join(self.directory, f"{os.getpid()}.{format}")

    def start(self):
        """Begins to record, after queued work has ended; returns the profiler."""
        global _running
        with _lock:
            if _running is not None:
                raise RuntimeError("Profiler: one profiler must record at a time, got a second")
            _core.sync()
            _core.start_profile(self._options)
            _running, self._trace, self._steps = self, None, 0
            _watch_exit()
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

    def step(self):
        """Marks the end of a step of a training; returns the profiler.

        RuntimeError: the profiler must record.
        """
        if _running is not self:
            raise RuntimeError("Profiler: step must come after start, got no start")
        self._steps += 1
        _core.mark_profile(f"step {self._steps}")
        return self

    def json(self):
        """The last recording as JSON."""
        return self._finished("json")

    def events(self):
        """The events of the last recording, as dicts: see "Read a profile"."""
        return json.loads(self._finished("events"))["traceEvents"]

    def summary(self, by=("operator", "module", "line"), limit=20):
        """Prints where the time of the last recording went: a row for each operator, module and
        line of the user's program, the most time first. Below it stand the parts of compilations
        and waits, and the blocks that make the peak of memory.

        Args:
            by: columns to add up by, of "operator", "module", "line" and "kind" (kernel, library,
                copy)
            limit: rows of a table at most; None: all

        Raises:
            ValueError: `by` must name columns, and limit must be at least 0
            RuntimeError: the recording must have ended
        """
        recording = Recording(self._finished("summary"))
        if limit is not None and limit < 0:
            raise ValueError(f"summary: limit must be at least 0, got {limit}")
        times = summary.table(recording, by, limit)
        parts = [summary.besides(recording, limit), summary.memory(recording, self._watched)]
        print("\n\n".join([times, *filter(None, [*parts, "\n".join(summary.notes(recording))])]))

    def to_html(self, path):
        """Writes a page about the last recording to the file `path`, which it returns: time by
        operator, line and module, a timeline, memory over time with what makes its peak,
        compilation and waits. The page is one file and needs no network.

        Raises:
            RuntimeError: the recording must have ended
            OSError: the file must be writable
        """
        return write_text("to_html", path, self._text_of(_PAGE, "to_html"))

    def dump(self):
        """Writes the last recording in each format; returns `path`."""
        for format in self.formats:
            text, path = self._text_of(format, "dump"), self._path_of(format)
            try:
                os.makedirs(self.directory, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                text = f"Profiler: folder must be writable, got {error.strerror}"
                raise type(error)(error.errno, text, path) from error
            get_logger("profiler").info("profile written to %s", path)
        return self.path

    def _text_of(self, format, what):
        trace = self._finished(what)
        if format == _TRACE:
            return trace + "\n"
        recording, title = Recording(trace), f"profile of process {os.getpid()}"
        if format == _PAGE:
            return profile_page(recording, title, self._watched)
        return picture_of(flow_of(recording.events), title, self._watched)

    def _finished(self, what):
        if self._trace is None:
            raise RuntimeError(f"Profiler: {what} must come after stop, got no stop")
        return self._trace

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            self.stop()
        finally:
            try:
                self.dump()
            except OSError as error:
                if kind is None:
                    raise
                get_logger("profiler").warning("%s", error)  # the error of the code counts more


def _checked_formats(formats):
    if isinstance(formats, str) or not formats:
        raise ValueError(f"Profiler: formats must be a list of formats, got {formats!r}")
    for format in formats:
        if format not in _FORMATS:
            raise ValueError(f"Profiler: format must be one of {list(_FORMATS)}, got {format!r}")
    return list(formats)


def _check_counters(counters):
    known = _core.hardware_counters()
    if len(counters) > 4 or not set(counters) <= set(known):
        raise ValueError(f"Profiler: counters must be at most four of {known}, got {counters}")


def _watch_exit():
    """Has a profiler that nobody stops write its files at exit, before the package's own handler,
    which ends the queue."""
    global _is_watching_exit
    if not _is_watching_exit:
        _is_watching_exit = True
        atexit.register(_end_at_exit)


def _end_at_exit():
    profiler = _running
    if profiler is None:
        return
    get_logger("profiler").warning("a profiler was never stopped: it ends with the program")
    try:
        profiler.__exit__(None, None, None)
    except Exception as error:  # noqa: BLE001
        get_logger("profiler").warning("its profile is lost: %s", error)


def _forget_in_child():
    global _running, _lock
    _running, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_in_child)


def profile(function=None, **options):
    """A decorator that profiles each call: `@profile` or `@profile(path="folder")`.

    Without a function it is a Profiler with these options; a path may stand in its place.

    >>> from tessera.utils.profiler import profile
    >>> profile(path="step").directory, profile("step").directory
    ('step', 'step')
    """
    if isinstance(function, (str, os.PathLike)):
        return Profiler(function, **options)
    profiler = Profiler(**options)
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


def merge_trace_events(directory):
    """Joins the Chrome traces of several processes, which profilers wrote into one folder, on one
    clock.

    Args:
        directory: the folder with files PID.chrome_timeline.json

    Returns:
        the path of the new file in it, merge.chrome_timeline.json

    Raises:
        OSError: the folder must be readable, and the new file writable
        ValueError: it must have such files, each written by a Profiler

    >>> import tempfile
    >>> from tessera.utils.profiler import Profiler, merge_trace_events
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Profiler(folder):
    ...         pass
    ...     merge_trace_events(folder).removeprefix(folder)
    '/merge.chrome_timeline.json'
    """
    return merge.merged("merge_trace_events", os.fspath(directory))


def is_profiling():
    """Whether a profiler records.

    >>> from tessera.utils.profiler import is_profiling
    >>> is_profiling()
    False
    """
    return _running is not None
