"""Runs the programs of the seeds that it reads, a line of JSON for each: the campaign's process.

Before each mode its name, so that a crash has one.
"""

import json
import sys
import warnings

import numpy as np

from tests.random import focus, modes, one
from tests.random.draw import draw

_DRAWN = 2  # modes of a program beside those that every program runs in


def modes_of(seed):
    """The modes in which the program of a seed runs: the one that it is drawn for before others."""
    random = np.random.RandomState(seed ^ 0x5EED)
    drawn = random.choice(list(modes.DRAWN), len(modes.DRAWN), replace=False)
    drawn = sorted(map(str, drawn), key=lambda mode: mode != focus.mode_of(seed))
    return [*modes.ALWAYS, *drawn]


def run(seed, tell=lambda mode: None):
    """The line of a seed. A drawn mode that says nothing gives its place to the next."""
    row = {"seed": seed, "modes": [], "skipped": [], "findings": {}}
    tell("draw")
    program = draw(seed)
    for mode in modes_of(seed):
        if (
            len(row["modes"]) + len({*row["skipped"]} & {*modes.ALWAYS})
            == len(modes.ALWAYS) + _DRAWN
        ):
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
    """Reads seeds until the end of the input."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        row = run(int(line), lambda mode: print(mode, flush=True))
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
