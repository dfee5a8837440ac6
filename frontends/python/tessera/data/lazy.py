"""Names of a package that live in a part of it, which is imported when one of them is asked for."""

import importlib


def from_part(package, part, names, kind):
    """The `__getattr__` of `package` for `part`, a module in it, and for `names` of that module.

    Any other name is an AttributeError that says it must be that of a `kind`.
    """

    def _find(name):
        if name != part and name not in names:
            raise AttributeError(
                f"{package.rpartition('.')[2]}: name must be that of a {kind}, got {name!r}"
            )
        module = importlib.import_module(f".{part}", package)
        return module if name == part else getattr(module, name)

    return _find
