"""Stand-ins for modules while they are recorded.

One is an object of a class below the module's own, with the module's own dict: methods of the user
get it as `self`, and what they read of it is told. Nothing of the module itself changes.
"""

from ..module import Module
from . import _current

_RAW = frozenset(("name", "__dict__", "__class__"))


class View:
    """Mixed into the class of each stand-in."""

    __slots__ = ()

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        found = _current.recorder()
        if found is None or found.is_muted or name.startswith("__") or name in _RAW:
            return value
        return found.read(self, name, value)

    def __setattr__(self, name, value):
        found = _current.recorder()
        if found is None or found.is_muted or name.startswith("__"):
            super().__setattr__(name, value)
        else:
            found.write(self, name, value)


def view_of(module):
    """A stand-in for `module`."""
    kind = type(module)
    members = {"__slots__": ("_viewed",), "__module__": kind.__module__,
               "__qualname__": kind.__qualname__}  # fmt: skip
    made = type(kind)(kind.__name__, (View, kind), members)
    view = object.__new__(made)
    object.__setattr__(view, "__dict__", vars(module))
    object.__setattr__(view, "_viewed", module)
    return view


def module_of(value):
    """The module that a stand-in, or a module, is."""
    if isinstance(value, View):
        return object.__getattribute__(value, "_viewed")
    return value if isinstance(value, Module) else None


class _Container:
    """Mixed into the containers of tensors and modules that an attribute gives while it is
    recorded: a new item is told, any other change is refused.
    """

    def place(self, module, path):
        """Notes that it stands at `path` of `module`; returns the container."""
        self._module, self._path = module, path
        return self

    def __setitem__(self, key, item):
        found = _current.recorder()
        if found is not None and not found.is_muted:
            found.write_item(self._module, self._path, self._known_key(key), item)
        super().__setitem__(key, item)

    def _known_key(self, key):
        if isinstance(key, slice) or (isinstance(self, dict) and key not in self):
            _refuse(self)
        return range(len(self))[key] if isinstance(self, list) else key


class ListView(_Container, list):
    """A list."""


class DictView(_Container, dict):
    """A dict."""


def _refuse(container):
    found = _current.recorder()
    if found is not None and not found.is_muted:
        found.refuse_change(f"{type(container._module).__name__}.{container._path}")


def _refused(name):
    def _method(self, *args, **kwargs):
        _refuse(self)
        return getattr(super(_Container, self), name)(*args, **kwargs)

    _method.__name__ = name
    return _method


for _kind, _names in (
    (ListView, ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
                "__delitem__", "__iadd__", "__imul__")),
    (DictView, ("clear", "pop", "popitem", "setdefault", "update", "__delitem__", "__ior__")),
):  # fmt: skip
    for _name in _names:
        setattr(_kind, _name, _refused(_name))
