"""The recorder of this thread, if one is at work."""

import threading


class _State(threading.local):
    recorder = None
    refuses_constants = False


_state = _State()


def recorder():
    """The recorder that this thread's calls are told to, or None."""
    return _state.recorder


def set_recorder(value):
    """Makes `value` that of this thread; returns the one before."""
    before, _state.recorder = _state.recorder, value
    return before


def refuses_constants():
    """Whether this thread's traces refuse numbers that are constants."""
    return _state.refuses_constants


def set_refuses_constants(value):
    """Sets it; returns what it was."""
    before, _state.refuses_constants = _state.refuses_constants, value
    return before


def inserting(node, name=None):
    """The recorder of the insert_exprs around, for a call with `node`, or a read of `name` of it.

    RuntimeError, or AttributeError for a read: there must be one.
    """
    found = _state.recorder
    if found is not None and found.is_inserting:
        return found
    if name is not None:
        raise AttributeError(
            f"{type(node).__name__}: name must be an attribute of nodes outside of insert_exprs, "
            f"got {name!r}"
        )
    raise RuntimeError(
        f"{type(node).__name__}: a call with a node must be in insert_exprs, got {node.name} "
        f"outside of it"
    )
