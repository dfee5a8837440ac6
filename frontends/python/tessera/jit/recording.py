"""Recorded calls: what one call of a function did, and the program that does it again."""

from .. import _core, effects
from ..tensor import Tensor
from .tree import flatten, unflatten

_RECORDING, _OPERATOR = 4096, 512  # bytes


class NeedsDataError(ValueError):
    """Nothing ran, and an operator's shapes depend on data."""


class Recorded:
    """One recorded call: its program, results and effects."""

    def __init__(self, recording, replay, structure, leaves, num_arguments):
        self.recording, self.replay, self.structure = recording, replay, structure
        self.num_arguments = num_arguments
        self.leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        self.slots = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        self.program = None
        self.checked = False  # against a second recording
        self.gradient = None  # of a call that a tape follows
        self.eager = False  # it cannot be a program

    def held_bytes(self):
        """What it keeps: of the recording an estimate."""
        program = 0 if self.program is None else self.program.held_bytes
        return _RECORDING + _OPERATOR * self.recording.num_ops + program

    def holds(self, tensors):
        """The Python state and the tensors from outside are as they were."""
        return self.replay.holds(tensors) and self.recording.holds()

    def record_again(self, function, tensors, args, kwargs):
        """As record(), without running."""
        return record(function, tensors, args, kwargs, run=False)

    def adopt(self, again):
        """`again` is the same call, recorded a second time."""
        self.checked = True

    def run(self, tensors, options, value=None):
        """The call, compiled. `value` is the result of a call that was recorded only: its tensors
        get the values."""
        return self._deliver(tensors, self._execute(tensors, options), value)[0]

    def _execute(self, tensors, options):
        if self.program is None:
            self.program = self.recording.compile(options)
        self.replay.prepare(tensors)
        return self.program(*tensors)

    def _deliver(self, tensors, results, value):
        """The result around its tensors, and those."""
        count = len(self.slots)
        self.replay.apply(tensors, results[count:])
        leaves = list(self.leaves) if value is None else flatten(value)[0]
        for slot, result in zip(self.slots, results[:count], strict=True):
            leaves[slot] = result if value is None else _core.give_value(leaves[slot], result)
        return unflatten(self.structure, leaves), [leaves[slot] for slot in self.slots]


def record(function, tensors, args, kwargs, run=True, kind=Recorded):
    """The result of `function(*args, **kwargs)` and the Recorded call; `tensors` are its arguments.

    Without `run` no operator runs: shapes and dtypes are inferred, and variables and gradients are
    as before when it ends. NeedsDataError: that is not possible. None for the call when it has
    parts that are left out.
    """
    results, replay = [], None
    with effects.Effects(tensors, runs=run) as seen:
        _core.trace_begin(tensors, run=run)
        try:
            value = function(*args, **kwargs)
            if seen.excluded:
                return value, None
            leaves, structure = flatten(value)
            grads, replay = seen.finish()
            results = [leaf for leaf in leaves if isinstance(leaf, Tensor)] + grads
        except BaseException as error:
            needs_data = _core.trace_abandon()
            if not run:
                (replay or seen.finish()[1]).undo(tensors)
            if needs_data:
                raise NeedsDataError(str(error)) from None
            raise
        recording = _core.trace_end(results)
        if not run:
            replay.undo(tensors)
    return value, kind(recording, replay, structure, leaves, len(tensors))
