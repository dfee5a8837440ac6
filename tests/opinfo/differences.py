"""The committed lists: what differs from PyTorch and why, and what has no counterpart."""

import functools
import os
import tomllib
from pathlib import Path

# What may differ, as runs.py says it.
KINDS = ("count", "dtype", "gradient", "gradient refused", "refused", "shape", "traced", "value")


@functools.cache
def _table(name):
    folder = Path(os.environ.get("TESS_OPINFO_LISTS") or Path(__file__).parent)
    return tomllib.loads((folder / f"{name}.toml").read_text())


def differences():
    """Rows of differences.toml: what, why, and the number of calls of each operator."""
    return _table("differences")["difference"]


def listed(op):
    """How many calls of the operator differ in what."""
    counts = {}
    for row in differences():
        if op in row["calls"]:
            counts[row["what"]] = counts.get(row["what"], 0) + row["calls"][op]
    return counts


def without_counterpart():
    """The OpInfos that are in no family, each with the reason."""
    return {name: row["why"] for row in _table("without")["without"] for name in row["infos"]}
