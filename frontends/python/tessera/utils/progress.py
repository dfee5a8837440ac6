"""Progress of what takes longer than two seconds: loops, downloads, compilations, plans of memory.

Bars of loops and downloads are drawn by tqdm (the extra "progress"), and are silent where it is not
installed. A compilation, a plan of memory within a limit and an estimate say in one line what they
do, and remove the line at the end. All is on the standard error stream, and silent where that is
no terminal, unless it is asked for: by an argument, `set_progress` or the environment's
TESS_PROGRESS=1; TESS_PROGRESS=0 asks for none.

>>> from tessera.utils.progress import progress
>>> sum(progress(range(4), "adding"))
6
"""

import contextlib
import os
import sys
import threading
import time

from .. import _core
from .._extras import importing

__all__ = ["progress", "progress_bar", "set_progress"]

_DELAY = 2.0  # seconds until something is shown
_PERIOD = 0.5  # seconds between two looks at a compilation

_enabled = {"0": False, "1": True}.get(os.environ.get("TESS_PROGRESS"))


def set_progress(enabled):
    """Whether progress is shown: True, False, or None for where a terminal is; returns the old
    setting.

    ImportError: with True tqdm must be installed. ValueError: enabled must be one of these.

    >>> from tessera.utils.progress import set_progress
    >>> old = set_progress(False)
    >>> set_progress(old)
    False
    """
    global _enabled
    if not (enabled is None or isinstance(enabled, bool)):
        raise ValueError(f"set_progress: enabled must be True, False or None, got {enabled!r}")
    if enabled:
        _tqdm("set_progress")
    old, _enabled = _enabled, enabled
    return old


class _Silent:
    """A bar that shows nothing."""

    def update(self, n=1):
        """Nothing."""

    refresh = update

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def progress_bar(description=None, total=None, unit="it", enabled=None, delay=_DELAY):
    """A bar that code moves by `update(n)`; a context manager.

    Args:
        description: what stands before it
        total: the n in all, or None where that is not known
        unit: of n; "B" is shown in KiB, MiB and so on
        enabled: True or False; None for what `set_progress` says
        delay: seconds until it is shown

    Raises:
        ImportError: tqdm must be installed where enabled is True

    Example:
        >>> from tessera.utils.progress import progress_bar
        >>> with progress_bar("reading", total=10, unit="B") as bar:
        ...     bar.update(10)
    """
    if not _is_wanted(enabled):
        return _Silent()
    tqdm = _tqdm("progress_bar", must=_asked(enabled))
    if tqdm is None:
        return _Silent()
    is_bytes = unit == "B"
    return tqdm(
        desc=description, total=total, unit=unit, delay=delay, file=sys.stderr, leave=False,
        unit_scale=is_bytes, unit_divisor=1024 if is_bytes else 1000, dynamic_ncols=True,
    )  # fmt: skip


def progress(iterable, description=None, total=None, unit="it", enabled=None, delay=_DELAY):
    """The items of `iterable`, with a bar; arguments and errors are those of `progress_bar`.

    Without `total` it is the length of the iterable, where it has one.

    >>> from tessera.utils.progress import progress
    >>> [n * n for n in progress([1, 2, 3], "squaring", enabled=False)]
    [1, 4, 9]
    """
    if total is None:
        with contextlib.suppress(TypeError):
            total = len(iterable)
    return _items(iterable, progress_bar(description, total, unit, enabled, delay))


def _items(iterable, bar):
    with bar:
        for item in iterable:
            yield item
            bar.update(1)


class _Line:
    """A line of the terminal that is written again and again, and removed at the end."""

    def __init__(self):
        self._written = 0  # letters

    def show(self, text):
        """Replaces the line."""
        text = text[: _columns() - 1]
        self._write("\r" + text.ljust(self._written))
        self._written = len(text)

    def remove(self):
        """Leaves the line as if nothing had been there."""
        if self._written:
            self._write("\r" + " " * self._written + "\r")
            self._written = 0

    @staticmethod
    def _write(text):
        with contextlib.suppress(OSError, ValueError):  # a stream that is closed shows nothing
            sys.stderr.write(text)
            sys.stderr.flush()


def _columns():
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    return 80


_watching = threading.Lock()  # held while a line may be shown: there is one at a time


@contextlib.contextmanager
def compiling(description="compiling", plans=False):
    """Says in a line of the terminal, from a thread of its own, what the code within compiles:
    kernels so far, the pass that runs, and seconds; with `plans` how many plans of memory were
    tried.
    """
    if not _is_wanted(None) or not _watching.acquire(blocking=False):
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(over, description, plans), daemon=True)
    try:
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()
    finally:
        _watching.release()


def _watch(over, description, plans):
    before, start = _core.cache_stats(), time.monotonic()
    if over.wait(_DELAY):
        return
    line = _Line()
    while True:
        line.show(f"{description}: {_state(before, plans)}, {time.monotonic() - start:.0f} s")
        if over.wait(_PERIOD):
            line.remove()
            return


def _state(before, plans):
    """Numbers of what was compiled since, and the part that runs."""
    now, part = _core.cache_stats(), _core.compiling_part()
    kernels, programs = (now[key] - before[key] for key in ("kernels_compiled", "programs"))
    parts = [f"{kernels} kernels"]
    if plans and programs > 1:
        parts.append(f"plan {programs} of memory")
    return ", ".join([*parts, *([part] if part else [])])


def _asked(enabled):
    return _enabled if enabled is None else enabled


def _is_wanted(enabled):
    asked = _asked(enabled)
    return getattr(sys.stderr, "isatty", bool)() if asked is None else asked


def _tqdm(tool, must=True):
    """tqdm; where it is missing None, or with `must` an ImportError that says what to install."""
    try:
        with importing(tool, "tqdm", "'tessera[progress]' or tqdm"):
            from tqdm import tqdm
    except ImportError:
        if must:
            raise
        return None
    return tqdm
