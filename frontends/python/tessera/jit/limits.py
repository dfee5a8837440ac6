"""What traces keep of recorded calls, in bytes: the least recently used go."""

import threading
import weakref
from collections import OrderedDict

_DEFAULT = 1 << 30

_limit = _DEFAULT
_kept = OrderedDict()  # id of a call -> (bytes, weak call, weak trace, key)
_held = 0
_lock = threading.RLock()  # calls that die take it again


def limit():
    """The most bytes that traces may keep."""
    return _limit


def held():
    """Bytes that they keep."""
    return _held


def set_limit(max_bytes):
    """Evicts when more is kept."""
    global _limit
    if max_bytes < 0:
        raise ValueError(f"set_trace_limit: bytes must be at least 0, got {max_bytes}")
    _limit = max_bytes
    with _lock:
        _evict(None)


def use(call):
    """`call` runs."""
    with _lock:
        if id(call) in _kept:
            _kept.move_to_end(id(call))


def keep(call, owner, key):
    """`call` of the trace `owner` is new, or has its program now."""
    global _held
    number, size = id(call), call.held_bytes()
    with _lock:
        _forget(number)
        _held += size
        gone = weakref.ref(call, lambda _: _forget(number))
        _kept[number] = size, gone, weakref.ref(owner), key
        _evict(number)


def recount(call):
    """`call` has another size."""
    with _lock:
        if id(call) in _kept:
            _, _, owner, key = _kept[id(call)]
            if owner() is not None:
                keep(call, owner(), key)


def _forget(number):
    global _held
    with _lock:
        if number in _kept:
            _held -= _kept.pop(number)[0]


def _evict(latest):
    """The latest call stays, whatever its size."""
    for number in list(_kept):
        if _held <= _limit or number == latest:
            return
        _, call, owner, key = _kept[number]
        call, owner = call(), owner()
        _forget(number)
        if call is not None and owner is not None:
            owner._evict(key, call)
