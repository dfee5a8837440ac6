"""Calls that differ only in sizes: one program, whose dimensions are free, serves them.

Sizes below _LEAST are never free: such an axis repeats, or has nothing to compute.
"""

from .. import _core
from ..utils.progress import compiling
from .fitting import compiled
from .memory_config import is_limited

_LEAST = _core.LEAST_FREE_SIZE


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


def _get(sized, arguments, options, what):
    """The program for these arguments; None where there is none."""
    if sized.is_compiled:
        return sized.get(arguments, options)
    with compiling(what, is_limited(options)):
        return sized.get(arguments, options)


class Compiled:
    """A recording and its program: of its own, or one that serves other sizes too."""

    def __init__(self, recording):
        self.recording = recording
        self.program = None
        self.sized = None  # the _core.SizedProgram to take the program from
        self.fixed = None  # why it serves one choice of sizes

    def share(self, known):
        """Takes the program of `known`, the same recording at other sizes; False where there is
        none.
        """
        sized = _core.SizedProgram.of(known.recording, self.recording, known.sized)
        if isinstance(sized, str):
            self.fixed = known.fixed = sized
            return False
        self.sized = sized
        if known.program is None:
            known.sized = sized
        return True

    def num_free_axes(self):
        """Of the program."""
        return 0 if self.sized is None else self.sized.num_axes

    def compiled(self, arguments, options, what="compiling"):
        """The program, for these arguments."""
        if self.program is None and self.sized is not None:
            # A result has a donated argument's size in the recorded call only.
            kept = {name: value for name, value in options.items() if name != "donated"}
            self.program = _get(self.sized, arguments, kept, what)
            if self.program is None:
                self.sized, self.fixed = None, self.sized.why or "a rule needs to know a size"
        if self.program is None:
            with compiling(what, is_limited(options)):
                self.program = compiled(self.recording, options)
        return self.program

    def rewrites(self):
        """Changes that its numerics allowed the compiler, in words."""
        return [] if self.program is None else self.program.rewrites

    def kernel_choices(self):
        """Its calls of kernels that are not generated with it, in words."""
        return [] if self.program is None else self.program.kernel_choices

    def program_bytes(self):
        """What the program keeps, which counts for one of the recordings that it serves."""
        is_other = self.sized is not None and not self.sized.is_of(self.recording)
        return 0 if self.program is None or is_other else self.program.held_bytes
