"""Memory over time as a picture: `memory_flow.svg`, one file without scripts."""

from collections import Counter
from html import escape

from ..._page.texts import size
from ..._place import line_and_module

_WIDTH, _HEIGHT, _LEFT, _TOP = 1200, 480, 90, 60
_COLORS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#ff9da7",
           "#9c755f", "#86bcb6")  # fmt: skip
_OTHER = "#c8ccd2"  # of lines beyond these, and of blocks without one
_ROW = 18  # pixels of a line of text
_LETTER = 6.2  # pixels of a letter, about
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1c2430}rect.block{stroke:#fff;stroke-width:.5}"
    ".dim{fill:#586374}.in{font-size:10px;pointer-events:none}.axis{stroke:#c3cad4}"
    ".live{fill:none;stroke:#b3261e;stroke-width:1.5}.peak{stroke:#0b57d0;stroke-dasharray:4 3}"
)


def picture_of(flow, title, watched):
    """A Flow as the text of an SVG file: time to the right, a box for each block, coloured by the
    line that took it, and below it the lines and the `watched` largest blocks of the peak. None is
    a picture that says so.
    """
    if flow is None or flow.peak is None:
        text = f"{title}: no block of memory was taken or given back"
        return _svg(_TOP, [_text(_LEFT, 30, text)])
    pieces = flow.largest()
    colors = _colors_of(flow)
    scale = _Scale(flow, pieces)
    parts = [_text(_LEFT, 24, title), _text(_LEFT, 42, flow.peak_text, "dim")]
    rest = len(flow.pieces) - len(pieces)
    if rest:
        parts.append(_text(_WIDTH, 42, f"{rest} smaller blocks are in the line only", "dim", "end"))
    parts += _axes(scale)
    parts += [_box(piece, scale, colors) for piece in pieces]
    parts += [_live(flow, scale), _peak(flow, scale)]
    below, height = _below(flow, colors, watched)
    return _svg(height, parts + below)


def _svg(height, parts):
    width = _WIDTH + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


class _Scale:
    """Pixels of times and bytes."""

    def __init__(self, flow, pieces):
        self.begin, self.end = flow.times[0], flow.times[-1]
        self.top = max(flow.peak.bytes, *(piece.offset + piece.bytes for piece in pieces))
        self._times = flow.times

    def at_time(self, time):
        """Pixels to the right."""
        span = (self.end - self.begin) or 1
        return round(_LEFT + (time - self.begin) / span * (_WIDTH - _LEFT), 1)

    def at_moment(self, moment):
        """Pixels to the right, where a moment begins; the one behind the last is the end."""
        return self.at_time(self._times[min(moment, len(self._times) - 1)])

    def at_bytes(self, count):
        """Pixels down."""
        return round(_TOP + _HEIGHT * (1 - count / self.top), 1)


def line_of(piece):
    """The line, without the module, which has the colour."""
    return line_and_module(piece.location)[0] or piece.operator or "no line"


def _colors_of(flow):
    """Colours of the lines that hold the most at the peak."""
    held = Counter()
    for piece in flow.peak.pieces:
        held[line_of(piece)] += piece.bytes
    return dict(zip([line for line, _ in held.most_common()], _COLORS, strict=False))


def _box(piece, scale, colors):
    left, right = scale.at_moment(piece.first), scale.at_moment(piece.last + 1)
    top, bottom = scale.at_bytes(piece.offset + piece.bytes), scale.at_bytes(piece.offset)
    wide, tall = max(right - left, 0.5), max(bottom - top, 0.3)
    fill = colors.get(line_of(piece), _OTHER)
    told = escape(f"{piece}: {size(piece.bytes)}, {piece.location or line_of(piece)}")
    box = (
        f'<rect class="block" x="{left}" y="{top}" width="{wide:.1f}" height="{tall:.1f}" '
        f'fill="{fill}"><title>{told}</title></rect>'
    )
    letters = int((wide - 6) / _LETTER)
    if tall < 12 or letters < 6:
        return box
    text = str(piece)
    shown = text if len(text) <= letters else text[: letters - 1] + "\u2026"
    return box + _text(left + 3, top + tall / 2 + 4, shown, "in")


def _live(flow, scale):
    """The sum of all blocks: the last one of each pixel, so that a long recording stays small."""
    points = {}
    for moment, count in enumerate(flow.live):
        x = scale.at_moment(moment)
        highest = max(count, points.get(x, 0))
        points[x] = highest
    places, previous = [], None
    for x, count in points.items():
        y = scale.at_bytes(count)
        places += [f"{x},{previous}"] if previous is not None else []
        places.append(f"{x},{y}")
        previous = y
    return f'<polyline class="live" points="{" ".join(places)}"/>'


def _peak(flow, scale):
    x = scale.at_moment(flow.peak.step)
    return f'<line class="peak" x1="{x}" x2="{x}" y1="{_TOP}" y2="{_TOP + _HEIGHT}"/>'


def _axes(scale):
    parts = []
    for count in _ticks(0, scale.top, binary=True):
        y = scale.at_bytes(count)
        parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{y}" y2="{y}"/>')
        parts.append(_text(_LEFT - 6, y + 4, size(count), "dim", "end"))
    for time in _ticks(scale.begin, scale.end):
        x = scale.at_time(time)
        parts.append(_text(x, _TOP + _HEIGHT + 16, f"{time / 1000:g} ms", "dim", "middle"))
    return parts


def _ticks(begin, end, binary=False, most=8):
    """Round numbers between two, at most `most`."""
    unit = 1
    steps = (2, 2, 2) if binary else (2, 2.5, 2)
    while (end - begin) / unit > most:
        for factor in steps:
            if (end - begin) / unit > most:
                unit *= factor
    first = -(-begin // unit)
    return [unit * (first + n) for n in range(int(end // unit - first) + 1)]


def _below(flow, colors, watched):
    """The lines, then the largest blocks of the peak, and where the picture ends."""
    held = Counter()
    for piece in flow.peak.pieces:
        held[line_of(piece)] += piece.bytes
    y, parts = _TOP + _HEIGHT + 44, []
    for line, color in colors.items():
        text = f"{line}: {size(held[line])} at the peak"
        parts.append(f'<rect x="{_LEFT}" y="{y - 10}" width="12" height="12" fill="{color}"/>')
        parts.append(_text(_LEFT + 18, y, text))
        y += _ROW
    shown = flow.peak.pieces[:watched]
    if shown:
        y += _ROW
        parts.append(_text(_LEFT, y, f"the {len(shown)} largest at the peak:"))
    for piece in shown:
        y += _ROW
        text = f"{size(piece.bytes)}  {piece}  {piece.location}"
        parts.append(_text(_LEFT, y, text, "dim"))
    return parts, y + _ROW


def _text(x, y, text, style="", anchor="start"):
    style = f' class="{style}"' if style else ""
    anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}{anchor}>{escape(text)}</text>'
