"""Bytes by category and key that outlive the process: in files, or on a Redis server.

For what takes long to find out and holds for other processes too, such as the results of a search.

>>> from tessera.utils.persistent_cache import PersistentCacheOnFiles
>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> cache = PersistentCacheOnFiles(folder.name)
>>> cache.put("best tile", b"matmul 128", b"32x8")
>>> PersistentCacheOnFiles(folder.name).get("best tile", b"matmul 128")
b'32x8'
>>> cache.get("best tile", b"conv 3") is None
True
>>> folder.cleanup()
"""

import atexit
import contextlib
import functools
import getpass
import hashlib
import os
import platform
import re
from pathlib import Path

from .. import _core
from .._extras import importing
from .._versions import __version__
from ..logger import get_logger

__all__ = [
    "PersistentCacheManager",
    "PersistentCacheOnFiles",
    "PersistentCacheOnServer",
    "get_manager",
]

_SIZE = hashlib.sha256().digest_size
_SECONDS = 5  # that a server has to answer
_MOST_BYTES = 64 << 20  # of values in files


class _PersistentCache:
    """What both have in common: keys that name the user and the version of Tessera."""

    @classmethod
    def make_user_prefix(cls):
        """What the keys of this user begin with."""
        return f"tessera-cache:{getpass.getuser()}"

    def _prefix(self):
        return f"{self.make_user_prefix()}:{__version__}@".encode()

    def _make_key(self, what, category, key):
        self._check(f"{what} must have a category", category, str)
        self._check(f"{what} must have a key", key, bytes)
        name = category.encode()
        return b"%s%d:%s@%s" % (self._prefix(), len(name), name, key)

    def _check(self, what, value, kind):
        if not isinstance(value, kind):
            name = type(self).__name__
            raise TypeError(f"{name}: {what} of {kind.__name__}, got {type(value).__name__}")


class PersistentCacheOnFiles(_PersistentCache):
    """Values in files of a folder, one for each key; any number of processes may use it at a time.

    Values that another version of Tessera put are not found, nor are those whose file is damaged.

    Args:
        folder: it is made where it is missing; without one, persistent_cache in the folder of
            `config.get_disk_cache`
        max_bytes: of files of this user and version; those used least recently go first

    Raises:
        ValueError: folder must be given where there is no disk cache
        TypeError: categories must be str, keys and values bytes
        OSError: files must be readable and writable

    Example:
        >>> from tessera.utils.persistent_cache import PersistentCacheOnFiles
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = PersistentCacheOnFiles(folder)
        ...     cache.put("sizes", b"x", b"3")
        ...     cache.get("sizes", b"x"), cache.clean(), cache.get("sizes", b"x")
        (b'3', 1, None)
    """

    def __init__(self, folder=None, max_bytes=_MOST_BYTES):
        if folder is None:
            cached = _core.disk_cache()[0]
            if not cached:
                raise ValueError(
                    "PersistentCacheOnFiles: folder must be given where there is no disk cache, "
                    "got None"
                )
            folder = os.path.join(cached, "persistent_cache")
        self.folder, self.max_bytes = Path(folder), max_bytes

    def _path(self, key):
        return self._own_folder() / (hashlib.sha256(key).hexdigest() + ".value")

    def _own_folder(self):
        return self.folder / hashlib.sha256(self._prefix()).hexdigest()[:16]

    def put(self, category, key, value):
        """Keeps `value` for the category and the key, in the place of another one.

        The file is there whole or not at all.
        """
        path = self._path(self._make_key("put", category, key))
        self._check("put must have a value", value, bytes)
        path.parent.mkdir(parents=True, exist_ok=True)

        def _write(descriptor):
            with open(descriptor, "wb", closefd=False) as file:
                file.write(hashlib.sha256(value).digest() + value)

        _core.replace_file(str(path), _write)
        self._trim()

    def _trim(self):
        """Removes files beyond the limit, at which other processes may be, too."""
        found = []
        for path in self._own_folder().glob("*.value"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, path))
        held = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if held <= self.max_bytes:
                break
            path.unlink(missing_ok=True)
            held -= size

    def get(self, category, key):
        """The value for the category and the key; None where there is none."""
        path = self._path(self._make_key("get", category, key))
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        digest, value = data[:_SIZE], data[_SIZE:]
        if hashlib.sha256(value).digest() != digest:
            get_logger().warning("persistent cache: %s is damaged, and no value", path)
            return None
        with contextlib.suppress(OSError):  # a folder that is only read
            os.utime(path)  # the latest used goes last
        return value

    def clean(self):
        """Removes the values of this user and version; returns how many there were."""
        paths = list(self._own_folder().glob("*.value"))
        for path in paths:
            path.unlink(missing_ok=True)
        return len(paths)


class PersistentCacheOnServer(_PersistentCache):
    """Values on a Redis server, which machines may share (the extra "redis").

    Args:
        url: redis://[user:password@]host[:port][/database], rediss:// for TLS, unix://path; without
            one that of the environment's TESS_CACHE_SERVER
        seconds: how long the server may take to answer

    Raises:
        ImportError: Python's redis must be installed
        ValueError: url must be one of these
        TypeError: categories must be str, keys and values bytes
        ConnectionError: the server must answer; the next call tries again

    Example:
        >>> from tessera.utils.persistent_cache import PersistentCacheOnServer
        >>> cache = PersistentCacheOnServer("redis://localhost:1/0")
        >>> try:
        ...     cache.get("sizes", b"x")
        ... except ConnectionError as error:
        ...     print(str(error)[:59])
        PersistentCacheOnServer: redis://localhost:1/0 must answer,
    """

    def __init__(self, url=None, seconds=_SECONDS):
        self._redis = _redis()
        url = url or os.environ.get("TESS_CACHE_SERVER")
        try:
            if not url:
                raise ValueError("no url, and no TESS_CACHE_SERVER")
            self._server = self._redis.Redis.from_url(
                url, socket_timeout=seconds, socket_connect_timeout=seconds
            )
        except ValueError as error:
            raise ValueError(
                "PersistentCacheOnServer: url must begin with redis://, rediss:// or unix://, "
                f"got {error}"
            ) from error
        self._shown = _without_password(url)

    def put(self, category, key, value):
        """Keeps `value` for the category and the key, in the place of another one."""
        name = self._make_key("put", category, key)
        self._check("put must have a value", value, bytes)
        self._ask(self._server.set, name, value)

    def get(self, category, key):
        """The value for the category and the key; None where there is none."""
        return self._ask(self._server.get, self._make_key("get", category, key))

    def clean(self):
        """Removes the values of this user and version; returns how many there were."""
        pattern = re.sub(rb"([*?\[\]\\])", rb"\\\1", self._prefix()) + b"*"
        keys = self._ask(lambda: list(self._server.scan_iter(match=pattern, count=1000)))
        return sum(self._ask(self._server.delete, key) for key in keys)

    def _ask(self, call, *arguments):
        try:
            return call(*arguments)
        except self._redis.RedisError as error:
            raise ConnectionError(
                f"PersistentCacheOnServer: {self._shown} must answer, got {error}"
            ) from error


def _redis():
    with importing("PersistentCacheOnServer", "redis", "'tessera[redis]' or redis"):
        import redis
    return redis


def _without_password(url):
    """`url` as messages may show it."""
    return re.sub(r"//[^/@]*@", "//", url)


class PersistentCacheManager:
    """Takes the times of measured kernels from process to process: see set_execution_strategy.

    They lie on the server of the environment's TESS_CACHE_SERVER, else in the folder of
    `config.get_disk_cache`, by user, version of Tessera and kind of processor. A cache that cannot
    be read or written, or whose content is damaged, costs a warning in the log: kernels are then
    measured anew.

    Args:
        cache: a PersistentCacheOnFiles or a PersistentCacheOnServer, instead of that one

    Example:
        >>> from tessera.utils.persistent_cache import PersistentCacheManager
        >>> from tessera.utils.persistent_cache import PersistentCacheOnFiles
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     manager = PersistentCacheManager(PersistentCacheOnFiles(folder))
        ...     manager.open(), manager.save()
        (0, True)
    """

    _CATEGORY = "times of kernels"

    def __init__(self, cache=None):
        self._cache, self._is_open, self._saved = cache, False, 0

    def open(self):
        """Loads the times that are kept, at the first call; returns how many there were.

        From then on they are saved when the process ends.
        """
        if self._is_open:
            return 0
        self._is_open = True
        atexit.register(self.save)
        return self._tried("read", self._load) or 0

    def save(self):
        """Saves what was measured since the last time; returns whether that worked.

        Of two processes that save at the same moment, the times of one may be lost.
        """
        measured = _core.timing_stats()["measured"]
        if measured == self._saved:
            return True
        self._saved = measured
        return self._tried("written", self._store) is not None

    def clean(self):
        """Forgets all times, here and in the cache."""
        _core.clear_timings()
        self._tried("written", lambda: self._found().put(self._CATEGORY, _machine(), b""))

    def _found(self):
        """The cache; ValueError where there is none."""
        if self._cache is None:
            on_server = os.environ.get("TESS_CACHE_SERVER")
            self._cache = PersistentCacheOnServer() if on_server else PersistentCacheOnFiles()
        return self._cache

    def _load(self):
        kept = self._found().get(self._CATEGORY, _machine())
        return _core.load_timings(kept) if kept else 0

    def _store(self):
        self._tried("read", self._load)  # others may have saved theirs meanwhile
        self._found().put(self._CATEGORY, _machine(), _core.store_timings())
        return True

    def _tried(self, what, call):
        """The result of `call`; None, and a warning in the log, where it fails."""
        try:
            return call()
        except (OSError, ImportError, ValueError, RuntimeError) as error:
            get_logger().warning("persistent cache: times of kernels were not %s: %s", what, error)
            return None


@functools.cache
def get_manager():
    """The PersistentCacheManager of this process.

    >>> from tessera.utils.persistent_cache import get_manager
    >>> get_manager() is get_manager()
    True
    """
    return PersistentCacheManager()


def _machine():
    """The kind of processor, whose kernels take the same times."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip().encode()
    return platform.machine().encode()
