"""What a trace must know of Python's state, such as modules' modes.

A recording sees tensors and their gradients. That a module was in training mode is decided in
Python: those who read such state tell the trace that is recorded, which then runs the compiled
program only where the state is as it was.
"""

import threading
import weakref


class _State(threading.local):
    current = None  # the Effects of the call that this thread records


_state = _State()
_compared = []  # what `compared_by_attributes` decorates


class Effects:
    """The Python state that one recorded call read."""

    def __init__(self, runs=True, state=None):
        self.runs, self.segments, self.recording = runs, None, False
        self.state = state  # notes Python state that the call may read; None: nothing is noted
        self.excluded = False  # the call has parts that no program can hold
        self._modes = {}  # id -> (weak module, training)

    def __enter__(self):
        _state.current = self
        return self

    def __exit__(self, *exc):
        _state.current = None

    def see_module(self, module):
        """A module runs: its training flag and settings decide what is recorded."""
        if id(module) not in self._modes:
            self._modes[id(module)] = (weakref.ref(module), module.training)
            if self.state is not None:
                self.state.see_module(module)

    def see_attributes(self, value):
        """The attributes of an object decide what is recorded."""
        if self.state is not None:
            self.state.see_attributes(type(value).__name__, value)

    def see_setting(self, name, settings, key):
        """The value of `key` in a dict, that of a `name`, decides what is recorded."""
        if self.state is not None:
            self.state.see_setting(name, settings, key)

    def name_tensors(self):
        """Tensors of the modules that ran are called by their paths from the outermost, where they
        have no name yet.
        """
        found = (weak() for weak, _ in self._modes.values())
        modules = [module for module in found if module is not None]  # the outermost ran first
        if not any(module._has_unnamed() for module in modules):
            return
        named = set()
        for module in modules:
            if id(module) not in named:
                module._name_tensors(named)

    def lines(self):
        """The modes that the call read, in words: equal for equal effects."""
        for number, (ref, training) in enumerate(self._modes.values()):
            yield f"module {number}: {type(ref()).__name__}, training={training}"


def compared_by_attributes(cls):
    """Decorates a class of the package whose objects a trace compares by their attributes, as it
    does those of users' classes; other objects of the package it compares by identity.
    """
    _compared.append(cls)
    return cls


def is_compared_by_attributes(value):
    """Whether the class of `value` is decorated so, or one that it derives from."""
    return isinstance(value, tuple(_compared))


def is_tracing():
    """A call is being recorded."""
    return _state.current is not None


def current():
    """The Effects of the call that is being recorded, or None."""
    return _state.current


def set_current(seen):
    """The call `seen` is being recorded from here on; None: no call."""
    _state.current = seen
