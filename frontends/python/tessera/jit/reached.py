"""What functions and objects reach by name, and how a node of python_state.py differs from it."""

import dis
import functools
import linecache
import os
import sys
import types

import numpy as np

from .. import _core
from ..tensor import Tensor

_PLAIN = (int, float, complex, str, bytes, type(None))
_NOTHING = object()
_BY_NAME = frozenset(("__dict__", "getattr", "setattr", "hasattr", "vars"))
_LIBRARIES = frozenset((*sys.stdlib_module_names, "numpy", __package__.split(".")[0]))


def is_users(thing):
    """A function or class of the user's."""
    return str(thing.__module__).split(".")[0] not in _LIBRARIES or thing.__module__ == "__main__"


def content(cell):
    """Of a variable of an enclosing function; the cell itself when it has none yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


@functools.lru_cache(maxsize=1024)
def global_names(code):
    """Variables of the module that the code reads, and the code within it."""
    steps = (step for each in _codes(code) for step in dis.get_instructions(each))
    return tuple(dict.fromkeys(step.argval for step in steps if step.opname == "LOAD_GLOBAL"))


@functools.lru_cache(maxsize=256)
def methods(kind):
    """The functions of a class of the user's and of its bases."""
    bases = [base for base in kind.__mro__ if is_users(base)]
    members = (member for base in bases for member in vars(base).items())
    return [
        each
        for name, each in members
        if isinstance(each, types.FunctionType) and name != "__init__"
    ]


def _codes(code):
    """The code and the code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


class CodeMet:
    """Which Python code runs on this thread meanwhile."""

    def __enter__(self):
        self._codes, self._asks_names = set(), False
        self._is_free = sys.getprofile() is None
        if self._is_free:
            sys.setprofile(self._note)
        return self

    def __exit__(self, *exc):
        if self._is_free:
            sys.setprofile(None)

    def _note(self, frame, event, _):
        if event == "call" and frame.f_code not in self._codes:
            self._codes.add(frame.f_code)
            module = str(frame.f_globals.get("__name__")).split(".")[0]
            if module not in _LIBRARIES and _BY_NAME.intersection(frame.f_code.co_names):
                self._asks_names = True

    def names(self):
        """Of the attributes that the code may read. None: any, where it makes names of attributes,
        or where a profiler was at work.
        """
        if not self._is_free or self._asks_names:
            return None
        codes = [each for code in self._codes for each in _codes(code)]
        texts = (text for code in codes for text in code.co_consts if isinstance(text, str))
        return {*texts, *(name for code in codes for name in code.co_names)}


def closure(edges, names):
    """Ids of what the roots reach by attributes of these names, and by no attribute."""
    below_of = {}
    for owner, attribute, reached in edges:
        if attribute is None or attribute in names:
            below_of.setdefault(owner, []).append(reached)
    met, left = {None}, [None]
    while left:
        new = {*below_of.get(left.pop(), ())} - met
        met |= new
        left += new
    return met


def only(node, names):
    """The node with these of its names."""
    container, all_names, values, is_whole = node
    kept = [pair for pair in zip(all_names, values, strict=True) if pair[0] in names]
    is_whole = is_whole and len(kept) == len(all_names)
    return container, tuple([name for name, _ in kept]), tuple([v for _, v in kept]), is_whole


def below(path, name):
    """The path of a member."""
    return f"{path}.{name}" if path else str(name)


def differences(path, node):
    """(path, old, new) for each value of the node that is not as it was."""
    container, names, values, is_whole = node
    if names is None:
        if not _core.holds_state([node]):
            yield path, *_ends(container, values)
        return
    for name, old in zip(names, values, strict=True):
        new = container.get(name, _NOTHING)
        if not _core.same_value(old, new):
            yield below(path, name), _summary(old), _summary(new)
    for name in container.keys() - set(names) if is_whole else ():
        yield below(path, name), "nothing", _summary(container[name])


def _ends(container, values):
    if isinstance(container, types.CellType):
        return _summary(values[0]), _summary(content(container))
    if isinstance(container, np.ndarray):
        return _summary(container), _summary(container)
    old = values if isinstance(container, list) else values[0]
    return f"a {type(container).__name__} of {len(old)}", _summary(container)


def without(path, node, gone):
    """The part of the node that is not called as those in `gone`, or None."""
    container, names, values, is_whole = node
    if names is None:
        return None if path in gone else node
    kept = [pair for pair in zip(names, values, strict=True) if below(path, pair[0]) not in gone]
    names, values = tuple([name for name, _ in kept]), tuple([value for _, value in kept])
    is_whole = is_whole and not any(each.rpartition(".")[0] == path for each in gone)
    return container, names, values, is_whole


def _summary(value):
    """A value in words; "" for what is no value."""
    if value is _NOTHING:
        return "nothing"
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (list, dict, set, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype}{list(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    return ""


def place(functions, path):
    """ "train.py:12: count += 1: ", where the name that ends `path` is assigned or else used."""
    name, best = path.rpartition(".")[2].split("[")[0], None
    for function in functions:
        for code in _codes(function.__code__):
            for step in dis.get_instructions(code):
                if step.argval != name or step.positions is None:
                    continue
                stores = step.opname.startswith("STORE")
                if best is None or stores > best[0]:
                    best = stores, code.co_filename, step.positions.lineno
    if best is None:
        return ""
    _, file, line = best
    return f"{os.path.basename(file)}:{line}: {linecache.getline(file, line).strip()}: "
