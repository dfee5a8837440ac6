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
    if name not in _namespaces():
        raise AttributeError(f"ops: a library must be loaded, got {name!r}")
    return globals().setdefault(name, _namespaces()[name])  # found at once from the next time on


def __dir__():
    return sorted(_namespaces())
