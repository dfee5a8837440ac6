"""A profile as a table: where the time went."""

import json
from collections import defaultdict

from .._place import line_and_module

_COLUMNS = ("operator", "module", "line", "kind")
_KINDS = ("kernel", "library", "copy")  # a program and a loop hold others


def table(trace, by, limit):
    """The rows of a Chrome trace, added up `by` columns, as text."""
    if not by or not set(by) <= set(_COLUMNS):
        raise ValueError(f"summary: by must name columns of {list(_COLUMNS)}, got {by}")
    rows = defaultdict(list)
    for event in json.loads(trace)["traceEvents"]:
        if event["cat"] in _KINDS:
            row = _row(event)
            rows[tuple(row[column] for column in by)].append(event["dur"])
    total = sum(map(sum, rows.values()))
    ordered = sorted(rows.items(), key=lambda item: -sum(item[1]))
    lines = [(*by, "calls", "total us", "mean us", "share")]
    for key, times in ordered[:limit]:
        time = sum(times)
        share = f"{100 * time / total:.1f} %" if total else ""
        lines.append((*key, str(len(times)), f"{time:.1f}", f"{time / len(times):.1f}", share))
    rest = ordered[len(lines) - 1 :]
    if rest:
        time = sum(sum(times) for _, times in rest)
        calls, share = sum(len(times) for _, times in rest), f"{100 * time / total:.1f} %"
        others = (f"{len(rest)} more", *[""] * (len(by) - 1))
        lines.append((*others, str(calls), f"{time:.1f}", f"{time / calls:.1f}", share))
    return aligned(lines, len(by))


def _row(event):
    """The columns of an event; its location is "train.py:12 (net.conv1)"."""
    line, module = line_and_module(event["args"].get("location", ""))
    return {
        "operator": event["name"],
        "module": module,
        "line": line,
        "kind": event["cat"],
    }


def aligned(lines, texts):
    """Columns of texts to the left, of numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def _cell(number, text):
        return text.ljust(widths[number]) if number < texts else text.rjust(widths[number])

    return "\n".join("  ".join(_cell(*cell) for cell in enumerate(row)).rstrip() for row in lines)
