"""Python state that a traced function changes: its program will not change it again."""

import dis
import linecache
import os
import types

import numpy as np

from ..module import Module
from ..tensor import Tensor

_PLAIN = (int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, dict, set, tuple)
_OWN = __package__.split(".")[0] + "."
_MAX_ARRAY = 4096  # bytes; larger ones are told apart by identity


class PythonState:
    """What a function reaches by name: variables outside of it, attributes of objects among them
    and of modules below those. Numbers and text by value, containers by size, tensors by identity.
    """

    def __init__(self, function, leaves=()):
        self._function = function
        self._arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
        self._bytes = [array.tobytes() for array in self._arrays]
        self._before = self._look()[1]

    def changes(self):
        """One line for each change since: the user's line that makes it, and the two values."""
        functions, after = self._look()
        lines = []
        for path in sorted(self._before.keys() | after.keys()):
            old, new = self._before.get(path, ("nothing",)), after.get(path, ("nothing",))
            if old != new:
                name = path.rsplit(".", 1)[-1]
                lines.append(f"{_place(functions, name)}{path} was {old[0]}, is {new[0]}")
        for array, before in zip(self._arrays, self._bytes, strict=True):
            if array.tobytes() != before:
                lines.append(f"an array argument {array.dtype}{list(array.shape)} was written")
        return lines

    def _look(self):
        """The functions that run, and (text, identity) for each name that they reach."""
        functions, found, waiting = [], {}, [self._function]
        while waiting:
            function = waiting.pop()
            if isinstance(function, types.MethodType):
                _look_into("self", function.__self__, functions, found)
                function = function.__func__
            elif not isinstance(function, types.FunctionType):  # an object that can be called
                _look_into("self", function, functions, found)
            if not isinstance(function, types.FunctionType) or function in functions:
                continue
            functions.append(function)
            for name, value in _outside(function):
                if isinstance(value, (types.FunctionType, types.MethodType)):
                    if value.__module__ == function.__module__:
                        waiting.append(value)
                elif _summary(value):
                    found[name] = _summary(value)
                else:
                    _look_into(name, value, functions, found)
        return functions, found


def _look_into(path, value, functions, found):
    """Attributes of an object."""
    if isinstance(value, (type, types.ModuleType)) or not hasattr(value, "__dict__"):
        return
    if type(value).__module__.startswith(_OWN) and not isinstance(value, Module):
        return  # managers and optimizers keep their state in tensors
    modules = value.named_modules() if isinstance(value, Module) else [("", value)]
    for below, each in modules:
        functions += [
            member
            for name, member in vars(type(each)).items()
            if isinstance(member, types.FunctionType) and name != "__init__"
        ]
        for name, item in vars(each).items():
            if _summary(item):
                found[".".join(filter(None, (path, below, name)))] = _summary(item)


def _outside(function):
    """Variables of enclosing functions and of the module."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for each in _codes(code):
        for name in each.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]


def _codes(code):
    """The code and the code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _summary(value):
    """(text, identity) of a value that counts as state, else None."""
    if isinstance(value, _PLAIN):
        return (repr(value),)
    if isinstance(value, _CONTAINERS):
        return (f"a {type(value).__name__} of {len(value)}",)
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype}{list(value.shape)}", id(value)
    if isinstance(value, np.ndarray):
        content = value.tobytes() if value.nbytes <= _MAX_ARRAY else id(value)
        return f"an array {value.dtype}{list(value.shape)}", content
    return None


def _place(functions, name):
    """ "train.py:12: count += 1: ", where `name` is assigned or else used."""
    best = None
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
