"""The table of rows that have several peers."""

from . import COLUMNS

EMPTY = "–"
SEPARATOR = "  "


def _cell(value):
    return EMPTY if value is None else f"{value:.4g}"


def _cells(row):
    ratio = EMPTY if row.ratio is None else f"{row.ratio:.2f}"
    theirs = (_cell(row.peers.get(column)) for column in COLUMNS)
    return row.name, row.unit, _cell(row.value), *theirs, _cell(row.limit), ratio


def beside(rows):
    """The rows, aligned; a cell without a figure has a dash."""
    lines = [("benchmark", "unit", "Tessera", *COLUMNS, "limit", "best peer / Tessera")]
    lines += [_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        SEPARATOR.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
