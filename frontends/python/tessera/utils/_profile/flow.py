"""Which block of memory lived when."""

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from ..._page.lifetimes import live_bytes, peak_of
from ..._page.texts import size

MOST_PIECES = 2000  # that a picture shows, the largest ones
BEFORE = "before the recording"


@dataclass
class Piece:
    """A block that lives from moment `first` to moment `last`, both included."""

    bytes: int
    operator: str  # that took it, BEFORE for one that was there
    location: str  # "train.py:12 (net.conv1)"
    first: int
    last: int
    type: str = ""  # of the value in it, "f32[2, 3]"
    offset: int = 0  # in a picture

    def __str__(self):
        return f"{self.operator or 'block'} {self.type}".rstrip()


class Flow:
    """The blocks of one memory.

    Attributes:
        memory: the name of the device
        times: microseconds of each moment, at which a block is taken or given back
        pieces: the blocks
        kept: bytes of those that were there all the time, which no event is about
    """

    def __init__(self, memory, times, pieces, in_use):
        self.memory, self.times, self.pieces = memory, times, pieces
        self.kept = max(in_use - self.live[1], 0)  # `in_use` is behind the first change

    @cached_property
    def live(self):
        """Bytes of the blocks at each moment."""
        return live_bytes(self.pieces, len(self.times))

    @cached_property
    def peak(self):
        """The Peak of these."""
        return peak_of(self.pieces, self.live)

    @property
    def peak_text(self):
        """The peak in words."""
        time = self.times[self.peak.step] / 1000
        kept = f", beside {size(self.kept)} that were there all the time" if self.kept else ""
        return f"peak of {self.memory}: {size(self.peak.bytes)} at {time:.3f} ms{kept}"

    def largest(self):
        """The MOST_PIECES largest blocks, each with an offset at which no other one is meanwhile:
        the lowest that is free when it is taken.
        """
        pieces = sorted(self.pieces, key=lambda piece: -piece.bytes)[:MOST_PIECES]
        live = []  # (offset, end, last moment), by offset
        for piece in sorted(pieces, key=lambda each: (each.first, -each.bytes)):
            live = [each for each in live if each[2] >= piece.first]
            piece.offset = 0
            for offset, end, _ in live:
                if offset - piece.offset >= piece.bytes:
                    break
                piece.offset = max(piece.offset, end)
            insort(live, (piece.offset, piece.offset + piece.bytes, piece.last))
        return pieces


def flow_of(events):
    """The Flow of the memory with the highest peak; None where no block was taken or given back."""
    changes = defaultdict(list)
    types = defaultdict(list)  # by block: (time, type)
    in_use = {}  # behind the first change
    for event in events:
        if event["ph"] == "C":
            in_use.setdefault(event["name"].removeprefix("memory of "), event["args"]["bytes"])
        elif event["ph"] in ("N", "D"):
            changes[event["args"]["memory"]].append(event)
        elif event["ph"] == "O":
            insort(types[event["id"]], (event["ts"], event["args"]["snapshot"]["type"]))
    flows = [_flow(each, those, types, in_use.get(each, 0)) for each, those in changes.items()]
    return max(flows, key=lambda flow: flow.peak.bytes if flow.peak else 0, default=None)


def _flow(memory, changes, types, in_use):
    """The Flow of the events of one memory, which are in the order of what happened. At moment 0
    only what was there before lives.
    """
    taken, pieces, times = {}, [], [0.0, *(event["ts"] for event in changes)]
    for moment, event in enumerate(changes, 1):
        block, args = event["id"], event["args"]
        if event["ph"] == "N":
            piece = Piece(args["bytes"], args.get("operator", ""), args.get("location", ""),
                          moment, len(changes))  # fmt: skip
            taken[block] = piece
            pieces.append(piece)
        elif block in taken:
            piece = taken.pop(block)
            piece.last = moment - 1
            piece.type = _type_of(types[block], times[piece.first], event["ts"])
        else:
            pieces.append(Piece(args["bytes"], BEFORE, "", 0, moment - 1))
    for block, piece in taken.items():
        piece.type = _type_of(types[block], times[piece.first], float("inf"))
    return Flow(memory, times, pieces, in_use)


def _type_of(types, begin, end):
    """The first type that was noted between two times."""
    at = bisect_left(types, (begin, ""))
    return types[at][1] if at < len(types) and types[at][0] <= end else ""
