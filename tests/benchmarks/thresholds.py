"""Where the runtime changes its way: each threshold, its sweep, and where the two ways cross.

Beside them the costs from which the time of a kernel is estimated.

A threshold that decides which kernel computes decides bits: it stays a constant, whatever the
machine. Those of threads decide time only.
"""

import json
import os
import subprocess

from harness import Row


def crossing(rows):
    """The first size from which on the way above the threshold is faster; None: it never is."""
    wins = [above < below for _, below, above in rows]
    return next((row[0] for i, row in enumerate(rows) if all(wins[i:])), None)


def thresholds():
    """A row for each threshold, and one for each size of its sweep."""
    command = [os.environ["TESS_THRESHOLDS"]]
    sweeps = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    rows = []
    for name, sweep in sweeps.items():
        if "measured" in sweep:
            rows.append(Row(name, sweep["measured"], "ps", note=f"it is {sweep['value']}"))
            continue
        found = crossing(sweep["rows"])
        note = f"it is {sweep['value']}" + ("" if found else ", and none in the sweep")
        rows.append(Row(f"{name}, where the ways cross", found or 0, "", note=note))
        rows += [
            Row(f"{name}, at {size:.0f}", above / below, "", note=f"{below:.0f} to {above:.0f} ns")
            for size, below, above in sweep["rows"]
        ]
    return rows


BENCHMARKS = {"thresholds": thresholds}
