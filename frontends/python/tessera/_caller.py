"""Warnings that name the line of the user's program."""

import linecache
import os
import sys
import warnings

_PACKAGE = os.path.dirname(__file__)
_warned = set()  # (text, file, line)


def warn(text, category=RuntimeWarning):
    """Warns at the first line outside of the package."""
    warnings.warn(text, category, stacklevel=_place()[0])


def warn_once(text, category=RuntimeWarning):
    """Warns as `warn`, once for each line and text."""
    level, place = _place()
    if (text, *place) not in _warned:
        _warned.add((text, *place))
        warnings.warn(text, category, stacklevel=level)


def place():
    """The first line outside of the package, as "file.py:12"."""
    file, line = _place()[1]
    return f"{os.path.basename(file)}:{line}"


def line():
    """As `place`, with the text of the line behind it, where it is known."""
    file, number = _place()[1]
    text = linecache.getline(file, number).strip()
    return f"{os.path.basename(file)}:{number}" + (f": {text}" if text else "")


def _place():
    """The level of the first frame outside of the package, as `warnings` counts, and its line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level, (frame.f_code.co_filename, frame.f_lineno)
