"""Warnings of traced functions, each told once."""

from .. import _caller


def warn_once(traced, what, key=None):
    """Tells the caller outside of the package; `key` stands for texts that say the same."""
    warned = vars(traced).setdefault("_warned", set())
    if (key or what) in warned:
        return
    warned.add(key or what)
    _caller.warn(f"trace: {traced.__name__} {what}")
