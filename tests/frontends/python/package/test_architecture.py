"""The walk of `a @ b` in ARCHITECTURE.md: its files are there, and counters move as it says."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

_TEXT = Path(os.environ["ARCHITECTURE"]).read_text()
_WALK = _TEXT.split("## The walk of `a @ b`")[1].split("\n## ")[0]
_SCRIPT = """
import json

import numpy as np
import tessera

a, b = (tessera.tensor(np.ones((64, 64), "f")) for _ in range(2))
readings = [tessera.cache_stats()]
for _ in range(2):
    c = a @ b
    tessera.sync()
    readings.append(tessera.cache_stats())
moves = [{k: after[k] - before[k] for k in after} for before, after in zip(readings, readings[1:])]
print(json.dumps(moves))
"""


def test_each_folder_has_a_part_and_twenty_files_are_enough():
    files = re.findall(r"^\| \d+ \| `([^`]+)` \|", _WALK, re.MULTILINE)
    assert {"ops", "frontends", "eager", "compiler", "runtime"} <= {f.split("/")[0] for f in files}
    assert 10 < len(set(files)) == len(files) <= 20


def test_counters_move_as_the_walk_says():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=120, check=True
    )
    first, second = json.loads(done.stdout)
    rows = re.findall(r"^\| (`[^|]+) \| (\d+) \| (\d+) \|$", _WALK, re.MULTILINE)
    assert len(rows) == 6
    for names, *expected in rows:
        counters = re.findall(r"`(\w+)`", names)
        moved = [sum(moves[name] for name in counters) for moves in (first, second)]
        assert moved == [int(count) for count in expected], names
