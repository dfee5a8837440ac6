"""Lint: few numbers of records are part of compiled code, and each says why.

It prints them. The limit is in statics.toml.
"""

import json
import os
from pathlib import Path

from tools.lint import sources


def statics(records):
    """(operator, attribute, reason) of each number that is part of the code, but for axes: over
    which of them a kernel loops, every reduction has in its code.
    """
    return [
        (record["name"], attr["name"], attr["static"])
        for record in records
        for attr in record["attrs"]
        if attr["static"] and attr["axis"] is None
    ]


def check(records, most):
    """One line when there are too many; the generator refuses one without a reason."""
    found = statics(records)
    if len(found) > most:
        names = ", ".join(f"{operator}.{attribute}" for operator, attribute, _ in found)
        yield f"statics: at most {most} attributes must be static, got {len(found)}: {names}"


if __name__ == "__main__":
    runfiles = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    records = json.loads((runfiles / "ops/samples.json").read_text())
    for operator, attribute, reason in statics(records):
        print(f"{operator}: {attribute}, because {reason}")
    sources.report(list(check(records, sources.read_table("statics.toml")["most"])))
