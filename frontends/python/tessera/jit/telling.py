"""Warnings of traced functions, each told once."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def warn_once(traced, what, key=None):
    """Tells the caller outside of the package; `key` stands for texts that say the same."""
    warned = vars(traced).setdefault("_warned", set())
    if (key or what) in warned:
        return
    warned.add(key or what)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"trace: {traced.__name__} {what}", RuntimeWarning, stacklevel=level)
