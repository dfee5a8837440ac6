"""A step along a line that satisfies the strong Wolfe conditions."""

import math


def strong_wolfe(value_at, step, start, max_evaluations, c1=1e-4, c2=0.9, narrow=1e-9):
    """The point of the line where the value is below start by c1 * step * slope at least, and the
    slope at most c2 times as steep.

    J. Nocedal, S. Wright: Numerical Optimization, 2nd edition, algorithms 3.5 and 3.6, with cubic
    interpolation. Where no such point is found, the lowest one met.

    Args:
        value_at: gives the Point at a step
        step: the first step to try
        start: the Point at step 0, whose slope is below 0
        max_evaluations: how often value_at is called at most
        c1, c2: 0 < c1 < c2 < 1
        narrow: an interval of steps of this size is not divided

    >>> from tessera.optimizer.line_search import Point, strong_wolfe
    >>> point = strong_wolfe(lambda t: Point(t, (t - 1) ** 2, 2 * (t - 1)), 4.0, Point(0, 1, -2), 9)
    >>> round(point.step, 6)
    1.0
    """
    search = _Search(value_at, start, max_evaluations, c1, c2)
    low, high = search.bracket(step)
    while high is not None and search.left > 0 and abs(high.step - low.step) > narrow:
        point = search.evaluate(_between(low, high))
        if not search.is_low(point) or point.value >= low.value:
            high = point
            continue
        if search.is_flat(point):
            return point
        if point.slope * (high.step - low.step) >= 0:
            high = low
        low = point
    return low


class Point:
    """A point of the line: the step there, the value and the slope; `data` is the caller's."""

    def __init__(self, step, value, slope, data=None):
        self.step, self.value, self.slope, self.data = step, value, slope, data


class _Search:
    def __init__(self, value_at, start, left, c1, c2):
        self.value_at, self.start, self.left = value_at, start, left
        self.c1, self.c2 = c1, c2

    def evaluate(self, step):
        """The Point at a step."""
        self.left -= 1
        return self.value_at(step)

    def is_low(self, point):
        """The first condition: the value is low enough."""
        limit = self.start.value + self.c1 * point.step * self.start.slope
        return point.value <= limit  # NaN is not

    def is_flat(self, point):
        """The second condition: the slope is flat enough."""
        return abs(point.slope) <= -self.c2 * self.start.slope

    def bracket(self, step):
        """(lowest point, other end of an interval with a good one), or (good point, None)."""
        before, is_first = self.start, True
        while True:
            point = self.evaluate(step)
            if not self.is_low(point) or (point.value >= before.value and not is_first):
                return before, point
            if self.is_flat(point) or self.left <= 0:
                return point, None
            if point.slope >= 0:
                return point, before
            before, step, is_first = point, 2 * step, False


def _between(low, high):
    """Where the cubic through both points is lowest, kept away from them."""
    middle, size = (low.step + high.step) / 2, abs(high.step - low.step)
    if not (math.isfinite(high.value) and math.isfinite(high.slope)):
        return middle
    d1 = low.slope + high.slope - 3 * (low.value - high.value) / (low.step - high.step)
    square = d1 * d1 - low.slope * high.slope
    if square < 0:
        return middle
    d2 = math.copysign(math.sqrt(square), high.step - low.step)
    below = high.slope - low.slope + 2 * d2
    if below == 0:
        return middle
    step = high.step - (high.step - low.step) * (high.slope + d2 - d1) / below
    first, last = min(low.step, high.step) + 0.1 * size, max(low.step, high.step) - 0.1 * size
    return min(max(step, first), last)
