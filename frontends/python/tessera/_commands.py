"""The programs of the command line that the extension has: entry points of the wheel."""

import signal
import sys

from . import _core


def _run(name):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's waits until the extension returns
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores `tess-dump FILE | head`
    sys.exit(_core.run_command([name, *sys.argv[1:]]))


def tess_compile():
    """Runs tess-compile, which adds executables to a `.tess` file, and ends the process."""
    _run("tess-compile")


def tess_dump():
    """Runs tess-dump, which prints what a `.tess` file has, and ends the process."""
    _run("tess-dump")


def tess_opt():
    """Runs tess-opt, which runs passes over a file of MLIR's text, and ends the process."""
    _run("tess-opt")
