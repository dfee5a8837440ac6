"""Public names of functions and classes, for Python that people read."""

import builtins
import sys

PACKAGE = sys.modules[__package__.partition(".")[0]]  # whose names a written module uses
_SHORT = {"tessera": "ts", "tessera.functional": "F", "tessera.module": "M"}


class PublicNames:
    """Global names of a written module: what they are in the package, or in a module to import.

    `taken` are names that its functions use for values of their own.
    """

    def __init__(self, taken=()):
        self._taken = set(taken)
        self.imports = {}  # by the text of the import: the name that it gives

    def alias(self, module, text=None):
        """The name for a module, by default that of the package."""
        text = text or f"import {module} as {_SHORT[module]}"
        if text not in self.imports:
            name = text.rpartition(" ")[2]
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            given = f" as {name}" if " as " in text or name != text.rpartition(" ")[2] else ""
            self.imports[text] = text.partition(" as ")[0] + given, name
        return self.imports[text][1]

    def numpy(self):
        """The name for NumPy."""
        return self.alias("numpy", "import numpy as np")

    def name_of(self, item):
        """The text that stands for a function or a class.

        ValueError: it must have a name that another process can import.
        """
        home, name = getattr(item, "__module__", None) or "", getattr(item, "__qualname__", "")
        name = name or getattr(item, "__name__", "")
        if getattr(builtins, name, None) is item:
            return name
        if home.partition(".")[0] == "tessera":
            return self._of_package(item, home, name)
        if home not in ("", "__main__") and _found(sys.modules.get(home), name.split(".")) is item:
            first = name.partition(".")[0]
            return self.alias(home, f"from {home} import {first}") + name[len(first) :]
        raise ValueError(
            f"to_python: functions and classes must be importable, got {name or item!r} of "
            f"{home or type(item).__name__}"
        )

    def _of_package(self, item, home, name):
        keys = home.split(".")[1:]
        for count in range(len(keys) + 1):
            path = keys[:count]
            if any(key.startswith("_") for key in (*path, name)):
                break
            if _found(PACKAGE, [*path, name]) is item:
                return self._short(path, name)
        raise ValueError(f"to_python: functions must have a public name, got {home}.{name}")

    def _short(self, path, name):
        """The text with the alias of the longest package around it."""
        whole = ["tessera", *path]
        count = max(i for i in range(1, len(whole) + 1) if ".".join(whole[:i]) in _SHORT)
        return ".".join([self.alias(".".join(whole[:count])), *whole[count:], name])

    @property
    def names(self):
        """The names that imports give."""
        return [name for _, name in self.imports.values()]

    def lines(self):
        """The imports, those of modules first."""
        texts = [text for text, _ in self.imports.values()]
        return sorted(texts, key=lambda text: (text.startswith("from"), text))


def _found(value, keys):
    for key in keys:
        value = getattr(value, key, None)
    return value
