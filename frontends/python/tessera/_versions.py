"""The version, and what a report of a bug starts with."""

import platform
import sys

import numpy as np

from . import _core

__version__ = "0.1.0"


def versions():
    """Names and versions of what matters in a report of a bug.

    >>> from tessera._versions import versions
    >>> sorted(versions())[:3]
    ['available_threads', 'bits_version', 'compiler']
    """
    rows = {"tessera": __version__, "python": platform.python_version(), "numpy": np.__version__}
    rows.update({key: str(value) for key, value in _core.doctor().items()})
    return rows


def show_versions(file=None):
    """Prints `versions`, one a line.

    >>> import io
    >>> import tessera as ts
    >>> report = io.StringIO()
    >>> ts.show_versions(report)
    >>> "threads" in report.getvalue()
    True
    """
    for key, value in versions().items():
        print(f"{key:12} {value}", file=file or sys.stdout)
