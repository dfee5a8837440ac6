"""Progress bars of what takes longer than two seconds: loops, downloads, compilations.

Drawn by tqdm (the extra "progress") on the standard error stream. They are silent where that is no
terminal, and where tqdm is not installed, unless they are asked for: by an argument, `set_progress`
or the environment's TESS_PROGRESS=1; TESS_PROGRESS=0 asks for none.

>>> from tessera.utils.progress import progress
>>> sum(progress(range(4), "adding"))
6
"""

import contextlib
import os
import sys
import threading

from .. import _core
from .._extras import importing

__all__ = ["progress", "progress_bar", "set_progress"]

_DELAY = 2.0  # seconds until a bar is shown
_PERIOD = 0.5  # seconds between two looks at a compilation

_enabled = {"0": False, "1": True}.get(os.environ.get("TESS_PROGRESS"))


def set_progress(enabled):
    """Whether bars are shown: True, False, or None for where there is a terminal; returns the old
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


@contextlib.contextmanager
def compiling(description="compiling"):
    """Shows the kernels that the code within compiles, from a thread of its own."""
    if not _is_wanted(None) or _tqdm("progress", must=False) is None:
        yield
        return
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(over, description), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(over, description):
    seen = _core.cache_stats()["kernels_compiled"]
    if over.wait(_DELAY):
        return
    with progress_bar(description, unit=" kernels", delay=0) as bar:
        while True:
            now = _core.cache_stats()["kernels_compiled"]
            bar.update(now - seen)
            bar.refresh()
            seen = now
            if over.wait(_PERIOD):
                return


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
