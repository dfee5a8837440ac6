"""What a trace must know of Python's state, such as modules' modes.

A recording sees tensors and their gradients. That a module was in training mode is decided in
Python: those who read such state tell the trace that is recorded, which then runs the compiled
program only where the state is as it was.
"""

import threading
import weakref


class _State(threading.local):
    current = None  # the Effects of the call that this thread records
    is_plain = False  # whether calls are recorded as those of a module


_state = _State()


class Effects:
    """The Python state that one recorded call read."""

    def __init__(self, runs=True):
        self.runs, self.segments, self.recording = runs, None, False
        self.excluded = False  # the call has parts that no program can hold
        self._modes = {}  # id -> (weak module, training)

    def __enter__(self):
        _state.current = self
        return self

    def __exit__(self, *exc):
        _state.current = None

    def see_module(self, module):
        """A module runs: its training flag decides what is recorded."""
        if id(module) not in self._modes:
            self._modes[id(module)] = (weakref.ref(module), module.training)

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


def is_tracing():
    """A call is being recorded."""
    return _state.current is not None


def is_plain():
    """Traced functions run as the functions that they are of: a call, or calls, are recorded."""
    return _state.is_plain or _state.current is not None


def set_plain(value):
    """Sets that; returns what it was."""
    before, _state.is_plain = _state.is_plain, value
    return before


def current():
    """The Effects of the call that is being recorded, or None."""
    return _state.current


def set_current(seen):
    """The call `seen` is being recorded from here on; None: no call."""
    _state.current = seen
