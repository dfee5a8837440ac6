"""Bytes of a call at its peak: by what they are for, and by the lines that made them."""

from collections import defaultdict
from math import inf

from ..._place import line_and_module

_GRADIENT = "gradient"  # of a tape's backward (kGradientScope in eager/tensor/Location.h)


class Moment:
    """The arena at the step where most of it lives: bytes by category and by line.

    What is saved for a gradient was made by an operator outside of it, and one of its operators
    reads it from that step on. What an operator of it made and one outside reads is a gradient.
    """

    def __init__(self, facts):
        self._facts, self.peak = facts, facts.peak
        self.pieces = self.peak.pieces if self.peak else ()
        self._makers = {value: each for each in facts.operators for value in each.results}
        loops = [each for each in facts.steps if each.kind == "loop"]
        self._loops = {each.results: each.number + each.body for each in loops}  # its last step
        self._steps = {each.step for each in facts.operators if self._has_scope(each)} - {-1}
        self._last = {True: defaultdict(int), False: defaultdict(int)}  # by whether it is of one
        for operator in facts.operators:
            last = self._last[self._is_of_gradient(operator)]
            step = inf if operator.results in self._loops else operator.step  # each trip may read
            for value in map(self._root, operator.operands):
                last[value] = max(last[value], step)

    def _root(self, value):
        """The value whose memory a view shows."""
        while self._facts.values[value].base >= 0:
            value = self._facts.values[value].base
        return value

    def _has_scope(self, operator):
        place = self._facts.values[operator.results[0]].location
        return _GRADIENT in line_and_module(place)[1].split(".")

    def _is_of_gradient(self, operator):
        """Whether it is one of a gradient, or is computed again in a kernel of one."""
        return operator.step in self._steps or self._has_scope(operator)

    def categories(self):
        """Bytes by category."""
        found = dict.fromkeys(("gradients", "saved for the gradient", "saved by loops"), 0)
        found["temporaries"] = 0
        for piece in self.pieces:
            found[self._category_of(piece)] += piece.bytes
        return found

    def _category_of(self, piece):
        now = self.peak.step
        made = [v for v in piece.values if v in self._makers and self._made_at(v) <= now]
        value = max(made, key=self._made_at, default=None)
        if value is None:
            return "temporaries"
        maker = self._makers[value]
        is_of_gradient = self._is_of_gradient(maker)
        if self._last[not is_of_gradient][self._root(value)] < now:
            return "temporaries"
        if is_of_gradient:
            return "gradients"
        return "saved by loops" if maker.results in self._loops else "saved for the gradient"

    def _made_at(self, value):
        maker = self._makers[value]
        return self._loops.get(maker.results, maker.step)

    def line_of(self, piece):
        """The user's line that made a piece, or for whose operator it is scratch."""
        value = self._facts.value_of_piece(piece)
        if value is not None:
            return line_and_module(value.location)[0]
        return self._facts.steps[piece.first].line if self._facts.steps else ""


def bytes_by_line(moment, outputs):
    """{line: bytes} of what lives at the peak and of the results, the most bytes first."""
    found = defaultdict(int)
    for piece in moment.pieces:
        found[moment.line_of(piece)] += piece.bytes
    for output in outputs:
        found[line_and_module(output["location"])[0]] += output["bytes"]
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))
