"""Lint: files are small, and text is clean at its ends (text.toml)."""

import re

from tools.lint import sources

_FAULTS = {
    "no trailing space": re.compile(r"[ \t]+$", re.MULTILINE),
    "no carriage return": re.compile(r"\r"),
    "one newline at its end": re.compile(r"[^\n]\Z|\n\n\Z"),
}
_TAB = {"no tab": re.compile(r"\t")}


def check_size(name, limit_kib):
    size = (sources.ROOT / name).stat().st_size
    if size > limit_kib << 10:
        yield f"text: {name} must have at most {limit_kib} KiB, got {size / 1024:.0f}"


def check_text(name, faults):
    text = sources.read(name)
    for what, pattern in faults.items():
        if match := pattern.search(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"text: {name}:{line} must have {what}, got {match.group()[-10:]!r}"


def check(names, table):
    for name in names:
        yield from check_size(name, table["limit_kib"])
        if not sources.matches(name, table["binary"]):
            tabs = {} if sources.matches(name, table["tabs"]) else _TAB
            yield from check_text(name, _FAULTS | tabs)


if __name__ == "__main__":
    sources.report(list(check(sources.git_files(), sources.read_table("text.toml"))))
