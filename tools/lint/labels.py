"""Lint: a constraint's label (`matmul_c1`) is in record, check and negative test (labels.toml)."""

import re

from tools.lint import sources

_LABEL = re.compile(r"\b(?:test_)?([a-z][a-z0-9_]*_c[1-9][0-9]*)\b")


def labels_in(names, patterns, exclude):
    """{label: the first file that has it}"""
    found = {}
    for name in sources.select(names, patterns, exclude):
        for label in _LABEL.findall(sources.read(name)):
            found.setdefault(label, name)
    return found


def missing(have, want, where):
    for label in sorted(set(have) - set(want)):
        yield f"labels: {label} must stand in {where}, got it only in {have[label]}"


def check(names, table):
    sets = {
        kind: labels_in(names, table[kind], table["except"])
        for kind in ("declared", "checked", "tested")
    }
    yield from missing(sets["declared"], sets["checked"], "the check")
    yield from missing(sets["declared"], sets["tested"], "a negative test")
    yield from missing(sets["checked"], sets["declared"], "a record")
    yield from missing(sets["tested"], sets["declared"], "a record")


if __name__ == "__main__":
    sources.report(list(check(sources.git_files(), sources.read_table("labels.toml"))))
