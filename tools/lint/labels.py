"""Lint: every constraint of a record has a negative test, and no test names another.

The labels (`matmul.dimension_K_must_match`) are those of the generated list (//ops:samples.json):
tess-tblgen makes them of the constraints' words, so a label stands in no source file but a test.
"""

import json
import os
import re
from pathlib import Path

from tools.lint import sources

_LABEL = re.compile(r"\b[a-z][a-z0-9_]*\.\w+_must_\w+")


def labels_in(names, patterns, exclude):
    """{label: the first file that has it}"""
    found = {}
    for name in sources.select(names, patterns, exclude):
        for label in _LABEL.findall(sources.read(name)):
            found.setdefault(label, name)
    return found


def declared_in(records):
    """{label: its operator} of the generated list."""
    return {entry["label"]: record["name"] for record in records for entry in record["labels"]}


def check(names, table, records):
    declared = declared_in(records)
    tested = labels_in(names, table["tested"], table["except"])
    for label in sorted(set(declared) - set(tested)):
        yield f"labels: {label} must stand in a negative test, got it only in {declared[label]}"
    for label in sorted(set(tested) - set(declared)):
        yield f"labels: {label} must be a record's, got it only in {tested[label]}"


def generated_records():
    runfiles = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
    return json.loads((runfiles / "ops/samples.json").read_text())


if __name__ == "__main__":
    table = sources.read_table("labels.toml")
    sources.report(list(check(sources.git_files(), table, generated_records())))
