"""A recording as tables: where time and memory went."""

from ..._page.texts import aligned, size
from .flow import flow_of
from .recording import COLUMNS


def table(recording, by, limit):
    """The steps of a Recording, added up `by` columns, as text."""
    if not by or not set(by) <= set(COLUMNS):
        raise ValueError(f"summary: by must name columns of {list(COLUMNS)}, got {by}")
    rows = recording.rows(by)
    total = sum(row.time for row in rows)
    lines = [(*by, *HEADS, *recording.counters)]
    lines += [(*row.columns, *numbers(row, total)) for row in rows[:limit]]
    rest = rows[limit:] if limit is not None else []
    if rest:
        times = tuple(time for row in rest for time in row.times)
        counts = tuple(map(sum, zip(*(row.counts for row in rest), strict=True)))
        more = type(rest[0])((f"{len(rest)} more", *[""] * (len(by) - 1)), times, counts)
        lines.append((*more.columns, *numbers(more, total)))
    return aligned(lines, len(by))


HEADS = ("calls", "total us", "mean us", "share")


def numbers(row, total):
    """The columns behind the names of a row, of which all take `total` microseconds."""
    calls, time = len(row.times), row.time
    share = f"{100 * time / total:.1f} %" if total else ""
    return (str(calls), f"{time:.1f}", f"{time / calls:.1f}", share, *map(str, row.counts))


def besides(recording, limit):
    """Compilations, waits and work in the queue, as text; "" where there was nothing."""
    rows = recording.besides()
    lines = [("besides", "calls", "total us", "mean us", "longest us")]
    for row in rows[:limit]:
        calls, time = len(row.times), row.time
        each = (f"{time:.1f}", f"{time / calls:.1f}", f"{max(row.times):.1f}")
        lines.append((*row.columns, str(calls), *each))
    return aligned(lines, 1) if rows else ""


def memory(recording, watched):
    """The peak of memory with the `watched` largest blocks, as text; "" where none was taken."""
    flow = flow_of(recording.events)
    if flow is None:
        return ""
    lines = [("bytes", "operator", "type", "line")]
    lines += [(size(p.bytes), p.operator, p.type, p.location) for p in flow.peak.pieces[:watched]]
    return "\n".join([flow.peak_text, *([aligned(lines, 4)] if watched else [])])


def notes(recording):
    """Lines about what the recording does not have."""
    lines = [f"no hardware counters: {recording.note}"] if recording.note else []
    if recording.dropped:
        lines.append(f"{recording.dropped} events beyond the first 2^20 were left out")
    return lines
