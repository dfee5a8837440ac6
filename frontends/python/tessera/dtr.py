"""Dynamic tensor rematerialisation (https://arxiv.org/abs/2006.09616), by MegEngine's names.

Where memory is short, eager tensors give up theirs, and operators make them again when they are
read: with the same bits, at the price of time. Those go first that cost little, are large and were
not used for long. `eviction_threshold` is the number of bytes in use on a device from which on
that happens; 0: only when memory runs out (`device.set_memory_limit`). Tensors that no operator
can make again stay: data, what was written in place, as parameters are, results of custom
operators and of traced functions. Costs are estimates and no clock is read, so that a program
drops the same tensors in every run.

AttributeError: only the settings can be set. ValueError: bytes must be at least 0. TypeError: they
must be an int or a text such as "2GB", `enable_sqrt_sampling` a bool.

>>> import tessera as ts
>>> ts.dtr.eviction_threshold = "2GB"
>>> ts.dtr.eviction_threshold
2147483648
>>> ts.dtr.eviction_threshold = 0
"""

import re
import sys
import types

from . import _core
from ._listed import listed as _listed

__all__ = ["disable", "drop", "enable", "stats"]

__dir__ = _listed(*__all__)

_UNITS = {"b": 0, "kb": 10, "mb": 20, "gb": 30}  # powers of two
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?b)", re.IGNORECASE)


def enable():
    """Lets tensors that are computed from now on be dropped to be computed again.

    >>> import tessera as ts
    >>> ts.dtr.enable()
    >>> ts.dtr.disable()
    """
    _core.enable_eviction()


def disable():
    """Ends that; tensors that were dropped are computed again when they are read.

    >>> import tessera as ts
    >>> ts.dtr.disable()
    """
    _core.disable_eviction()


def drop(tensor):
    """Gives up the memory of a tensor now; True when that was possible, and it is computed again
    when it is read. Views go with it. TypeError: it must be a Tensor.

    >>> import tessera as ts
    >>> ts.dtr.enable()
    >>> x = ts.functional.ones((1024, 1024)) * 2.0
    >>> ts.dtr.drop(x), float(x[0, 0])
    (True, 2.0)
    >>> ts.dtr.disable()
    """
    return _core.drop_value(tensor)


def stats():
    """Counts since the process began: `evictions`, `recomputations` (operators that ran again) and
    `evicted_bytes`; `evicted_now` is how many tensors have no memory at present.

    >>> import tessera as ts
    >>> sorted(ts.dtr.stats())
    ['evicted_bytes', 'evicted_now', 'evictions', 'recomputations']
    """
    return _core.eviction_stats()


def _bytes(name, value):
    if isinstance(value, str):
        found = _SIZE.fullmatch(value.strip())
        if not found:
            raise ValueError(f"dtr: {name} must be a number with B, KB, MB or GB, got {value!r}")
        return int(float(found[1]) * (1 << _UNITS[found[2].lower()]))
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"dtr: {name} must be an int or a text such as '2GB', got {value!r}")
    if value < 0:
        raise ValueError(f"dtr: {name} must be at least 0 bytes, got {value}")
    return value


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"dtr: {name} must be a bool, got {value!r}")
    return value


def _setting(name, check, value, doc):
    """An attribute whose values are checked, `value` to begin with."""
    _kept[name] = value

    def _set(_, given):
        _kept[name] = check(name, given)
        _core.set_eviction(*(min(_kept[each], _MOST) for each in _IN_ORDER))

    return property(lambda _: _kept[name], _set, doc=doc)


_MOST = (1 << 63) - 1  # bytes, more than any machine has
_IN_ORDER = "eviction_threshold", "evictee_minimum_size", "enable_sqrt_sampling"
_kept = {}


class _Dtr(types.ModuleType):
    """The module, whose attributes are checked when they are set."""

    eviction_threshold = _setting(
        "eviction_threshold", _bytes, 0, "Bytes in use from which on tensors are dropped."
    )
    evictee_minimum_size = _setting(
        "evictee_minimum_size", _bytes, 1 << 20, "Bytes of a tensor below which it stays."
    )
    enable_sqrt_sampling = _setting(
        "enable_sqrt_sampling", _flag, False, "Whether the square root of all tensors is looked at."
    )

    def __setattr__(self, name, value):
        if not name.startswith("__") and not isinstance(getattr(_Dtr, name, None), property):
            known = [each for each, it in vars(_Dtr).items() if isinstance(it, property)]
            raise AttributeError(f"dtr: name must be one of {known}, got {name!r}")
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Dtr
