"""Loops: Python's own where nothing is recorded, one operator of a program where a trace is."""

from .. import _core
from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._tree import tensor_leaves as _leaves
from .._tree import unflatten as _unflatten
from ..core.symint import SymInt as _SymInt
from ._making import made as _made

__all__ = ["cond", "scan", "while_loop"]


def scan(step, carried, xs=None, length=None, reverse=False):
    """Applies `step(carried, x) -> (carried, y)` to each element of `xs` along axis 0.

    As Python's loop does, which it is where nothing is traced; in a traced function it is one
    operator, however many trips there are. Where a step returns what data gave its size (`x[mask]`)
    it is the operators of every trip, and with more than 256 trips, or where a step looks at such a
    size as a number, the function runs eagerly. What a step reads from outside and changes (a
    running mean, the state of random numbers) goes from trip to trip as it does in a loop. What
    the trips read has a gradient, zeros where no trip that the loss depends on needs it.

    Args:
        step: gets what the step before returned as `carried`, with dtypes and shapes that stay,
            and an element of each tensor in `xs` (None without xs); `y` may be None
        carried: for the first step: a tensor, or tuples, lists and dicts of tensors
        xs: the same; the size of axis 0 is the number of steps
        length: the number of steps where there are no xs
        reverse: the last element comes first; each y stands where its x does

    Returns:
        what the last step carried, and the ys, stacked along a new axis 0

    Raises:
        ValueError: xs must have one size of axis 0; a step must return carried values with the
            dtypes and shapes that it takes
        TypeError: carried and xs must be made of tensors; a step must return a pair

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> numbers = ts.tensor([1.0, 2.0, 3.0])
        >>> total, sums = F.scan(lambda s, x: (s + x, s), ts.tensor(0.0), numbers)
        >>> total.item(), sums.tolist()
        (6.0, [0.0, 1.0, 3.0])
    """
    return _Loop(step, carried, xs, length).run(reverse)


def cond(pred, then, orelse, *operands):
    """`then(*operands)` where `pred` is true, else `orelse(*operands)`.

    In a traced function both are parts of the program, of which a run takes one: the other computes
    nothing, draws no random numbers and changes no variable. One that looks at a size that data
    decides, or returns such, runs eagerly. Where nothing is traced it is Python's `if`: what only
    the other branch reads has no gradient then, and zeros in a traced function.

    Args:
        pred: bool[]
        then, orelse: functions that return tensors, or tuples, lists and dicts of them, of the same
            containers, dtypes and shapes
        operands: what they are called with

    Returns:
        what the chosen function returns

    Raises:
        ValueError: pred must have rank 0; both must return the same dtypes and shapes
        TypeError: pred must be a bool; both must return tensors, in the same containers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> x = ts.tensor(-3.0)
        >>> F.cond(x > 0, lambda x: x, lambda x: -x, x).item()
        3.0
    """
    _check_tensor("cond", "pred", pred)
    structures = []

    def _branch(function):
        leaves, structure = _leaves("cond", "results", function(*operands))
        structures.append(structure)
        if structures[0] != structure:
            raise TypeError(
                f"cond: both branches must return the same containers, got {structures[0]} and "
                f"{structure}"
            )
        return leaves

    results = _core.cond(pred, lambda: _branch(then), lambda: _branch(orelse))
    return _unflatten(structures[0], results)


def while_loop(cond, body, *carried, max_trips=None):
    """Applies `body` to what it returned before as long as `cond` of it is true.

    In a traced function it is a loop of the program. Without `max_trips` it may go on for ever, as
    Python's `while`, which it is where nothing is traced; Ctrl-C ends it. What its trips save for a
    gradient is planned for `max_trips` of them, or grows as the loop goes on.

    Args:
        cond: a function of the carried values that returns bool[]
        body: a function of the carried values that returns them anew, as one value or a tuple
        carried: for the first call: tensors, or tuples, lists and dicts of them
        max_trips: how often body is called at most

    Returns:
        the carried values at the end: one, or a tuple

    Raises:
        ValueError: cond must return rank 0; body must return carried values with the dtypes and
            shapes that it takes; max_trips must be at least 0, and be given in a traced function
            for gradients of third order, and for those of two gradients through the same loop
        TypeError: cond must return a bool; carried must be made of tensors
        MemoryError: there is no memory for what another trip saves

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.while_loop(lambda n: n < 100, lambda n: n * 2, ts.tensor(3)).item()
        192
    """
    leaves, structure = _leaves("while_loop", "carried", carried)

    def _holds(values):
        pred = cond(*_unflatten(structure, values))
        _check_tensor("while_loop", "the result of cond", pred)
        return pred

    def _next(values):
        new = body(*_unflatten(structure, values))
        new = new if len(carried) != 1 else (new,)
        made, own = _leaves("while_loop", "results of body", new)
        if own != structure:
            raise TypeError(
                f"while_loop: body must return carried values in the containers that it takes, got "
                f"{new!r}"
            )
        return made

    values = _core.while_loop(_holds, _next, leaves, max_trips)
    result = _unflatten(structure, values)
    return result[0] if len(carried) == 1 else result


def _check_tensor(name, what, pred):
    if not isinstance(pred, _Tensor):
        raise TypeError(f"{name}: {what} must be a bool tensor, got {pred!r}")


class _Loop:
    """One call of scan: containers around lists of tensors."""

    def __init__(self, step, carried, xs, length):
        self.step, self.length = step, length
        self.carried, self.structure = _leaves("scan", "carried", carried)
        self.xs, self.x_structure = ([], None) if xs is None else _leaves("scan", "xs", xs)
        self.num_xs, self.y_structure = len(self.xs), None
        if isinstance(length, _SymInt):  # a size of one more of the xs, which the step does not see
            self.xs, self.length = [*self.xs, self._marks(length)], None

    def _marks(self, length):
        device = self.carried[0].device if self.carried else None
        return _made(device, _ops.full, (length,), 0, "bool")

    def apply(self, carried, xs):
        """The leaves of what one step returns for these."""
        x = None if self.x_structure is None else _unflatten(self.x_structure, xs[: self.num_xs])
        result = self.step(_unflatten(self.structure, carried), x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"scan: step must return carried values and y, got {result!r}")
        new, structure = _leaves("scan", "carried values of a step", result[0])
        if structure != self.structure:
            raise TypeError(
                f"scan: step must return carried values in the containers that it takes, got "
                f"{result[0]!r}"
            )
        no_y = result[1] is None
        ys, self.y_structure = ([], None) if no_y else _leaves("scan", "y", result[1])
        return new, ys

    def run(self, reverse):
        """What scan returns."""
        carried, ys = _core.scan(self.apply, self.carried, self.xs, self.length, reverse)
        stacked = None if self.y_structure is None else _unflatten(self.y_structure, ys)
        return _unflatten(self.structure, carried), stacked
