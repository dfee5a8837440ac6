"""Dynamic tensor rematerialisation (https://arxiv.org/abs/2006.09616), by MegEngine's names.

Tensors are not dropped yet to be computed again: the settings are checked and kept, and the log
says so once. They change memory only, no result. `autodiff.checkpoint` computes again what a
function saved, where it is called.

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

from ._listed import listed as _listed
from .logger import say_later

__all__ = ["disable", "enable"]

__dir__ = _listed(*__all__)

_UNITS = {"b": 0, "kb": 10, "mb": 20, "gb": 30}  # powers of two
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?b)", re.IGNORECASE)


def enable():
    """Says that tensors may be dropped to be computed again.

    >>> import tessera as ts
    >>> ts.dtr.enable()
    >>> ts.dtr.disable()
    """
    say_later("dtr")


def disable():
    """Ends that."""


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
    kept = [value]

    def _set(_, given):
        kept[0] = check(name, given)
        say_later("dtr")

    return property(lambda _: kept[0], _set, doc=doc)


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
