"""estimate: the memory that a call takes, known before it runs."""

from dataclasses import dataclass

from .. import _core
from .._tree import flatten, unflatten
from ..tensor import Tensor
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
    """Bytes that a call takes beyond those that its arguments and variables hold already."""

    arena: int  # temporaries, by the memory plan
    outputs: int  # results that do not take over a variable's memory
    constants: int
    rounding: int  # bytes that the allocator adds to arena and outputs
    launches: int  # kernels, library calls and copies
    saved_per_trip: int = 0  # what a trip of each while_loop without max_trips saves for a gradient

    @property
    def peak(self):
        """The most bytes that the call holds at once, without those of `saved_per_trip`: memory
        for them grows as such a loop goes on, to three times that for each of its trips.
        """
        return self.arena + self.outputs + self.constants + self.rounding


def estimate(function, *args, **kwargs):
    """What `function(*args, **kwargs)` takes when it runs traced, without running it.

    `function` is a function, a `jit.trace` or a loaded program; a tensor among the arguments may be
    a `Spec(shape, dtype)`. No operator runs: shapes and dtypes are inferred (their errors come out
    here), and parameters, optimizer state and gradients stay as they are. Sizes that depend on data
    are at their upper bounds.

    Raises:
        ValueError: the function looks at the value of a tensor.

    >>> from tessera.jit import Spec, estimate
    >>> estimate(lambda x: (x @ x).sum(), Spec((256, 256))).peak > 256 * 256 * 4
    True
    """
    args, kwargs = valueless(args, kwargs)
    if isinstance(function, Program):
        return _estimate_of(function.bind(*args, **kwargs))
    options = {}
    if isinstance(function, trace):
        function, options = function.function, function.options
    tensors = [leaf for leaf in flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
    _, call = record(function, tensors, args, kwargs, run=False, bounds=True)
    return _estimate_of(call.recording.compile(options))


def valueless(args, kwargs):
    """Both with tensors without values in the places of Specs."""
    leaves, structure = flatten((args, kwargs))
    leaves = [_tensor_of(leaf) if isinstance(leaf, Spec) else leaf for leaf in leaves]
    return unflatten(structure, leaves)


def _tensor_of(spec):
    return _core.valueless_tensor(list(spec.shape), spec.dtype)


def _estimate_of(program):
    return Estimate(**program.memory, launches=program.launches)
