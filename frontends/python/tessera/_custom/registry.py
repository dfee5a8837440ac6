"""All operators that libraries and Python functions brought, by name."""

import copyreg
import os
import threading

from .. import _core
from .calls import CustomOperator, callable_of

_lock = threading.Lock()
_namespaces = {}  # name of a library: Namespace
_rows = {}  # "library::name": facts of the operator


class Namespace:
    """The operators of one library, as attributes of the object, which Python asks first."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        known = ", ".join(dir(self)) or "none"
        message = f"ops.{self.__name__}: operator must be among {known}, got {name!r}"
        raise AttributeError(message)

    def __dir__(self):
        return sorted(vars(self).keys() - {"__name__"})

    def __repr__(self):
        return f"<tessera.ops.{self.__name__}: {', '.join(dir(self))}>"


def namespaces():
    """The libraries that are there: {name: Namespace}."""
    return dict(_namespaces)


def rows():
    """Facts of all operators."""
    return list(_rows.values())


def row_of(name):
    """Facts of the operator "library::name"; None where there is none."""
    return _rows.get(name)


def operator_of(function):
    """The name "library::name" of an operator's function; None where it is no such function."""
    library = getattr(function, "__module__", None) or ""
    name = f"{library.rpartition('.')[2]}::{getattr(function, '__name__', '')}"
    row = row_of(name)
    return name if row and row["function"] is function else None


def add(rows):
    """Shows operators, given as `_core` describes them. Returns their callables, in this order."""
    made = []
    with _lock:
        for row in rows:
            library, _, name = row["name"].partition("::")
            namespace = _namespaces.setdefault(library, Namespace(library))
            if row["name"] not in _rows:
                setattr(namespace, name, callable_of(row))
                _rows[row["name"]] = row
            made.append(getattr(namespace, name))
    return made


def load_library(path):
    """Loads a library of operators, which `tessera.ops` has from then on.

    A library is a shared object that was built from `tessera/custom_op.h`. It stays loaded to the
    end of the process; loading it again gives what is there.

    Args:
        path: its file.

    Returns:
        The Namespace of its operators: `ops.<library>`.

    Raises:
        FileNotFoundError: it cannot be opened, or is no library of operators.
        NotImplementedError: it was built for another version of the border.
        ValueError: an operator says what is not allowed, or has the name of another one.

    >>> import tessera as ts
    >>> try:
    ...     ts.load_library("nobody.so")
    ... except FileNotFoundError as error:
    ...     print(error)
    load_library: a library must be a file, got 'nobody.so'
    """
    rows = _core.load_library(os.fspath(path))
    add(rows)
    return _namespaces[rows[0]["library"]] if rows else Namespace(os.fspath(path))


def _found(name):
    library, _, operator = name.partition("::")
    if row_of(name) is None:
        raise LookupError(f"ops: the library must be loaded that has it, got {name!r}")
    return getattr(_namespaces[library], operator)


copyreg.pickle(CustomOperator, lambda operator: (_found, (operator.name,)))
