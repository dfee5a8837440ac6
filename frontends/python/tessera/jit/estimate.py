"""estimate: the memory that a call takes, known before it runs."""

import json
import math
from collections import Counter
from dataclasses import dataclass

from .. import _core
from .._memory import optimizer_state
from .._page.texts import size
from .._place import line_and_module
from .._tree import flatten, unflatten
from ..tensor import Parameter, Tensor
from ..utils.progress import compiling
from .explanation.categories import Moment, bytes_by_line
from .explanation.facts import Facts
from .explanation.text import indented
from .fitting import LIMITS, compiled
from .memory_config import is_limited, memory_options, options_of_device
from .numerics import with_numerics
from .program import Program
from .recording import record
from .trace import trace

_LINES = 8  # that a printed estimate has, of each kind


@dataclass(frozen=True)
class Spec:
    """Shape and dtype of a tensor that need not exist: an argument of `estimate`. It lies on
    `device`, by default on the default one.
    """

    shape: tuple
    dtype: str = "float32"
    device: str | None = None


@dataclass(frozen=True)
class ComputedAgain:
    """Kernels or calls of one line that run again within a limit."""

    operators: str  # "mul add"
    line: str  # "train.py:12", may be empty
    count: int
    bytes: int  # of all results that they make again


@dataclass(frozen=True)
class Estimate:
    """Bytes that a call takes: `peak` beyond those that its arguments and variables hold already,
    `total` with them. Printed, it is a table.
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
    categories: tuple = ()  # (category, bytes), which add up to the total
    lines: tuple = ()  # (line, bytes) of arena and outputs at the peak, the most bytes first
    time_factor: float = 1.0  # time within the limit by time without it
    freed: int = 0  # bytes by which the limit makes the peak smaller
    computed_again: tuple = ()  # ComputedAgain, the most bytes first

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

    @property
    def by_category(self):
        """Bytes at the peak by what they are for. They add up to the total: parameters, gradients
        (those of before, of this call, and that it leaves), optimizer state, other state
        (statistics, random numbers), arguments, what is saved for the gradient, by operators and by
        loops, other temporaries, results, constants, and what is unused (gaps of the memory plan,
        rounding).
        """
        return dict(self.categories)

    @property
    def by_line(self):
        """Bytes at the peak by the user's line that made them, the most first: of temporaries and
        results. A gradient is made by the line of its `backward`.
        """
        return dict(self.lines)

    def __str__(self):
        rows = [(name, size(count)) for name, count in self.categories if count]
        rows += [("peak of the call", size(self.peak)), ("total", size(self.total))]
        lines = indented(rows, 1)
        lines += ["at the peak, by line"] if self.lines else []
        lines += _first([(line or "no line", size(count)) for line, count in self.lines])
        if self.saved_per_trip:
            lines.append(f"each trip of a loop without a bound saves {size(self.saved_per_trip)}")
        return "\n".join(lines + self._again())

    def _again(self):
        """Lines about what a limit costs."""
        if not self.computed_again:
            return []
        count = sum(each.count for each in self.computed_again)
        head = f"{count} kernels and calls run again, which frees {size(self.freed)}"
        rows = [
            (f"{each.count} x {each.operators}", each.line, size(each.bytes))
            for each in self.computed_again
        ]
        return [f"{head} at {self.time_factor:.2f} times the time", *_first(rows, 2)]


def _first(rows, texts=1):
    rest = len(rows) - _LINES
    return indented(rows[:_LINES], texts) + ([f"  {rest} more"] if rest > 0 else [])


def estimate(function, *args, memory_limit=None, **kwargs):
    """Memory that `function(*args, **kwargs)` takes when it runs traced, without running it; with
    a `memory_limit`, as in `jit.trace`, that which it takes within that, and what that costs.

    `function` is a function, a `jit.trace` or a loaded program; a tensor among the arguments may be
    a `Spec(shape, dtype)`. No operator runs: shapes and dtypes are inferred (their errors come out
    here), and parameters, optimizer state and gradients stay as they are. Sizes that depend on data
    are at their upper bounds. Tensors may lie on the device "null0", which keeps shapes only, so
    that a model larger than the machine is estimated on it.

    Returns:
        an Estimate: `.peak` is what the call adds, `.total` is with the arguments, parameters,
        gradients and the state of optimizers that are there already; `.by_category` and `.by_line`
        say what the bytes are at the peak. Within a limit `.time_factor` is the time by that
        without one, from the costs that decide what is computed again, and `.computed_again` says
        what that is; printed, it is a table

    Raises:
        ValueError: the function looks at the value of a tensor.
        MemoryError: it cannot run within the limit; the text says within which it can.

    >>> from tessera.jit import Spec, estimate
    >>> needed = estimate(lambda x: (x @ x).sum(), Spec((256, 256)))
    >>> needed.peak > 256 * 256 * 4
    True
    >>> sum(needed.by_category.values()) == needed.total
    True
    """
    args, kwargs = valueless(args, kwargs)
    options = memory_options("estimate", memory_limit)
    with compiling("estimating", is_limited(options)):
        program, call = compiled_call(function, args, kwargs, options)
        account = json.loads(program.account(with_boundaries=False))
    left = [] if call is None else account["outputs"][len(call.slots) : len(program.outputs)]
    return _estimate_of(program, account, held_by(function, call, args, kwargs), _taken(left))


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
    tensors = tensors_of(args, kwargs)
    if more or not any(name in options for name in LIMITS):
        options = {name: value for name, value in options.items() if name not in LIMITS}
        options |= more or options_of_device(tensors)
    _, call = record(function, tensors, args, kwargs, run=False, bounds=True)
    return compiled(call.recording, with_numerics(options)), call


def valueless(args, kwargs):
    """Both with tensors without values in the places of Specs."""
    leaves, structure = flatten((args, kwargs))
    leaves = [_tensor_of(leaf) if isinstance(leaf, Spec) else leaf for leaf in leaves]
    return unflatten(structure, leaves)


def _tensor_of(spec):
    return _core.valueless_tensor(list(spec.shape), spec.dtype, str(spec.device or ""))


def tensors_of(args, kwargs):
    """The tensors among arguments."""
    return [leaf for leaf in flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]


def bytes_of(tensors):
    """Bytes of all their elements."""
    return sum(math.prod(tensor.shape) * tensor.dtype.itemsize for tensor in tensors)


def held_by(function, call, args, kwargs):
    """Bytes of the arguments and variables of a call, by what they are; `call` is as
    compiled_call() gives it.
    """
    found = dict.fromkeys(("parameters", "gradients", "optimizer state", "other state"), 0)
    found["arguments"] = bytes_of(tensors_of(args, kwargs))
    if call is None:
        found["parameters"] = bytes_of(function.state_dict().values())
        return found
    captured = call.recording.captured
    states = {id(each) for each in optimizer_state()}
    grads = {id(each.grad) for each in captured if each.grad is not None}
    for tensor in captured:
        kind = "parameters" if isinstance(tensor, Parameter) else "other state"
        kind = "gradients" if id(tensor) in grads else kind
        kind = "optimizer state" if id(tensor) in states else kind
        found[kind] += bytes_of([tensor])
    return found


def _taken(outputs):
    """Bytes of outputs in memory of their own."""
    return sum(max(each["bytes"], 0) for each in outputs if not each["donated"])


def _estimate_of(program, account, held, left):
    """`left`: bytes of gradients among the outputs."""
    memory, moment = account["memory"], Moment(Facts(account))
    left = min(left, memory["outputs"])
    arena = moment.categories()
    categories = {
        **held,
        "gradients": held["gradients"] + arena.pop("gradients") + left,
        **arena,
        "results": memory["outputs"] - left,
        "constants": memory["constants"],
        "unused": memory["arena"] - sum(moment.categories().values()) + memory["rounding"],
    }
    outputs = [each for each in account["outputs"] if not each["donated"] and each["bytes"] > 0]
    return Estimate(
        **memory,
        launches=program.launches,
        **{name: held[name] for name in ("arguments", "parameters", "gradients")},
        state=held["optimizer state"] + held["other state"],
        categories=tuple(categories.items()),
        lines=tuple(bytes_by_line(moment, outputs).items()),
        **_cost_of(program.fitted),
    )


def _cost_of(fitted):
    """The fields that say what a limit changes."""
    if fitted is None:
        return {}
    counts, taken = Counter(), Counter()
    for operators, location, count in fitted["again"]:
        key = operators, line_and_module(location)[0]
        counts[key] += 1
        taken[key] += count
    again = [ComputedAgain(*key, counts[key], taken[key]) for key in counts]
    return {
        "time_factor": fitted["time_factor"],
        "freed": fitted["plain"] - fitted["taken"],
        "computed_again": tuple(sorted(again, key=lambda each: -each.bytes)),
    }
