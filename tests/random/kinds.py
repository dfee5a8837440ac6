"""What a campaign runs: kinds of programs, each program by its number."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.random import focus, modes, records
from tests.random.draw import draw


@dataclass(frozen=True)
class Kind:
    """Programs by number, and the modes in which each runs."""

    program: Callable
    modes: Callable  # of a number, in the order in which they are tried
    most: int | None  # modes that say something, until the others are left out
    count: Callable  # of its programs


def modes_of(seed):
    """The modes of a random program: the one that it is drawn for before other drawn ones."""
    random = np.random.RandomState(seed ^ 0x5EED)
    drawn = random.choice(list(modes.DRAWN), len(modes.DRAWN), replace=False)
    drawn = sorted(map(str, drawn), key=lambda mode: mode != focus.mode_of(seed))
    return [*modes.ALWAYS, *drawn]


KINDS = {
    "random": Kind(draw, modes_of, len(modes.ALWAYS) + 2, lambda: 2**32),  # seeds of RandomState
    "records": Kind(records.numbered, lambda number: [*modes.ALL], None, records.count),
}
