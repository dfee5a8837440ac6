"""Calls that differ only in sizes: one program, whose dimensions are free, serves them.

A size of 0 or 1 is never free: such an axis repeats, or has nothing to compute.
"""

from .. import _core
from ..utils.progress import compiling

_LEAST = 2


def without_sizes(signature):
    """The signature of all calls that differ from this one in sizes of tensors only."""
    structure, *leaves, identity = signature
    return structure, *map(_without_sizes, leaves), identity


def _without_sizes(leaf):
    dtype, *rest = leaf if isinstance(leaf, tuple) else (leaf,)
    if isinstance(dtype, type) or len(rest) != 1 or not isinstance(rest[0], tuple):
        return leaf  # no tensor's
    return dtype, tuple(None if size >= _LEAST else size for size in rest[0])


def nearest(calls, key, tensors):
    """Of recorded calls the one whose program a call of the signature `key` may share, with other
    sizes and the most free axes; None: there is none.
    """
    sizeless, found = without_sizes(key), []
    for call in calls:
        is_other = call.sizeless == sizeless and call.key != key
        if is_other and call.may_serve_other_sizes() and call.match(tensors) is not None:
            found.append(call)
    return max(found, key=lambda each: each.num_free_axes(), default=None)


class SizedProgram:
    """The program of recordings that differ in sizes at `axes`, (argument, axis); compiled from the
    latest of them when it is first asked for.
    """

    def __init__(self, recording, axes):
        self.recording, self.axes = recording, frozenset(axes)
        self.program = self.why = None  # `why`: the reason that there is none

    @classmethod
    def of(cls, first, second, known=None):
        """For both recordings, and those that `known` serves; it may be the answer. A text: why
        no program serves them.
        """
        axes = _core.difference_in_sizes(first, second)
        if isinstance(axes, str):
            return axes
        if known is not None and known.axes.issuperset(axes):
            return known
        return cls(second, {*axes, *(known.axes if known is not None else ())})

    def get(self, arguments, options, what="compiling"):
        """The program, bound to the sizes of the arguments; None where it cannot be."""
        if self.why is None and self.program is None:
            try:
                with compiling(what):
                    self.program = self.recording.compile({**options, "dims": self._dims()})
            except (ValueError, NotImplementedError) as error:
                self.why = str(error)
        return self.program if self.program is not None and self._fits(arguments) else None

    def _fits(self, arguments):
        try:
            self.program.bind(arguments)
        except (ValueError, NotImplementedError):
            return False  # a rule needs to know a size
        return True

    def _dims(self):
        return [(*axis, f"d{number}", _LEAST, -1) for number, axis in enumerate(sorted(self.axes))]


class Compiled:
    """A recording and its program: of its own, or one that serves other sizes too."""

    def __init__(self, recording):
        self.recording = recording
        self.program = None
        self.sized = None  # the SizedProgram to take the program from
        self.fixed = None  # why it serves one choice of sizes

    def share(self, known):
        """Takes the program of `known`, the same recording at other sizes; False where there is
        none.
        """
        sized = SizedProgram.of(known.recording, self.recording, known.sized)
        if isinstance(sized, str):
            self.fixed = known.fixed = sized
            return False
        self.sized = sized
        if known.program is None:
            known.sized = sized
        return True

    def num_free_axes(self):
        """Of the program."""
        return 0 if self.sized is None else len(self.sized.axes)

    def compiled(self, arguments, options, what="compiling"):
        """The program, for these arguments."""
        if self.program is None and self.sized is not None:
            # A result has a donated argument's size in the recorded call only.
            kept = {name: value for name, value in options.items() if name != "donated"}
            self.program = self.sized.get(arguments, kept, what)
            if self.program is None:
                self.sized, self.fixed = None, self.sized.why or "a rule needs to know a size"
        if self.program is None:
            with compiling(what):
                self.program = self.recording.compile(options)
        return self.program

    def program_bytes(self):
        """What the program keeps, which counts for one of the recordings that it serves."""
        is_other = self.sized is not None and self.sized.recording is not self.recording
        return 0 if self.program is None or is_other else self.program.held_bytes
