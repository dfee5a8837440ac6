"""A recording as one HTML page, with the frame of `tessera/_page`."""

from bisect import bisect_right
from pathlib import Path

from ..._page.writing import page_of
from . import summary
from .flow import flow_of
from .lanes import lanes_of
from .recording import COLUMNS, duration_of

_FOLDER = Path(__file__).parent


def profile_page(recording, title, watched):
    """The page of a Recording, as text."""
    flow = flow_of(recording.events)
    scripts = [_FOLDER / "profile.js", _FOLDER / "timeline.js"]
    data = {
        "counters": recording.counters,
        "tables": {column: _rows(recording, column) for column in COLUMNS},
        "besides": _besides(recording),
        "timeline": _timeline(recording),
        "memory": _memory(flow),
    }
    head = _summary(recording, flow, watched)
    return page_of(title, head, _FOLDER / "main.html", scripts, data)


def _summary(recording, flow, watched):
    steps = recording.steps
    total = sum(event["dur"] for event in steps)
    lines = [f"{len(steps)} kernels, calls of libraries and copies, {total / 1000:.3f} ms in all"]
    if flow is not None and flow.peak is not None:
        largest = ", ".join(str(piece) for piece in flow.peak.pieces[:watched])
        lines.append(f"{flow.peak_text}{f' ({largest})' if largest else ''}")
    return lines + summary.notes(recording)


def _rows(recording, column):
    rows = recording.rows([column])
    total = sum(row.time for row in rows)
    return [_row(row, total) for row in rows]


def _row(row, total):
    calls, time = len(row.times), row.time
    share = 100 * time / total if total else 0
    numbers = [calls, round(time, 1), round(time / calls, 1), round(share, 1)]
    return [row.columns[0] or "none", *numbers, *row.counts]


def _besides(recording):
    return [_beside(row.columns[0], row.times) for row in recording.besides()]


def _beside(name, times):
    total = sum(times)
    return [name, len(times), *(round(t, 1) for t in (total, total / len(times), max(times)))]


def _timeline(recording):
    """Names of lanes, and events as numbers; texts are numbered because most come back."""
    names, placed = lanes_of(recording.events)
    texts = {}

    def _number(text):
        return texts.setdefault(text, len(texts))

    events = [
        [lane, event["ts"], round(duration_of(event), 3), _number(event["cat"]),
         _number(event["name"]), _number(event["args"].get("location", ""))]
        for lane, event in placed
    ]  # fmt: skip
    marks = [[event["ts"], event["name"]] for event in recording.by_category("step")]
    return {"lanes": names, "events": events, "marks": marks, "texts": list(texts)}


def _memory(flow):
    """Pieces of a flow and what lives, at the moments where one of the pieces begins or ends."""
    if flow is None or flow.peak is None:
        return None
    pieces = flow.largest()
    ends = {end for piece in pieces for end in (piece.first, piece.last + 1)}
    kept = sorted({0, flow.peak.step, *(end for end in ends if end < len(flow.times))})
    later = [*kept[1:], len(flow.live)]
    at = {moment: index for index, moment in enumerate(kept)}
    rows = [
        {
            "first": at[piece.first],
            "last": bisect_right(kept, piece.last) - 1,
            "bytes": piece.bytes,
            "offset": piece.offset,
            "operator": piece.operator,
            "type": piece.type,
            "location": piece.location,
        }
        for piece in pieces
    ]
    return {
        "name": flow.memory,
        "times": [flow.times[moment] for moment in kept] + [flow.times[-1]],
        "live": [max(flow.live[a:b]) for a, b in zip(kept, later, strict=True)],
        "peak": at[flow.peak.step],
        "pieces": rows,
        "others": len(flow.pieces) - len(pieces),
    }
