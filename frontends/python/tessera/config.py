"""Settings of the whole process."""

import os

from . import _core
from .jit import limits

__all__ = [
    "get_async_level",
    "get_cache_limit",
    "get_check_finite",
    "get_disk_cache",
    "get_num_threads",
    "get_trace_limit",
    "open_disk_cache",
    "open_warm_set",
    "set_async_level",
    "set_cache_limit",
    "set_check_finite",
    "set_disk_cache",
    "set_num_threads",
    "set_trace_limit",
]

_DEFAULT_CACHE_MB = 1024


def get_num_threads():
    """How many threads a kernel uses.

    >>> get_num_threads() >= 1
    True
    """
    return _core.get_num_threads()


def set_num_threads(count):
    """How many threads a kernel uses from now on. ValueError: 1 to 1024.

    >>> set_num_threads(get_num_threads())
    """
    _core.set_num_threads(count)


def get_async_level():
    """See set_async_level.

    >>> get_async_level()
    2
    """
    return _core.get_async_level()


def set_async_level(level):
    """How far kernels run behind the program, and where their errors come out.

    2, the default: kernels run behind. What only the data can show, an index out of range, comes
    out of the next call that waits for a value (numpy, item, sync, the end of the program), naming
    operator, operands and the line of its call.
    1: a call that only its data can refuse waits for it and raises itself; other kernels run
    behind, and could fail for want of memory alone.
    0: each call waits for its kernel.

    Values, and the order of all that a program shows, are the same. Waits for queued work.
    ValueError: the level must be 0, 1 or 2.

    >>> set_async_level(0)
    >>> set_async_level(2)
    """
    _core.set_async_level(level)


def get_check_finite():
    """See set_check_finite.

    >>> get_check_finite()
    False
    """
    return _core.get_check_finite()


def set_check_finite(enabled):
    """Makes the operator that makes the first NaN or infinity raise ValueError.

    The error names operator, operands and the line of the call, which for a gradient is that of
    backward. Where an operand holds a NaN, or an infinity, it was made elsewhere: those of data and
    of arguments, such as a mask's -inf, are no error. Every call then waits for its result; traced
    functions run operator by operator; programs from files are not looked into. Holds for all
    threads; off by default, when it costs nothing.

    >>> import tessera
    >>> set_check_finite(True)
    >>> try:
    ...     tessera.functional.log(tessera.tensor([1.0, 0.0]))
    ... except ValueError as error:
    ...     print(str(error).split(", at ")[0])
    log: result out must be finite, got -inf at [1] of f32[2] (x f32[2])
    >>> set_check_finite(False)
    """
    _core.set_check_finite(enabled)


def get_cache_limit():
    """Bytes that compiled operators may take in memory.

    >>> get_cache_limit() >= 1 << 20
    True
    """
    return _core.cache_stats()["limit"]


def set_cache_limit(max_bytes):
    """Keeps at most `max_bytes` of compiled operators in memory; those used least recently go.

    A multiple of 16 bytes: each of 16 parts has its share, and keeps its latest operator whatever
    its size. ValueError: bytes must be at least 0.

    >>> limit = get_cache_limit()
    >>> set_cache_limit(1 << 20)
    >>> get_cache_limit()
    1048576
    >>> set_cache_limit(limit)
    """
    _core.set_cache_limit(max_bytes)


def get_trace_limit():
    """Bytes that recordings and programs of traced functions may take in memory.

    >>> get_trace_limit() >= 1 << 20
    True
    """
    return limits.limit()


def set_trace_limit(max_bytes):
    """Keeps at most `max_bytes` of what `jit.trace` recorded and compiled, over all functions.

    Signatures used least recently go, with a RuntimeWarning, and are recorded anew when they are
    called again; the latest stays whatever its size. ValueError: bytes must be at least 0.

    >>> limit = get_trace_limit()
    >>> set_trace_limit(1 << 20)
    >>> get_trace_limit()
    1048576
    >>> set_trace_limit(limit)
    """
    limits.set_limit(max_bytes)


def get_disk_cache():
    """Folder and limit in bytes of the cache on disk; the folder is "" where there is none.

    >>> folder, max_bytes = get_disk_cache()
    >>> max_bytes > 0
    True
    """
    return _core.disk_cache()


def set_disk_cache(folder, max_bytes=_DEFAULT_CACHE_MB << 20):
    """Keeps compiled operators and kernels in `folder`, `max_bytes` at most; "" keeps none.

    Files used least recently go first. A file that is damaged, or that another version or another
    processor wrote, counts for nothing. ValueError: bytes must be at least 0.

    >>> set_disk_cache("")
    >>> get_disk_cache()[0]
    ''
    >>> open_disk_cache()
    """
    _core.set_disk_cache(os.fspath(folder), max_bytes)


def open_disk_cache():
    """The cache that the environment asks for: TESS_CACHE_DIR, TESS_CACHE_MB.

    ValueError: TESS_CACHE_MB must be a number of MiB.

    >>> open_disk_cache()
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("TESS_CACHE_DIR", os.path.join(home, "tessera"))
    size = os.environ.get("TESS_CACHE_MB", str(_DEFAULT_CACHE_MB))
    if not size.isdecimal():
        raise ValueError(f"set_disk_cache: TESS_CACHE_MB must be a number of MiB, got {size!r}")
    set_disk_cache(folder, int(size) << 20)


def open_warm_set():
    """Opens the operators compiled with the package; TESS_WARM_SET names another folder, "" none.

    A set of another version, or damaged, is ignored: `tessera.doctor` says why.

    >>> open_warm_set()
    """
    own = os.path.join(os.path.dirname(__file__), "warm_set")
    _core.open_warm_set(os.environ.get("TESS_WARM_SET", own))
