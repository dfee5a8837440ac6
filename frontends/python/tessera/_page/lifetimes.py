"""Memory over time: pieces that live from one moment to another, and the peak."""

from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Peak:
    """The moment at which the pieces that live are the most bytes, and these pieces, the largest
    first.
    """

    step: int
    bytes: int
    pieces: tuple


def live_bytes(pieces, count):
    """Bytes that live at each of `count` moments. A piece has `first`, `last` and `bytes`, and
    lives at both ends."""
    changes = [0] * (count + 1)
    for piece in pieces:
        changes[piece.first] += piece.bytes
        changes[min(piece.last, count - 1) + 1] -= piece.bytes
    return list(accumulate(changes))[:-1]


def peak_of(pieces, live):
    """The Peak of what `live_bytes` returned; None where nothing lives. A piece has an `offset`
    too."""
    if not any(live):
        return None
    step = max(range(len(live)), key=live.__getitem__)
    there = [each for each in pieces if each.first <= step <= each.last]
    ordered = sorted(there, key=lambda each: (-each.bytes, each.offset))
    return Peak(step, live[step], tuple(ordered))
