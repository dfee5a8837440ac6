"""Recorded calls: what one call of a function did, and the program that does it again."""

import copy
from collections import Counter

from .. import _core, effects
from .._tree import flatten, unflatten
from ..autodiff.modes import cast_as
from ..core.symint import SymInt
from ..tensor import Tensor
from .sizes import Compiled

_TENSOR = object()
_FORGIVEN = 4  # changes of Python state without effect until it is compared no more


class NeedsDataError(ValueError):
    """Nothing ran, and the function needs values: shapes depend on data, or a tensor changes its
    device.
    """


class AliasError(RuntimeError):
    """A recording took a variable from outside for an argument: it fits no other arguments."""


class Recorded(Compiled):
    """One recorded call: its program, results and effects."""

    def __init__(self, recording, grads, modes, structure, leaves, num_arguments):
        super().__init__(recording)
        self.grads, self.modes = grads, modes
        self.structure, self.num_arguments = structure, num_arguments
        self.leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        self.slots = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        self.sizes = ()  # slots of sizes that data decides
        self.same = {}  # by slot the number of an argument, or the tensor from outside, that it is
        self.checked = False  # whether a second recording has confirmed it
        self.gradient = None  # the program of a call that a tape follows
        self.key = self.kept = None  # the signature, and the place among all that traces keep
        self.sizeless = None  # the signature but for sizes
        self.eager = False  # whether the call cannot be a program
        self.state = None  # the Python state that it read
        self.changes_python = False  # whether it changed any, and has run once only
        self.why = None  # in words, why it was recorded beside others
        self.misses = Counter()  # changes of that state that had no effect here
        self.identity = None  # which tensors it serves
        self.arguments = None  # (args, kwargs) flattened, _TENSOR in the places of tensors
        self.cast = _core.autocast()  # around the call

    def held_bytes(self):
        """What it keeps: of the recording an estimate."""
        return self.recording.held_bytes + self.program_bytes()

    def begin(self, state, tensors, arguments):
        """It was recorded just now, for these."""
        self.state, self.identity = state, _core.ArgumentIdentity(tensors)
        self.changes_python = bool(state.effects)
        leaves, structure = flatten(arguments)
        leaves = [_TENSOR if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        self.arguments = structure, leaves

    def match(self, tensors):
        """None unless the recorded call is what Python would do now; else whether that is certain:
        no argument was used as a variable from outside.
        """
        return self._match(tensors, self.state.nodes)

    def fits(self, tensors):
        """It is, but for Python's state."""
        return self._match(tensors, []) is not None

    def _match(self, tensors, nodes):
        return self.identity.match(self.recording, self.grads, tensors, nodes)

    def forgive(self, state):
        """`state` is another Python state that recorded the same. What changed so often that it
        counts no more.
        """
        changed = {path for path, _, _ in self.state.changes()}
        self.misses.update(changed)
        state.ignore(self.forgiven())
        self.state = state
        return sorted(path for path in changed if self.misses[path] == _FORGIVEN)

    def record_again(self, function, tensors, args, kwargs, move=()):
        """As record(), without running. Sizes that data decides are those of this call, moved
        by `move`.
        """
        like = self.recording if self.recording.has_data_sizes else None
        return record(function, tensors, args, kwargs, run=False, like=like, move=move)

    def why_fixed_by_data(self, function, tensors, args, kwargs):
        """Why the recording holds only where data decides sizes as it did; None: it holds for
        others, too.
        """

        def _moved(move):
            return self.record_again(function, tensors, args, kwargs, move)[1].recording

        return _core.why_fixed_by_data(self.recording, _moved)

    def why_data_forbids(self, options, *call):
        """Why no program serves the call with whatever sizes data decides; None: one does, which
        is compiled with `options`, unless these are None.
        """
        why = self.why_fixed_by_data(*call)
        if why or options is None or not self.recording.has_data_sizes:
            return why
        try:
            self.compiled(call[1], options)
        except (ValueError, NotImplementedError) as error:
            return str(error)
        return None

    def check_free(self, name, function, dims):
        """ValueError when the call depends on the size of a dimension that `dims` frees: (argument,
        axis, name, min, max or -1). The function is recorded again at other sizes, by inference.
        """

        def _at(tensors):
            args, kwargs = self.given(tensors)
            sizes = {"bounds": True, "like": self.recording}
            return record(function, tensors, args, kwargs, run=False, **sizes)[1].recording

        with cast_as(self.cast):
            _core.check_free(self.recording, self.identity, name, dims, _at)

    def check_data(self, name, function):
        """ValueError when no program is the call, or only for the sizes that data decided in it."""
        if why := self.recording.why_eager:
            raise ValueError(f"dump: {name} must be a program, got one that runs eagerly: {why}")
        tensors = self.recording.valueless_arguments()
        with cast_as(self.cast):
            why = self.why_fixed_by_data(function, tensors, *self.given(tensors))
        if why := why or self.recording.why_taken_for_equal:
            raise ValueError(f"dump: {name} must hold for all sizes that depend on data, got {why}")

    def given(self, tensors):
        """The arguments of the call with `tensors` in the places of its own."""
        structure, leaves = self.arguments
        given = iter(tensors)
        return unflatten(structure, [next(given) if leaf is _TENSOR else leaf for leaf in leaves])

    def taking(self, again):
        """This call with what `again`, a recording of it at other sizes, wrote down."""
        call = copy.copy(self)
        for name in ("recording", "grads", "modes", "structure", "leaves", "slots", "gradient",
                     "sizes", "same"):  # fmt: skip
            setattr(call, name, getattr(again, name))
        return call

    def resized(self, again, tensors):
        """`again`, this call at the sizes of `tensors`, as a recorded call of its own that shares
        the program; None where no program serves both.
        """
        call = self.taking(again)
        call.program = call.sized = None
        call.misses = Counter()
        if not call.share(self):
            return None
        self.identity.learn(tensors)
        call.identity, call.checked = self.identity.copy(), True
        return call

    def share(self, known):
        """As any recording, where the effects besides operators are the same."""
        if (self.modes, self.grads.lines()) == (known.modes, known.grads.lines()):
            return super().share(known)
        self.fixed = known.fixed = "what it does to gradients and modules follows from sizes"
        return False

    def may_serve_other_sizes(self):
        """As far as is known: of sizes that data decides, once the call has been checked."""
        is_known = self.checked or not self.recording.has_data_sizes
        return is_known and self.fixed is None and not self.eager

    def forgiven(self):
        """Paths to Python state whose changes had no effect often enough."""
        return {path for path, count in self.misses.items() if count >= _FORGIVEN}

    def confirm(self, again, state):
        """`again` is the same call, whose Python state counts from now on."""
        state.ignore(self.forgiven())
        self.state = state
        self.adopt(again)

    def adopt(self, again):
        """`again` is the same call, recorded a second time."""
        self.checked = True

    def run(self, tensors, options, value=None):
        """The call, compiled. `value` is the result of a call that was recorded only: its tensors
        get the values."""
        return self._deliver(tensors, self._execute(tensors, options), value)[0]

    def _execute(self, tensors, options):
        program = self.compiled(tensors, options)
        self.grads.prepare(tensors)
        return program(*tensors)

    def _deliver(self, tensors, results, value):
        """The result around its tensors, and the program's tensors."""
        count = len(self.slots)
        self.grads.apply(tensors, results[count:])
        leaves = list(self.leaves) if value is None else flatten(value)[0]
        outputs = list(results[:count])
        for number, slot in enumerate(self.slots):
            same = self.returned(slot, tensors)
            if same is not None:
                leaves[slot] = same
            elif value is None:
                leaves[slot] = outputs[number]
            else:
                leaves[slot] = outputs[number] = _core.give_value(leaves[slot], outputs[number])
        for slot in self.sizes:
            leaves[slot] = leaves[slot].item()
        return unflatten(self.structure, leaves), outputs

    def returned(self, slot, tensors):
        """The argument, or the tensor from outside, that the result is; None: it is a new one."""
        same = self.same.get(slot)
        return tensors[same] if isinstance(same, int) else same

    def forget_same(self, arguments):
        """Results are other tensors than these arguments."""
        gone = [i for i, same in self.same.items() if isinstance(same, int) and same in arguments]
        for slot in gone:
            del self.same[slot]

    def note_same(self, tensors, leaves):
        """Results that are arguments, or tensors from outside, are these in each call."""
        known = {id(tensor): tensor for tensor in self.recording.captured}
        known |= {id(tensor): number for number, tensor in enumerate(tensors)}
        self.same = {
            slot: known[id(leaves[slot])] for slot in self.slots if id(leaves[slot]) in known
        }


def record(function, tensors, args, kwargs, run=True, kind=Recorded, **sizes):
    """The result of `function(*args, **kwargs)` and the Recorded call; `tensors` are its arguments.

    Without `run` no operator runs: shapes and dtypes are inferred, and variables and gradients are
    as before when it ends. Sizes that depend on data are at their upper bounds with `bounds`, if
    they have any, else those of the recording `like`, moved by `move`, where that is given. With
    `reads` the function may look at values of its tensors, and the call is none of a program then.
    NeedsDataError: that is not possible. None for the call when it has parts that are left out.
    """
    with effects.Effects(run) as seen:
        _core.trace_begin(tensors, run=run, **sizes)
        try:
            value = function(*args, **kwargs)
            if seen.excluded:
                return value, None
            value, leaves, structure, sizes = with_sizes(value, run)
            seen.name_tensors()
            left, grads = _core.trace_grads(tensors)
        except BaseException as error:
            if _core.trace_abandon():
                raise NeedsDataError(str(error)) from None
            raise
        results = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        recording = _core.trace_end(results + left)
    call = kind(recording, grads, list(seen.lines()), structure, leaves, len(tensors))
    call.sizes = sizes
    call.note_same(tensors, leaves)
    return value, call


def with_sizes(value, run):
    """(value, leaves, structure, slots) of a function's result: sizes of arguments are ints, and
    those that data decides, at the `slots`, tensors among the leaves; in the value they are ints
    where the function did `run`.
    """
    leaves, structure = flatten(value)
    numbers = [i for i, leaf in enumerate(leaves) if type(leaf) is SymInt]
    if not numbers:
        return value, leaves, structure, ()
    known = {i: leaves[i]._value for i in numbers}
    slots = [i for i in numbers if leaves[i]._is_of_data]
    for i in numbers:
        leaves[i] = Tensor(leaves[i]) if i in slots else known[i]
    given = [known[i] if run and i in known else leaf for i, leaf in enumerate(leaves)]
    return unflatten(structure, given), leaves, structure, slots
