"""Memory over the steps of a run: what the arena holds when, and what makes the peak."""

from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Peak:
    """The step at which the pieces of the arena that live are the most bytes, and these pieces, the
    largest first."""

    step: int
    bytes: int
    pieces: tuple


def live_bytes(facts):
    """Bytes of the arena that live at each step; one more entry is for copies behind the last."""
    changes = [0] * (len(facts.steps) + 2)
    for piece in facts.pieces:
        changes[piece.first] += piece.bytes
        changes[min(piece.last, len(facts.steps)) + 1] -= piece.bytes
    return list(accumulate(changes))[:-1]


def peak_of(facts):
    """The Peak; None for a program without temporaries."""
    live = live_bytes(facts)
    if not any(live):
        return None
    step = max(range(len(live)), key=live.__getitem__)
    pieces = [each for each in facts.pieces if each.first <= step <= each.last]
    ordered = sorted(pieces, key=lambda each: (-each.bytes, each.offset))
    return Peak(step, live[step], tuple(ordered))
