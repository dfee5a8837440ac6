"""Runs the programs of the numbers that it reads, a line of JSON for each: the campaign's process.

`python -m tests.random.worker KIND [MODE ...]`. Before each mode its name, so that a crash has one.
"""

import json
import sys
import warnings

from tests.random import modes, one
from tests.random.kinds import KINDS


def run(kind, number, tell=lambda mode: None, only=()):
    """The line of a program. A drawn mode that says nothing gives its place to the next. `only`:
    modes to run, all of them, in place of the kind's.
    """
    row = {"seed": number, "modes": [], "skipped": [], "findings": {}}
    tell("draw")
    program, most = KINDS[kind].program(number), None if only else KINDS[kind].most
    for mode in only or KINDS[kind].modes(number):
        if len(row["modes"]) + len({*row["skipped"]} & {*modes.ALWAYS}) == most:
            break
        tell(mode)
        try:
            found = one.difference(program, mode)
        except modes.SkippedError:
            row["skipped"].append(mode)
            continue
        row["modes"].append(mode)
        if found:
            row["findings"][mode] = found[:1000]
    return row


def main():
    """Reads numbers until the end of the input."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        row = run(sys.argv[1], int(line), lambda mode: print(mode, flush=True), sys.argv[2:])
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
