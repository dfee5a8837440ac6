"""Free dimensions of a dump: that no size of the recorded call stands in the program."""

from .. import _core
from ..tensor import Tensor
from .recording import record
from .tree import flatten, unflatten

_MOST = 1 << 16  # a loop over a larger size would be recorded, too


class CallArguments:
    """The arguments of a recorded call, without their values."""

    def __init__(self, args, kwargs):
        leaves, self._structure = flatten((args, kwargs))
        self._leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        tensors = [(slot, leaf) for slot, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        numbers = {}
        self._slots = [(slot, numbers.setdefault(id(t), len(numbers))) for slot, t in tensors]
        self.metas = [(t.shape, t.dtype) for _, t in tensors]

    def at(self, dims, sizes):
        """(args, kwargs, tensors): valueless tensors of other sizes, one where one stood twice."""
        shapes = [list(shape) for shape, _ in self.metas]
        for argument, axis, name, *_ in dims:
            shapes[argument][axis] = sizes[name]
        made, leaves, tensors = {}, list(self._leaves), []
        for (slot, number), shape, (_, dtype) in zip(self._slots, shapes, self.metas, strict=True):
            if number not in made:
                made[number] = _core.valueless_tensor(shape, dtype)
            leaves[slot] = made[number]
            tensors.append(made[number])
        return *unflatten(self._structure, leaves), tensors


def check_free(call, function, dims):
    """ValueError when the recorded `call` depends on the size of a dimension that `dims` frees.

    The function is recorded again at other sizes, by inference: nothing runs. `dims` are
    (argument, axis, name, min, max or -1).
    """
    dims = [
        each for each in dims if each[1] < len(call.arguments.metas[each[0]][0])
    ]  # others: refused
    recorded = _recorded_sizes(call.arguments, dims)
    bounds = {name: (low, high if high >= 0 else _MOST) for _, _, name, low, high in dims}
    for sizes, needed in _choices(recorded, bounds):
        args, kwargs, tensors = call.arguments.at(dims, sizes)
        try:
            _, again = record(function, tensors, args, kwargs, run=False, bounds=True)
        except (ValueError, TypeError, IndexError, NotImplementedError) as error:
            if not needed:  # such a size is refused when inputs are bound
                continue
            raise ValueError(
                f"dump: {call.name} must run at every size of its free dimensions, got "
                f"{_shown(sizes)}: {error}"
            ) from None
        _check_same(call, again, recorded, sizes)


def _recorded_sizes(arguments, dims):
    sizes = {}
    for argument, axis, name, *_ in dims:
        size = arguments.metas[argument][0][axis]
        if sizes.setdefault(name, size) != size:
            raise ValueError(
                f"dump: dimension {name} must be of one size in the recorded call, got "
                f"{sizes[name]} and {size}"
            )
    return sizes


def _choices(recorded, bounds):
    """(sizes, whether the function must run at them): neighbours, far ones, both bounds."""
    near, far, low, high = {}, {}, {}, {}
    for number, (name, size) in enumerate(recorded.items()):
        first, last = bounds[name]
        near[name] = _within(size + 1 + number, first, last, size)
        far[name] = _within(2 * size + 3 + 2 * number, first, last, size)
        low[name], high[name] = first, min(last, 4 * size + 64)
    chosen = []
    for sizes, needed in ((near, True), (far, True), (low, False), (high, False)):
        if sizes != recorded and sizes not in chosen:
            chosen.append(sizes)
            yield sizes, needed


def _within(size, first, last, other):
    """`size`, or another in the bounds that is not `other`, if there is one."""
    if size <= last:
        return max(size, first)
    return last if last != other else max(first, other - 1)


def _shown(sizes):
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _check_same(call, again, recorded, sizes):
    rows = _core.compare_recordings(call.recording, again.recording, shapes=False)
    if rows is None:
        return
    old, new = ([*each, ("", "", "nothing")] for each in rows)
    pair = next(pair for pair in zip(old, new, strict=False) if pair[0][2] != pair[1][2])
    (place, _, was), (_, _, becomes) = pair
    raise ValueError(
        f"dump: a free dimension must not be fixed in the program, got {was} for "
        f"{_shown(recorded)} and {becomes} for {_shown(sizes)}{' at ' if place else ''}{place}"
    )
