"""How much slower a new build is than an old one, from times that were measured in pairs.

Both times of a pair come from the same minutes, so what slows the machine down cancels in their
ratio. Where the builds are equal, a pair is as likely to be the other way round: the logarithms of
the ratios are symmetric about 0, and about log(r) where the new build takes r times as long. That
is all that is assumed; times on a shared machine have heavy tails, which a mean and a t interval
would follow. The estimate is the one of Hodges and Lehmann, the median of all averages of two
logarithms (each with itself too); the bounds are those that belong to Wilcoxon's signed-rank test,
from its exact distribution. Source: Hollander, Wolfe, Chicken, "Nonparametric Statistical Methods",
3rd edition (2014), sections 3.1 to 3.3.
"""

import math
import statistics
from dataclasses import dataclass
from itertools import combinations_with_replacement

LEVEL = 0.95  # of each bound
LIMIT = 1.03  # a new build may take so much longer
FEWEST = 15  # pairs


@dataclass(frozen=True)
class Comparison:
    """Time of the new build over that of the old one: an estimate, and a bound on each side."""

    ratio: float
    lower: float
    upper: float

    @property
    def verdict(self):
        """'lost' where the lower bound is above LIMIT, 'won' the other way round, else ''."""
        if self.lower > LIMIT:
            return "lost"
        return "won" if self.upper < 1 / LIMIT else ""


def sign_patterns(pairs):
    """How many of the 2**pairs patterns of signs give each sum of the positive ones' ranks."""
    counts = [1]
    for rank in range(1, pairs + 1):
        counts = [
            (counts[total] if total < len(counts) else 0)
            + (counts[total - rank] if total >= rank else 0)
            for total in range(len(counts) + rank)
        ]
    return counts


def bound_index(pairs):
    """Which of the ordered averages, from 0, is the lower bound; ValueError for too few pairs."""
    below, index = 0, 0
    for count in sign_patterns(pairs):
        below += count
        if below > (1 - LEVEL) * 2**pairs:
            break
        index += 1
    if index == 0:
        raise ValueError(f"bench: a bound needs at least 5 pairs, got {pairs}")
    return index - 1


def compare(pairs):
    """The Comparison of [(new, old), ...], positive times; ValueError for others or too few."""
    if any(min(pair) <= 0 for pair in pairs):
        raise ValueError(f"bench: times must be above 0, got {min(map(min, pairs))}")
    logs = [math.log(new / old) for new, old in pairs]
    averages = sorted((a + b) / 2 for a, b in combinations_with_replacement(logs, 2))
    index = bound_index(len(logs))
    chosen = statistics.median(averages), averages[index], averages[-1 - index]
    return Comparison(*map(math.exp, chosen))
