"""estimate: the memory that a call takes, known before it runs."""

import math
from dataclasses import dataclass

from .. import _core
from .._tree import flatten, unflatten
from ..tensor import Parameter, Tensor
from ..utils.progress import compiling
from .memory_config import is_limited, memory_options
from .numerics import with_numerics
from .program import Program
from .recording import record
from .trace import trace


@dataclass(frozen=True)
class Spec:
    """Shape and dtype of a tensor that need not exist: an argument of `estimate`."""

    shape: tuple
    dtype: str = "float32"


@dataclass(frozen=True)
class Estimate:
    """Bytes that a call takes: `peak` beyond those that its arguments and variables hold already,
    `total` with them.
    """

    arena: int  # temporaries, by the memory plan
    outputs: int  # results that do not take over a variable's memory
    constants: int
    rounding: int  # bytes that the allocator adds to arena and outputs
    launches: int  # kernels, library calls and copies
    saved_per_trip: int = 0  # what a trip of each while_loop without max_trips saves for a gradient
    arguments: int = 0  # tensors that the call is given
    parameters: int = 0  # that it uses; of a loaded program all its state
    gradients: int = 0  # that parameters have before it; those that it leaves are among the outputs
    state: int = 0  # other tensors from outside: those of optimizers, statistics, random numbers

    @property
    def peak(self):
        """The most bytes that the call holds at once, without those of `saved_per_trip`: memory
        for them grows as such a loop goes on, to three times that for each of its trips.
        """
        return self.arena + self.outputs + self.constants + self.rounding

    @property
    def total(self):
        """The most bytes that there are during the call: its peak, arguments and variables."""
        return self.peak + self.arguments + self.parameters + self.gradients + self.state

    def __str__(self):
        """A line for each part, in MiB."""
        parts = ("arguments", "parameters", "gradients", "state", "arena", "outputs", "constants",
                 "rounding", "peak", "total")  # fmt: skip
        return "\n".join(f"{name:10} {getattr(self, name) / (1 << 20):10.2f} MiB" for name in parts)


def estimate(function, *args, memory_limit=None, **kwargs):
    """Memory that `function(*args, **kwargs)` takes when it runs traced, without running it; with
    a `memory_limit`, as in `jit.trace`, that which it takes within that.

    `function` is a function, a `jit.trace` or a loaded program; a tensor among the arguments may be
    a `Spec(shape, dtype)`. No operator runs: shapes and dtypes are inferred (their errors come out
    here), and parameters, optimizer state and gradients stay as they are. Sizes that depend on data
    are at their upper bounds.

    Returns:
        an Estimate: `.peak` is what the call adds, `.total` is with the arguments, parameters,
        gradients and the state of optimizers that are there already; printed, it is a table

    Raises:
        ValueError: the function looks at the value of a tensor.
        MemoryError: it cannot run within the limit; the text says within which it can.

    >>> from tessera.jit import Spec, estimate
    >>> estimate(lambda x: (x @ x).sum(), Spec((256, 256))).peak > 256 * 256 * 4
    True
    """
    args, kwargs = valueless(args, kwargs)
    options = memory_options("estimate", memory_limit)
    with compiling("estimating", is_limited(options)):
        program, call = compiled_call(function, args, kwargs, options)
    if call is None:
        held = {"parameters": _bytes_of(function.state_dict().values())}
    else:
        held = _held_by(call.recording.captured)
    return _estimate_of(program, args, kwargs, held)


def compiled_call(function, args, kwargs, more=None):
    """The program of `function(*args, **kwargs)` bound to its sizes, and the call, recorded without
    running; None for the call of a loaded program. `more`: further options of the program.
    """
    args, kwargs = valueless(args, kwargs)
    if isinstance(function, Program):
        return function.bind(*args, **kwargs), None
    options = {}
    if isinstance(function, trace):
        function, options = function.function, function.options
    _, call = record(function, _tensors_of(args, kwargs), args, kwargs, run=False, bounds=True)
    return call.recording.compile(with_numerics({**options, **(more or {})})), call


def valueless(args, kwargs):
    """Both with tensors without values in the places of Specs."""
    leaves, structure = flatten((args, kwargs))
    leaves = [_tensor_of(leaf) if isinstance(leaf, Spec) else leaf for leaf in leaves]
    return unflatten(structure, leaves)


def _tensor_of(spec):
    return _core.valueless_tensor(list(spec.shape), spec.dtype)


def _tensors_of(args, kwargs):
    return [leaf for leaf in flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]


def _bytes_of(tensors):
    return sum(math.prod(tensor.shape) * tensor.dtype.itemsize for tensor in tensors)


def _held_by(captured):
    """Bytes of a call's tensors from outside, by what they are."""
    parameters = [tensor for tensor in captured if isinstance(tensor, Parameter)]
    grads = {id(each.grad) for each in captured if each.grad is not None}
    gradients = [tensor for tensor in captured if id(tensor) in grads]
    held = {"parameters": _bytes_of(parameters), "gradients": _bytes_of(gradients)}
    return {**held, "state": _bytes_of(captured) - sum(held.values())}


def _estimate_of(program, args, kwargs, held):
    arguments = _bytes_of(_tensors_of(args, kwargs))
    return Estimate(**program.memory, launches=program.launches, arguments=arguments, **held)
