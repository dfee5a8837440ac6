"""Operators that users brought: `ops.<library>.<name>`.

`load_library`, `load_records` and `custom_op` bring them.

>>> import tessera as ts
>>> sorted(name for name in dir(ts.ops) if name == "nobody")
[]
"""

from ._custom.registry import namespaces as _namespaces


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return _namespaces()[name]
    except KeyError:
        raise AttributeError(f"ops: a library must be loaded, got {name!r}") from None


def __dir__():
    return sorted(_namespaces())
