"""The package's log: on the terminal, from level INFO on, and in a file where one is set.

Loggers are those of Python's `logging`, so every thread may use them. A message names its level and
its logger; on a terminal the level is coloured, unless the environment has NO_COLOR
(https://no-color.org).

>>> import tessera as ts
>>> ts.logger.get_logger("part").name
'tessera.part'
"""

import logging
import os
import sys
import threading

from ._listed import listed as _listed

__all__ = ["enable_debug_log", "get_logger", "set_log_file", "set_log_level"]

__dir__ = _listed(*__all__)

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_COLORS = {"DEBUG": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}  # of ECMA-48
_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

_root = logging.getLogger("tessera")
_lock = threading.Lock()  # of levels and the file; handlers have locks of their own
_file = None  # the handler of set_log_file


class _Colored(logging.Formatter):
    """The package's format, the level in colour."""

    def formatMessage(self, record):  # noqa: N802
        """Colours the level of this message only: other handlers see the same record."""
        code = _COLORS.get(record.levelname)
        if code is None:
            return super().formatMessage(record)
        fields = {**vars(record), "levelname": f"\x1b[{code}m{record.levelname}\x1b[0m"}
        return _FORMAT % fields


class _Terminal(logging.StreamHandler):
    """Writes to what sys.stderr is when a message comes, coloured where that is a terminal."""

    def __init__(self):
        logging.Handler.__init__(self)  # that of StreamHandler would set the stream
        self._plain, self._colored = logging.Formatter(_FORMAT), _Colored(_FORMAT)

    @property
    def stream(self):
        """sys.stderr, which a program may have replaced."""
        return sys.stderr

    def format(self, record):
        """The message as a line."""
        is_terminal = getattr(self.stream, "isatty", bool)() and not os.environ.get("NO_COLOR")
        return (self._colored if is_terminal else self._plain).format(record)


def get_logger(name=None):
    """A logger below "tessera", or "tessera" itself without a name, with the package's format.

    >>> import tessera as ts
    >>> ts.get_logger().name, ts.get_logger("part").name, ts.get_logger("tessera.part").name
    ('tessera', 'tessera.part', 'tessera.part')
    """
    if name is None or name == "tessera":
        return _root
    return logging.getLogger(name if name.startswith("tessera.") else f"tessera.{name}")


def set_log_level(level, update_existing=True):
    """What is logged from now on, by all of the package's loggers; returns the old level.

    `level` is "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL" or a number of `logging`. Without
    `update_existing` loggers that were asked for before keep theirs. ValueError: level must be one
    of these.

    >>> import tessera as ts
    >>> old = ts.set_log_level("INFO")
    >>> ts.set_log_level(old)
    20
    """
    number = _LEVELS.index(level) * 10 + 10 if level in _LEVELS else level
    if type(number) is not int or number < 0:
        raise ValueError(
            f"set_log_level: level must be one of {_LEVELS} or a number from 0 on, got {level!r}"
        )
    with _lock:
        for name, logger in list(logging.Logger.manager.loggerDict.items()):
            if name.startswith("tessera.") and isinstance(logger, logging.Logger):
                kept = logging.NOTSET if update_existing else logger.getEffectiveLevel()
                logger.setLevel(kept)
        old = _root.level
        _root.setLevel(number)
    return old


def set_log_file(fout, mode="a"):
    """Writes the log to a file, too; the one set before gets no more. None for `fout` ends it.

    `fout` is a path, which is opened with `mode`, or an object with `write` and `flush`, which
    stays open. TypeError: fout must be one of these. OSError: a path must be writable.

    >>> import tessera as ts
    >>> import io
    >>> file = io.StringIO()
    >>> ts.set_log_file(file)
    >>> ts.get_logger("part").error("lost")
    >>> ts.set_log_file(None)
    >>> file.getvalue().endswith("ERROR tessera.part: lost\\n")
    True
    """
    global _file
    handler = None if fout is None else _file_handler(fout, mode)
    with _lock:
        old, _file = _file, handler
        if handler is not None:
            _root.addHandler(handler)
        if old is not None:
            _root.removeHandler(old)
            old.close()


def _file_handler(fout, mode):
    if isinstance(fout, (str, os.PathLike)):
        try:
            handler = logging.FileHandler(fout, mode, encoding="utf-8")
        except OSError as error:
            raise type(error)(
                error.errno, f"set_log_file: file must be writable, got {error.strerror}", str(fout)
            ) from error
    elif callable(getattr(fout, "write", None)) and callable(getattr(fout, "flush", None)):
        handler = logging.StreamHandler(fout)
    else:
        raise TypeError(
            f"set_log_file: fout must be a path or have write and flush, got {type(fout).__name__}"
        )
    handler.setFormatter(logging.Formatter(_FORMAT))
    return handler


def enable_debug_log():
    """Logs everything: `set_log_level("DEBUG")`.

    >>> import tessera as ts
    >>> old = ts.set_log_level("WARNING")
    >>> ts.enable_debug_log()
    >>> ts.set_log_level(old)
    10
    """
    set_log_level("DEBUG")


_root.setLevel(logging.INFO)  # MegEngine's programs say how far they are by info()
_root.addHandler(_Terminal())
_root.propagate = False
