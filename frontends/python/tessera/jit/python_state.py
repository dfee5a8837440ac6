"""Python state that decides what a traced function records: settings, modes, who a parameter is.

What a function reaches by name is looked at before it runs, modules when they run, settings of
optimizers when they are read. A recording holds as long as all that is as it was, but for what the
function itself changes: its program will not change that again, which is told.
"""

import functools
import types
import weakref

import numpy as np

from .. import _core, effects
from ..tensor import Tensor
from . import reached

_LEAVES = (int, float, complex, str, bytes, type(None), Tensor, type, types.ModuleType,
           types.BuiltinFunctionType, np.generic, weakref.ref)  # fmt: skip
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_MAX_ARRAY = 4096  # bytes; a larger array is compared by identity
_MAX_ITEMS = 1024  # of a container; a larger one is compared by identity
_MAX_NODES = 1 << 14  # limit of nodes for one function; values beyond it are compared by identity


class PythonState:
    """Plain values by type and bits, other objects by identity and by what their attributes are.

    `nodes` are (container, names, values, whether it has no other names): see _core.holds_state.
    """

    def __init__(self, function, leaves=()):
        self.nodes, self._paths, self._seen, self._functions = [], [], {}, []
        self._owners = []  # of each node: (id of the value, whether its names are attributes)
        self._edges = []  # (id of a value or None, the attribute or None, id of what it reaches)
        arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]
        self._arrays = [(array, array.tobytes()) for array in arrays]
        self._see_function("self", function, None)

    def see(self, path, value, owner=None, attribute=None):
        """The function may read `value`, called `path`, and what is below it: through `owner`, by
        an attribute's name where that is how.
        """
        if isinstance(value, _LEAVES):
            return
        self._edges.append((owner, attribute, id(value)))
        if id(value) in self._seen or len(self.nodes) > _MAX_NODES:
            return
        self._seen[id(value)] = value  # keeps the value alive, so that its id stays its own
        if isinstance(value, _FUNCTIONS):
            self._see_function(path, value, id(value))
        elif isinstance(value, (tuple, list, set, np.ndarray)):
            self._see_sequence(path, value)
        elif isinstance(value, dict):
            if len(value) <= _MAX_ITEMS:
                self._see_named(path, value, tuple(value), id(value))
        elif effects.is_compared_by_attributes(value) or reached.is_users(type(value)):
            self.see_attributes(path, value)
        elif hasattr(value, "__wrapped__"):  # another trace
            self.see(path, value.__wrapped__, id(value))

    def see_module(self, module):
        """The module runs."""
        self._edges.append((None, None, id(module)))
        if id(module) not in self._seen:
            name = type(module).__name__
            count = sum(type(each) is type(module) for each in self._seen.values())
            self.see(f"{name}#{count}" if count else name, module)

    def see_attributes(self, path, value):
        """The function may read any attribute of the object."""
        if id(value) not in self._seen:  # a module is known already
            self._edges.append((None, None, id(value)))
        for function in reached.methods(type(value)):
            self.see(path, function, id(value), function.__name__)
        members = getattr(value, "__dict__", {})
        self._see_named(path, members, tuple(members), id(value), attributes=True)

    def see_setting(self, path, settings, key):
        """The function reads the setting `key` of the dict."""
        if (id(settings), key) not in self._seen:
            self._seen[id(settings), key] = settings
            self._edges.append((None, None, id(settings)))
            self._see_named(path, settings, (key,), id(settings), False)

    def _see_function(self, path, function, owner):
        """Variables around a function, and functions that it calls by name."""
        while isinstance(function, functools.partial):
            self._see_items(path, (*function.args, *function.keywords.values()), owner)
            function = function.func
        if isinstance(function, types.MethodType):
            self.see("self", function.__self__, owner)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            self.see(path, function, owner)
        elif reached.is_users(function):
            self._functions.append(function)
            defaults = function.__defaults__ or (), (function.__kwdefaults__ or {}).values()
            self._see_items(path, (*defaults[0], *defaults[1]), owner)
            self._see_variables(function, owner)

    def _see_variables(self, function, owner):
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            value = reached.content(cell)
            if value is not cell:  # the cell has content
                self._add(name, (cell, None, (value,), True), (owner, False))
                self.see(name, value, owner)
        present = function.__globals__
        names = [name for name in reached.global_names(function.__code__) if name in present]
        self._see_named("", present, tuple(names), owner, False)

    def _see_sequence(self, path, value):
        owner = id(value), False
        if isinstance(value, np.ndarray):
            if value.nbytes <= _MAX_ARRAY:
                self._add(path, (value, None, (value.tobytes(),), True), owner)
        elif len(value) <= _MAX_ITEMS:
            if isinstance(value, list):
                self._add(path, (value, None, tuple(value), True), owner)
            elif isinstance(value, set):
                self._add(path, (value, None, (frozenset(value),), True), owner)
            self._see_items(path, value, id(value))

    def _see_items(self, path, items, owner):
        for number, item in enumerate(items):
            self.see(f"{path}[{number}]", item, owner)

    def _see_named(self, path, members, names, owner, is_whole=True, attributes=False):
        values = tuple([members[name] for name in names])
        self._add(path, (members, names, values, is_whole), (owner, attributes))
        for name, value in zip(names, values, strict=True):
            if not isinstance(value, _LEAVES):
                self.see(reached.below(path, name), value, owner, name if attributes else None)

    def _add(self, path, node, owner):
        self.nodes.append(node)
        self._paths.append(path)
        self._owners.append(owner)

    def keep_read(self, names):
        """Of the attributes only those count that the code which ran names, and what they reach;
        `names` is None where that is not known.
        """
        if names is None:
            return
        met, kept = reached.closure(self._edges, names), []
        for path, node, (owner, attributes) in zip(
            self._paths, self.nodes, self._owners, strict=True
        ):
            if owner is None or owner in met:
                kept.append((path, reached.only(node, names) if attributes else node))
        self._paths, self.nodes = [path for path, _ in kept], [node for _, node in kept]

    def changes(self):
        """(path, old, new) for what is not, in words."""
        return [
            change
            for path, node in zip(self._paths, self.nodes, strict=True)
            if not _core.holds_state([node])
            for change in reached.differences(path, node)
        ]

    def forget_changes(self):
        """What is not as it was counts no more. One line for each that is a value: the user's line
        that makes it, and the two values.
        """
        lines = [f"an array argument {array.dtype}{list(array.shape)} was written"
                 for array, before in self._arrays if array.tobytes() != before]  # fmt: skip
        changes = self.changes()
        functions = self._functions_met() if changes else []
        for path, old, new in changes:
            if old or new:
                old, new = (each or "another object" for each in (old, new))
                lines.append(f"{reached.place(functions, path)}{path} was {old}, is {new}")
        self.ignore({path for path, _, _ in changes})
        self._arrays, self._seen, self._functions = [], {}, []
        self._owners, self._edges = [], []
        return sorted(set(lines))

    def ignore(self, gone):
        """What is called so counts no more."""
        if not gone:
            return
        nodes = zip(self._paths, self.nodes, strict=True)
        kept = [(path, reached.without(path, node, gone)) for path, node in nodes]
        self._paths = [path for path, node in kept if node is not None]
        self.nodes = [node for _, node in kept if node is not None]

    def _functions_met(self):
        """Functions that may have run: those called by name, methods of the objects met."""
        kinds = {type(value) for value in self._seen.values()}
        return [*self._functions, *(each for kind in kinds for each in reached.methods(kind))]
