"""Traced calls while a GradManager records: one program forwards, one for the gradient."""

import functools
import math

from .. import _core, effects
from .._tree import flatten, unflatten
from ..autodiff.modes import cast_as
from ..tensor import Tensor
from .recording import NeedsDataError, Recorded, with_sizes
from .sizes import Compiled


class NoGradientError(NotImplementedError):
    """The gradient of a traced function cannot be a program."""


class TrackedCall(Recorded):
    """A recorded call that a tape follows: one operation for it, once it is differentiated.

    The backward program takes what the forward program saved, and the gradients of those results
    that get one.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.outside = self.recording.captured
        self.tracked = self.recording.captured_tracked()

    def _match(self, tensors, nodes):
        """As for any call, and the tape follows the same variables."""
        is_same = _core.tracked(self.outside) == self.tracked
        return super()._match(tensors, nodes) if is_same else None

    def held_bytes(self):
        """As for any call, with the gradient's programs."""
        return super().held_bytes() + (self.gradient.held_bytes() if self.gradient else 0)

    def wanted(self, tensors):
        """The tensors that get a gradient."""
        flags = [*_core.tracked(tensors), *self.tracked]
        pairs = zip([*tensors, *self.outside], flags, strict=True)
        return list({id(tensor): tensor for tensor, flag in pairs if flag}.values())

    def record_again(self, function, tensors, args, kwargs, move=()):
        """As for any call; also records the gradient."""
        wanted = self.wanted(tensors)
        if not wanted or move:
            return super().record_again(function, tensors, args, kwargs, move)
        if self.recording.has_data_sizes:
            raise NeedsDataError("a size in it depends on data")
        gradient = Gradient(function, tensors, args, kwargs, wanted)
        value, call = gradient.record(tensors, args, kwargs)
        call.gradient = gradient
        return value, call

    def may_serve_other_sizes(self):
        """As any call, once its gradient is recorded."""
        return super().may_serve_other_sizes() and self.checked

    def share(self, known):
        """As any recording, where both or none have a gradient, which shares its programs too."""
        if (self.gradient is None) != (known.gradient is None) or not super().share(known):
            return False
        if self.gradient is not None:
            self.gradient.share(known.gradient)
        return True

    def adopt(self, again):
        """The forward half is this call's recording from now on."""
        super().adopt(again)
        if self.gradient is None and again.gradient is not None:
            self.gradient, self.recording = again.gradient, again.recording

    def compiled(self, arguments, options, *what):
        """As for any call; the gradient's programs have its numerics and its limit of memory."""
        if options and self.gradient is not None:
            kept = ("numerics", "memory_limit", "memory_goal")
            self.gradient.options = {name: options[name] for name in kept if name in options}
        return super().compiled(arguments, options, *what)

    def rewrites(self):
        """As for any call, with the gradient's programs."""
        return super().rewrites() + (self.gradient.rewrites() if self.gradient else [])

    def kernel_choices(self):
        """As for any call, with the gradient's programs."""
        return super().kernel_choices() + (self.gradient.kernel_choices() if self.gradient else [])

    def run(self, tensors, options, value=None):
        """The call, compiled, and noted on the tape."""
        if self.gradient is None:
            return super().run(tensors, options, value)
        wanted = self.wanted(tensors)
        inputs = self.recording.values_before(tensors, wanted)
        saved = self.gradient.save_before(tensors, self.outside)
        results = self._execute(tensors, options)
        self.gradient.save_after(saved, results)
        value, outputs = self._deliver(tensors, results, value)
        outputs = self._with_returned(inputs, outputs, tensors)
        outputs += results[len(self.slots) : self.gradient.num_results]

        backward = functools.partial(self._backward, wanted, saved)
        _core.custom_function(inputs, outputs, backward)
        return value

    def _with_returned(self, inputs, outputs, tensors):
        """The outputs, where those that are inputs, too, are these: what arrives at them from
        outside comes first in their gradients' sums, as in eager."""
        if not self.same:
            return outputs
        known = {id(each) for each in inputs}
        returned = [self.returned(slot, tensors) for slot in self.slots]
        return [
            same if id(same) in known else output
            for same, output in zip(returned, outputs, strict=True)
        ]

    def _backward(self, inputs, saved, *grads):
        given = [grad for grad in grads if grad is not None]
        if any(_core.tracked([*inputs, *given])):
            raise NotImplementedError(
                "trace: the gradient of a traced call must not be recorded for a gradient of its "
                "own, got a GradManager that began after the call"
            )
        known = self.gradient.held_bytes()
        result = self.gradient.run(saved, grads)
        if self.gradient.held_bytes() != known:
            self.kept.recount(self.held_bytes())
        return result


class Gradient:
    """The backward programs of one TrackedCall: one for each choice of results with a gradient."""

    def __init__(self, function, tensors, args, kwargs, wanted):
        self._function = function
        self._leaves, self._structure = flatten((args, kwargs))
        self._wanted = [self._position(tensors, tensor) for tensor in wanted]
        self._metas = [(tensor.shape, tensor.dtype, tensor.device) for tensor in tensors]
        self._positions = [self._position(tensors, leaf) for leaf in self._leaves]
        self._leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in self._leaves]
        self._halves = {}
        self._cast = _core.autocast()
        self.num_results, self._saved = 0, []
        self.options = {}  # of its programs

    @staticmethod
    def _position(tensors, value):
        """Of an argument; the value itself when it is none."""
        return next((i for i, tensor in enumerate(tensors) if tensor is value), value)

    def record(self, tensors, args, kwargs, mask=None):
        """The result of the call and its forward half; nothing runs. `mask`: results that get a
        gradient, all by default."""
        wanted = [tensors[each] if isinstance(each, int) else each for each in self._wanted]
        value, call, half, mask = _record(self._function, tensors, args, kwargs, wanted, mask)
        if not self._halves:
            self.num_results, self._saved = len(mask), half.saved
        self._halves[mask] = half
        return value, call

    def rewrites(self):
        """Rewrites of all programs."""
        return [each for half in self._halves.values() for each in half.rewrites()]

    def kernel_choices(self):
        """Kernels of all programs."""
        return [each for half in self._halves.values() for each in half.kernel_choices()]

    def held_bytes(self):
        """Of the programs."""
        return sum(half.program_bytes() for half in self._halves.values())

    def share(self, known):
        """Its programs serve the sizes of `known` too, where that is possible."""
        for mask, half in self._halves.items():
            if mask in known._halves:
                half.share(known._halves[mask])

    def save_before(self, tensors, outside):
        """What the gradient reads of arguments and variables, as it is before the call."""
        places = (tensors, outside)
        return [
            places[kind][index].detach() if kind < len(places) else None
            for kind, index, _ in self._saved
        ]

    def save_after(self, saved, results):
        """And of the forward program's results."""
        for number, (_, index, _) in enumerate(self._saved):
            if saved[number] is None:
                saved[number] = results[index].detach()

    def run(self, saved, grads):
        """A gradient or None for each wanted tensor."""
        mask = tuple(grad is not None for grad in grads)
        if mask not in self._halves:
            self._record_again(mask)
        half = self._halves[mask]
        known = {value: tensor for (_, _, value), tensor in zip(self._saved, saved, strict=True)}
        inputs = [known[value] for _, _, value in half.saved]
        inputs += [grad for grad in grads if grad is not None]
        options = {**self.options, "beside": self._bytes_saved(saved)}
        results = half.compiled(inputs, options, "compiling a gradient")(*inputs)
        given = iter(results)
        return [next(given) if there else None for there in half.there]

    def _bytes_saved(self, saved):
        """Bytes of what the forward program saved, beside arguments and variables."""
        kept = {id(each): each for (kind, _, _), each in zip(self._saved, saved, strict=True)
                if kind > 1}  # fmt: skip
        return sum(math.prod(each.shape) * each.dtype.itemsize for each in kept.values())

    def _record_again(self, mask):
        """Other results get a gradient than before."""
        tensors = [
            _core.valueless_tensor(list(shape), dtype, str(device))
            for shape, dtype, device in self._metas
        ]
        leaves = [
            tensors[position] if isinstance(position, int) and leaf is None else leaf
            for leaf, position in zip(self._leaves, self._positions, strict=True)
        ]
        args, kwargs = unflatten(self._structure, leaves)
        with cast_as(self._cast):
            self.record(tensors, args, kwargs, mask)


class _Half(Compiled):
    """The backward half of a recording."""

    def __init__(self, recording, saved, there):
        super().__init__(recording)
        self.saved, self.there = saved, there


def _record(function, tensors, args, kwargs, wanted, mask):
    """(value, forward call, backward half, mask) of a call that does not run."""
    tapes, state = _core.StoppedTapes(), _core.GradState()
    try:
        with effects.Effects(runs=False) as seen:
            _core.trace_begin(tensors, run=False)
            try:
                state.attach(wanted)
                state.record()
                value = function(*args, **kwargs)
                value, leaves, structure, _ = with_sizes(value, False)
                seen.name_tensors()
                left, effect = _core.trace_grads(tensors)
                results = [leaf for leaf in leaves if isinstance(leaf, Tensor)] + left
                grads, mask = _differentiate(state, results, mask)
                there = [grad is not None for grad in grads]
                halves = _core.trace_end_gradient(results, [g for g in grads if g is not None])
            except BaseException as error:
                if _core.trace_abandon() or isinstance(error, NotImplementedError):
                    raise NoGradientError(str(error).removeprefix("estimate: ")) from None
                raise
            finally:
                state.release()
    finally:
        tapes.start()
    forward, backward, saved = halves
    call = Recorded(forward, effect, list(seen.lines()), structure, leaves, len(tensors))
    call.note_same(tensors, leaves)
    return value, call, _Half(backward, saved, there), mask


def _differentiate(state, results, mask):
    """The gradients of what the state follows, and which results they come from."""
    dys = _core.trace_gradient(results, mask)
    mask = tuple(dy is not None for dy in dys)
    chosen = [(y, dy) for y, dy in zip(results, dys, strict=True) if dy is not None]
    return state.backward([y for y, _ in chosen], [dy for _, dy in chosen]), mask
