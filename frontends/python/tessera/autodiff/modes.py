"""Whether gradients are recorded, and in what precision operators compute."""

import threading
from contextlib import ContextDecorator, contextmanager

from .. import _core, _hooks

_thread = threading.local()  # per thread, as recordings are


class no_grad(ContextDecorator):  # noqa: N801
    """Within it, as context or decorator, no gradient is recorded."""

    def __enter__(self):
        _core.no_grad_enter()
        return self

    def __exit__(self, *exc):
        _core.no_grad_exit()


def enter_recording(change):
    """Counts the managers of this thread that record (+1) or stop (-1)."""
    _thread.depth = getattr(_thread, "depth", 0) + change


def is_recording():
    """Some manager of this thread records."""
    return getattr(_thread, "depth", 0) > 0


@contextmanager
def cast_as(state):
    """Operators of this thread are cast as they were when `state` was `_core.autocast()`."""
    before = _core.swap_autocast(state)
    try:
        yield
    finally:
        _core.swap_autocast(before)


@contextmanager
def recording(tensors):
    """A GradState that records operations on `tensors`."""
    state = _core.GradState()
    _hooks.watch(state, tensors)
    state.record()
    enter_recording(1)
    try:
        yield state
    finally:
        enter_recording(-1)
        state.release()
