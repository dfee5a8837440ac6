"""Public names of functions and classes, by which files refer to them.

A name is looked up among what the package, or a registration, gives; nothing is imported for it.
"""

import functools
import types

import numpy as np

from .. import _core, functional, random
from .._custom.registry import operator_of, row_of
from ..module import Module
from ..tensor import Parameter, Tensor
from .compat import BUILTIN, FUNCTION, MODULE, PLAIN, TYPE, WRAPPED
from .functions import (
    DRAWING,
    is_of_quantization,
    package_modules,
    quantization_modules,
    recorded,
    registered_modules,
    wrapped,
)
from .operators import BINARY, SUBSCRIPTS, UNARY
from .pytree import registered_types

_PACKAGE = "tessera."
_BROUGHT = "ops:"  # before the names of operators that users bring
_NUMBERS = ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
QUANT_MODE = "quantization.QuantMode"
DEFAULT_RNG = "random.default_rng"  # the generator behind the functions of the package
TRACED = "traced_module.TracedModule"  # a class that whoever reads and writes knows


@functools.cache
def _functions():
    """Functions by name: that of their module and their own, and those that they are found by."""
    found = {}
    for each in recorded():
        if each in DRAWING:
            found[f"random.RNG.{each.__name__}"] = each
        elif each not in wrapped() and not each.__name__.startswith("_"):
            found[f"{each.__module__}.{each.__name__}".removeprefix(_PACKAGE)] = each
    for name, each in vars(_core.ops).items():
        if isinstance(each, type(_core.ops.relu)):
            usual = f"{each.__module__}.{each.__name__}".removeprefix(_PACKAGE)
            found[f"ops.{name}" if usual in found else usual] = each
    spaces = {"functional": functional, "random": random}
    for name, part in vars(functional).items():
        if isinstance(part, types.ModuleType) and not name.startswith("_"):
            spaces[f"functional.{name}"] = part
    known = set(found.values())
    for space, part in spaces.items():
        for name in getattr(part, "__all__", ()):
            function = getattr(part, name)
            if callable(function) and function in known:
                found.setdefault(f"{space}.{name}", function)
    return found


@functools.cache
def _function_names():
    return {function: name for name, function in reversed(_functions().items())}


@functools.cache
def _modules():
    found = dict(package_modules())
    found.pop("module.Module")
    return found


@functools.cache
def _plain():
    """Classes that stand for themselves."""
    found = {kind.__name__: kind for kind in (bool, int, float, complex, str, Tensor, Parameter)}
    found.update((f"numpy.{name}", getattr(np, name)) for name in _NUMBERS)
    return {**found, "random.RNG": random.RNG, DEFAULT_RNG: random.default_rng}


@functools.cache
def _names(table):
    return {value: name for name, value in reversed(table().items())}


def qualified(value):
    """The name of a user's function or class."""
    return f"{value.__module__}:{value.__qualname__}"


def name_of(value):
    """(kind, name) of a function or a class; None: nothing knows it."""
    is_class = isinstance(value, type)
    if not is_class and value in _function_names():
        return FUNCTION, _function_names()[value]
    if not is_class and (brought := operator_of(value)):
        return FUNCTION, f"{_BROUGHT}{brought}"
    if not is_class and value in wrapped():
        return WRAPPED, qualified(value)
    if is_class and issubclass(value, Module):
        if value in _names(_modules):
            return MODULE, _names(_modules)[value]
        if is_of_quantization(value):
            return MODULE, _names(quantization_modules)[value]
        return (BUILTIN, qualified(value)) if value in registered_modules() else None
    if is_class and value in _names(_plain):
        return PLAIN, _names(_plain)[value]
    return (TYPE, qualified(value)) if is_class and value in registered_types() else None


_TABLES = {FUNCTION: _functions, MODULE: _modules, PLAIN: _plain}
_REGISTERED = {WRAPPED: wrapped, BUILTIN: registered_modules, TYPE: registered_types}
_ADVICE = {WRAPPED: "wrap the function", BUILTIN: "register the class by register_as_builtin",
           TYPE: "register the class by register_supported_type"}  # fmt: skip


def find(kind, name):
    """The function or class of a name; None: the package has none of that name.

    ValueError: a user's one must be registered in this process.
    """
    if (kind, name) == (PLAIN, QUANT_MODE):
        from ..quantization.utils import QuantMode  # few need it

        return QuantMode
    if kind == FUNCTION and name.startswith(_BROUGHT):
        row = row_of(name.removeprefix(_BROUGHT))
        if row is None:
            raise ValueError(
                f"load: the library must be loaded that has an operator which a file names, got "
                f"{name.removeprefix(_BROUGHT)!r}"
            )
        return row["function"]
    if kind == MODULE and name.startswith("quantization."):
        return quantization_modules().get(name)
    if kind in _TABLES:
        return _TABLES[kind]().get(name)
    found = [each for each in _REGISTERED[kind]() if qualified(each) == name]
    if not found:
        raise ValueError(
            f"load: functions and classes of users must be registered before a file that names "
            f"them is loaded, got {name!r} ({_ADVICE[kind]})"
        )
    return found[-1]


def is_method(name):
    """Whether a call of the method may be saved: public methods of tensors, and operators."""
    if name in BINARY or name in UNARY or name in SUBSCRIPTS or name == "_reset":
        return True
    return not name.startswith("_") and callable(getattr(Tensor, name, None))


def is_attribute(name):
    """Whether a tensor has a public attribute of that name."""
    return not name.startswith("_") and name.isidentifier() and hasattr(Tensor, name)
