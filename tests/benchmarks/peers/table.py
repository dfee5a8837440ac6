"""The table of rows that have several peers."""

from . import COLUMNS

EMPTY = "–"
SEPARATOR = "  "


def _cell(value):
    return EMPTY if value is None else f"{value:.4g}"


def _cells(row):
    name = row.name + (f" ({row.note})" if row.note else "")
    theirs = (_cell(row.peers.get(column)) for column in COLUMNS)
    shares = (EMPTY if each is None else f"{each:.2f}" for each in (row.of_limit, row.share))
    ratio = EMPTY if row.ratio is None else f"{row.ratio:.2f}"
    return name, row.unit, _cell(row.value), *theirs, _cell(row.limit), *shares, ratio


def beside(rows):
    """The rows, aligned; a cell without a figure has a dash."""
    shares = "limit / Tessera", "wanted"
    lines = [("benchmark", "unit", "Tessera", *COLUMNS, "limit", *shares, "best peer / Tessera")]
    lines += [_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        SEPARATOR.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
