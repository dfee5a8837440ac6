"""Loops: Python's own where nothing is recorded, one operator of a program where a trace is."""

import contextlib

from .. import _core
from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._tree import tensor_leaves as _leaves
from .._tree import unflatten as _unflatten
from ..core.symint import SymInt as _SymInt
from ._loop_values import apart as _apart
from ._loop_values import enter as _enter
from ._loop_values import is_written_down as _is_written_down
from ._loop_values import leave as _leave
from ._loop_values import stack as _stack
from ._making import made as _made

__all__ = ["cond", "scan", "while_loop"]

# Of a loop that is recorded trip by trip; compiling takes some tenths of a millisecond for each.
_MOST_TRIPS = 256


def scan(step, carried, xs=None, length=None, reverse=False):
    """Applies `step(carried, x) -> (carried, y)` to each element of `xs` along axis 0.

    As Python's loop does, which it is where nothing is traced; in a traced function it is one
    operator, however many trips there are. Where a step returns what data gave its size (`x[mask]`)
    it is the operators of every trip, and with more than 256 trips, or where a step looks at such a
    size as a number, the function runs eagerly. What a step reads from outside and changes (a
    running mean, the state of random numbers) goes from trip to trip as it does in a loop.

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
        >>> from tessera import tensor
        >>> total, sums = scan(lambda s, x: (s + x, s), tensor(0.0), tensor([1.0, 2.0, 3.0]))
        >>> total.item(), sums.tolist()
        (6.0, [0.0, 1.0, 3.0])
    """
    loop = _Loop(step, carried, xs, length, reverse)
    return loop.record() if _is_written_down(loop.carried + loop.xs) else loop.run()


def cond(pred, then, orelse, *operands):
    """`then(*operands)` where `pred` is true, else `orelse(*operands)`.

    In a traced function both are parts of the program, of which a run takes one: the other computes
    nothing, draws no random numbers and changes no variable. One that looks at a size that data
    decides, or returns such, runs eagerly. Where nothing is traced it is Python's `if`.

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
        >>> from tessera import tensor
        >>> x = tensor(-3.0)
        >>> cond(x > 0, lambda x: x, lambda x: -x, x).item()
        3.0
    """
    _check_pred("cond", "pred", pred)
    if _is_written_down([pred]):
        with contextlib.suppress(_StepMustRunError):
            otherwise = _ops.logical_not(pred)
            return _joined(_branch(pred, then, operands), _branch(otherwise, orelse, operands))
    chosen = then if _is_true(pred) else orelse
    leaves, structure = _leaves("cond", "results", chosen(*operands))
    return _unflatten(structure, _apart(leaves))


def _branch(pred, function, operands):
    """(a scan of one trip if pred is true, what the function returns as leaves, structure)."""
    scan, structures = _core.Scan([pred], [], 1, guarded=True), []

    def _step(goes_on):
        leaves, structure = _leaves("cond", "results", function(*operands))
        structures.append(structure)
        return [goes_on], leaves

    return scan, _recorded(scan, _step)[1], structures[0]


def _joined(then, orelse):
    """Both branches, one after the other: the one that is not taken leaves the results alone."""
    _check_branches(then[1:], orelse[1:])
    results = then[0].zeros()
    for scan, _, _ in (then, orelse):
        results = scan.apply(results)[1:]
    return _unflatten(then[2], results)


def _check_branches(then, orelse):
    if then[1] != orelse[1]:
        raise TypeError(
            f"cond: both branches must return the same containers, got {then[1]} and {orelse[1]}"
        )
    metas = [
        [f"{leaf._dtype_key}{list(map(int, leaf.shape))}" for leaf in each[0]]
        for each in (then, orelse)
    ]
    if metas[0] != metas[1]:
        raise ValueError(
            f"cond: both branches must return the same dtypes and shapes, got {metas[0]} and "
            f"{metas[1]}"
        )


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
        >>> from tessera import tensor
        >>> while_loop(lambda n: n < 100, lambda n: n * 2, tensor(3)).item()
        192
    """
    if max_trips is not None and max_trips < 0:
        raise ValueError(f"while_loop: max_trips must be at least 0, got {max_trips}")
    leaves, structure = _leaves("while_loop", "carried", carried)

    def _holds(values):
        pred = cond(*_unflatten(structure, values))
        _check_pred("while_loop", "the result of cond", pred)
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
        _core.scan_check(values, made, "while_loop", "body")
        return made

    limit = _core.MANY_TRIPS if max_trips is None else max_trips
    values = _while(_holds, _next, leaves, limit)
    result = _unflatten(structure, values)
    return result[0] if len(carried) == 1 else result


def _while(holds, following, values, limit):
    if _is_written_down(values):
        with contextlib.suppress(_StepMustRunError):
            return _while_recorded(holds, following, values, limit)
    (values, _), trips = _enter(values, []), 0
    while trips < limit and _is_true(holds(values)):
        values, trips = _apart(following(values)), trips + 1
    return _leave(values, [])[0]


def _while_recorded(holds, following, values, limit):
    """The guard is the number of trips made, and one more where cond holds."""
    start = _ops.astype(holds(values), "int64")
    scan = _core.Scan([start, *values], [], limit, guarded=True)

    def _step(trips, *args):
        new = following(list(args))
        return [trips + holds(new), *new], []

    _recorded(scan, _step)
    return scan.apply()[1:]


def _check_pred(name, what, pred):
    if not isinstance(pred, _Tensor) or pred.dtype.name != "bool":
        raise TypeError(f"{name}: {what} must be a bool tensor, got {pred!r}")
    if pred.shape:
        raise ValueError(f"{name}: {what} must have rank 0, got bool{list(pred.shape)}")


class _StepMustRunError(ValueError):
    """No body does what a step did: it looked at a size that data decides, or returned such."""


def _recorded(scan, step):
    """What `step` returns for the arguments of `scan`, whose body it becomes: (carried, others)."""
    try:
        carried, others = step(*scan.arguments)
        scan.end([*carried, *others])
    except BaseException as error:
        scan.abandon()
        if isinstance(error, Exception) and scan.step_must_run and _core.is_recording():
            raise _StepMustRunError(str(error)) from error
        raise
    return carried, others


def _is_true(pred):
    """A trace in which Python asks holds for this call only."""
    if _core.is_recording():
        return bool(_core.sizes_of(_ops.astype(pred, "int32")))
    return pred.item()


def _tensors(what, value):
    return _leaves("scan", what, value)


class _Loop:
    """One call of scan."""

    def __init__(self, step, carried, xs, length, reverse):
        self.step, self.length, self.reverse = step, length, reverse
        self.carried, self.structure = _tensors("carried", carried)
        self.xs, self.x_structure = ([], None) if xs is None else _tensors("xs", xs)
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
        new, structure = _tensors("carried values of a step", result[0])
        if structure != self.structure:
            raise TypeError(
                f"scan: step must return carried values in the containers that it takes, got "
                f"{result[0]!r}"
            )
        _core.scan_check(carried, new)
        ys, self.y_structure = ([], None) if result[1] is None else _tensors("y", result[1])
        return new, ys

    def results(self, carried, ys):
        """What scan returns."""
        stacked = None if self.y_structure is None else _unflatten(self.y_structure, ys)
        return _unflatten(self.structure, carried), stacked

    def scan(self):
        """The operator, whose step is to be recorded."""
        return _core.Scan(self.carried, self.xs, self.length, self.reverse)

    def record(self):
        """As one operator; trip by trip where no operator does what a step did."""
        scan = self.scan()
        try:
            count = len(self.infer(scan)[0])
        except _StepMustRunError:
            if self.trips() > _MOST_TRIPS:
                _core.run_eagerly()
            return self.run()
        results = scan.apply()
        return self.results(results[:count], results[count:])

    def infer(self, scan):
        """What one step returns, as tensors without values: (carried, ys)."""
        count = len(self.carried)
        return _recorded(scan, lambda *args: self.apply(args[:count], args[count:]))

    def trips(self):
        """How many there are; a trace holds for this number only."""
        trips = _core.scan_trips(self.xs, self.length)
        for x in self.xs:
            int(x.shape[0])
        return trips

    def run(self):
        """As Python's loop."""
        trips = self.trips()
        carried, elements = _enter(self.carried, self.xs)
        stacks = []
        for trip in reversed(range(trips)) if self.reverse else range(trips):
            carried, ys = self.apply(carried, [each[trip] for each in elements])
            carried, ys = _apart(carried), _apart(ys)
            stacks = stacks or [[] for _ in ys]
            for stack, y in zip(stacks, ys, strict=True):
                stack.append(y)
        if not trips:
            stacks = [_core.stack_nothing(y) for y in self.infer(self.scan())[1]]
        else:
            stacks = [_stack(stack[::-1] if self.reverse else stack) for stack in stacks]
        return self.results(*_leave(carried, stacks))
