"""Settings of the whole process."""

import os

from . import _core

__all__ = [
    "get_async_level",
    "get_num_threads",
    "set_async_level",
    "set_disk_cache",
    "set_num_threads",
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
    """2: kernels run behind the program, the default; 0: each call waits for its result.

    ValueError: the level must be 0, 1 or 2.

    >>> set_async_level(2)
    """
    _core.set_async_level(level)


def set_disk_cache(folder, max_bytes=_DEFAULT_CACHE_MB << 20):
    """Keeps compiled kernels in `folder`; "" keeps none.

    >>> set_disk_cache("")
    >>> open_disk_cache()
    """
    _core.set_disk_cache(os.fspath(folder), max_bytes)


def open_disk_cache():
    """The cache that the environment asks for: TESS_CACHE_DIR, TESS_CACHE_MB.

    >>> open_disk_cache()
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("TESS_CACHE_DIR", os.path.join(home, "tessera"))
    set_disk_cache(folder, int(os.environ.get("TESS_CACHE_MB", _DEFAULT_CACHE_MB)) << 20)
