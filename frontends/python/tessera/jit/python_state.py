"""Python state that decides what a traced function records.

While the function is recorded its frames are watched, instruction by instruction: each attribute,
item and variable that they read of what is not made within the call, and each value. The recording
holds as long as all of them are as they were, but for those that the function changes itself: its
program will not change them again, which is told.
"""

import functools
import linecache
import os
import sys
import types

import numpy as np

from .. import _core
from .._tree import flatten
from ..tensor import Tensor
from .frozen import frozen

_PLAIN = (int, float, complex, str, bytes, type(None))
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_NAME = __package__.partition(".")[0]
_WATCHED = tuple(
    os.path.join(_PACKAGE, room, "")
    for room in ("module", "optimizer", "quantization", "distributions", "traced_module")
)
# State of these libraries says nothing of the function.
_MUTED = frozenset(("_frozen_importlib", "abc", "functools", "importlib", "inspect", "linecache",
                    "logging", "re", "threading", "traceback", "typing", "warnings"))  # fmt: skip


def _kind_of(file, module):
    """How the code of the file counts, as a number of _core.CodeKind."""
    kind = _core.CodeKind
    if file.startswith(_PACKAGE):
        return (kind.PACKAGE if file.startswith(_WATCHED) else kind.OURS).value
    root = str(module).partition(".")[0]
    if root == _NAME:  # code that the package made
        return kind.OURS.value
    if root in _MUTED or file.startswith("<frozen importlib"):
        return kind.MUTED.value
    if root == "numpy":
        return kind.OURS.value
    is_library = root in sys.stdlib_module_names and root != "__main__"
    return (kind.LIBRARY if is_library else kind.USERS).value


class PythonState:
    """Reads and changes of Python's state by one call: `with` it around the call.

    `nodes` are the reads as `_core.holds_state` takes them. `changes` of the function are (path,
    old, new, line) in words; `unwatched` are lines that tell what cannot be compared, and
    `why_eager` is one of an iterator from outside that the call advanced, else None.
    """

    def __init__(self, function, args, kwargs):
        is_ours = _is_ours(function)
        self._watched = None if is_ours else _core.WatchedCode(frozen, _kind_of)
        for number, value in enumerate(() if is_ours else (*args, *kwargs.values())):
            self._see_argument(f"argument {number}", value)
        self.nodes, self._reads, self.effects, self.unwatched = [], [], [], []
        self.why_eager = None
        self.reads_effects = False  # whether it reads what it changes
        self.keeps_tensors = False  # whether tensors are what it left there

    def _see_argument(self, path, value):
        """Containers among the arguments: another call brings its own."""
        if isinstance(value, (list, dict, tuple)):
            items = value.values() if isinstance(value, dict) else value
            for number, item in enumerate(items):
                self._see_argument(f"{path}[{number}]", item)
        if isinstance(value, (list, dict, np.ndarray, set, bytearray)):
            self._watched.name(value, path)
            self._watched.note_argument(value)
            self._watched.note_contents(value)

    def __enter__(self):
        if self._watched is not None:
            self._watched.start()
        return self

    def __exit__(self, kind, *_):
        if self._watched is not None:
            self._watched.stop()
            if kind is None:
                self._settle()
        self._watched = None

    def _settle(self):
        for read, path, code, line, is_written, is_silent, is_argument in self._watched.reads():
            if not _core.holds_state([read]):
                new = _core.value_of(read)
                if is_silent:
                    continue
                if is_written and not is_argument and _is_plain(new):
                    read = _core.read_again(read)  # a later call would write no other value
                else:
                    self.effects.append((path, *_ends(read), _place(code, line)))
                    self.reads_effects |= not is_written
                    self.keeps_tensors |= _holds_tensors(new)
                    continue
            if not is_argument:
                self._reads.append((path, read))
        self._group()
        for path, kind, code, line, is_advanced in self._watched.unwatched():
            text = f"{path}, of {kind}, at {_place(code, line)}"
            self.unwatched.append(text)
            if is_advanced:
                self.why_eager = f"it takes elements of {text}"
        if self._watched.is_full():
            self.why_eager = "it reads more of Python's state than is compared"

    def _group(self):
        self.nodes = _core.group_reads([read for _, read in self._reads])

    def changes(self):
        """(path, old, new) for what is not, in words."""
        return [(path, *_ends(read)) for path, read in self._reads if not _core.holds_state([read])]

    def lines(self):
        """One for each effect: the user's line that makes it, and the two values."""
        lines = {}
        for path, old, new, place in self.effects:
            old, new = (each or "another object" for each in (old, new))
            lines.setdefault(path, f"{place}: {path} was {old}, is {new}")
        return sorted(lines.values())

    def ignore(self, gone):
        """Reads that are called so count no more."""
        if gone:
            self._reads = [(path, read) for path, read in self._reads if path not in gone]
            self._group()


def _is_ours(function):
    """Whether a function of the package is traced, which looks at no state that may change."""
    while isinstance(function, functools.partial):
        function = function.func
    is_function = isinstance(function, types.FunctionType)
    return is_function and function.__code__.co_filename.startswith(_PACKAGE)


def _holds_tensors(value):
    return any(isinstance(leaf, Tensor) for leaf in flatten(value)[0])


def _is_plain(value):
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _place(code, line):
    if code is None:
        return "the call"
    file = code.co_filename
    return f"{os.path.basename(file)}:{line}: {linecache.getline(file, line).strip()}"


def _ends(read):
    """The value that was read, and the one that is there now."""
    kind, owner, _, value, _ = read
    if kind == _core.ReadKind.FROZEN.value:
        return f"a {type(owner).__name__}", f"a {type(owner).__name__} with other contents"
    if kind == _core.ReadKind.WHOLE.value:
        old = len(value) // (2 if isinstance(owner, dict) else 1)
        how = " with other elements" if old == len(owner) else ""
        return (
            f"a {type(owner).__name__} of {old}",
            f"a {type(owner).__name__} of {len(owner)}{how}",
        )
    return _summary(value), _summary(_core.value_of(read))


def _summary(value):
    """A value in words; "" for what is no value."""
    if value is _core.NO_VALUE:
        return "nothing"
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (list, dict, set, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype}{list(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    return value.__qualname__ if isinstance(value, (type, types.FunctionType)) else ""
