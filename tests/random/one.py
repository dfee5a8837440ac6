"""Runs one program in one mode, in a process of its own: a crash is a finding, too.

`python -m tests.random.one FILE MODE`, the file a pickled Program. Prints the difference; exits
with 0 without one, with 3 when the mode says nothing.
"""

import contextlib
import faulthandler
import functools
import pickle
import signal
import sys
import warnings
from pathlib import Path

import tessera

from tests.random import modes, records

_DEADLINE = 300  # seconds, for what takes one


@functools.lru_cache(maxsize=1)  # asked for each mode
def _refusal(program):
    """What eager says to a program that it refuses, which says nothing then; empty for none."""
    try:
        seen = modes.eager(program)
    except Exception as error:  # noqa: BLE001: whatever it is
        return f"eager: {error}"
    return "" if records.is_small(seen) else "eager: the results are too large"


def _forget_errors():
    """Of values that nothing read, in calls that were refused: the next wait would tell them."""
    for _ in range(100):
        with contextlib.suppress(Exception):  # whatever it is
            tessera.sync()
            break


def difference(program, mode):
    """Of a mode, by name; an exception is a difference where eager has none."""
    _forget_errors()
    if refused := _refusal(program):
        raise modes.SkippedError(refused)
    try:
        return modes.ALL[mode](program)
    except modes.SkippedError:
        raise
    except Exception as error:  # noqa: BLE001: what it raises is the finding
        return f"{mode}: {type(error).__name__}: {error}"


def main():
    """The command."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.alarm(_DEADLINE)
    program = pickle.loads(Path(sys.argv[1]).read_bytes())
    try:
        found = difference(program, sys.argv[2])
    except modes.SkippedError as skipped:
        print(skipped)
        sys.exit(3)
    print(found)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
