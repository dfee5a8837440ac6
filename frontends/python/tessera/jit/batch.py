"""largest_batch: the largest batch whose call fits in memory, found without a run."""

import math

from .. import _core
from .._foreign_dtypes import as_dtype
from .._memory_limits import limit_in_bytes
from .._tree import flatten, unflatten
from ..device import get_default_device, memory_of_device
from ..tensor import Tensor
from .estimate import Spec, compiled_call, held_by, valueless

_MOST = (1 << 31) - 1  # elements along an axis
_BY_LINE = 8  # probes by a line, which memory follows as a rule, before the rest is halved


def largest_batch(function, *args, memory_limit=None, axis=0, **kwargs):
    """The largest size of a batch for which the total of `estimate(function, *args, **kwargs)` is
    within a limit: the peak of the call, with its arguments, parameters, gradients and the state of
    optimizers. Nothing runs. A few sizes are estimated, since memory grows with the size: the
    answer fits, and one more does not.

    Args:
        function: as for `estimate`
        args, kwargs: its arguments; each tensor, or Spec, among them has the batch along an axis,
            at which all have one size, that from which the search starts
        memory_limit: bytes, a float as a fraction of the device's memory, or a text such as
            "8 GiB"; None: the memory of the device, or the limit of `device.set_memory_limit`
        axis: the axis of the batch of every tensor; or one for each tensor in its order, None for
            a tensor without a batch

    Returns:
        int, at most 2 ** 31 - 1

    Raises:
        ValueError: each tensor must have the axis, and the sizes must be one; the limit must be
            above 0, and given for a device whose memory has no bound, such as null0
        MemoryError: a batch of 1 is not within the limit; the text says what it needs

    Example:
        >>> import tessera as ts
        >>> from tessera.jit import Spec, largest_batch
        >>> net = ts.module.Linear(1024, 1024)
        >>> largest_batch(net, Spec((1, 1024)), memory_limit="1 GiB") > 50_000
        True
    """
    batch = _Batch(function, args, kwargs, axis)
    limit = _limit_of(memory_limit, batch.device)
    least = batch.total(1)
    if least > limit:
        raise MemoryError(
            f"largest_batch: memory_limit must be at least {least} bytes for a batch of 1, got "
            f"{limit}"
        )
    return _search(batch.total, limit, least, batch.size, batch.bytes_of_one)


def _limit_of(memory_limit, device):
    memory = memory_of_device(device)
    if memory_limit is not None:
        return limit_in_bytes("largest_batch", "memory_limit", memory_limit, lambda: memory)
    if memory is None:
        raise ValueError(
            f"largest_batch: memory_limit must be given on {device}, whose memory has no bound, "
            "got None"
        )
    return min(memory, _core.memory_stats(device)["limit"])


class _Batch:
    """A call whose tensors have a batch of any size.

    Attributes:
        size: that of the call
        device: the name of the device of the first tensor with a batch
        bytes_of_one: bytes that arguments take for each element of the batch
    """

    def __init__(self, function, args, kwargs, axis):
        self._function = function
        self._leaves, self._structure = flatten((args, kwargs))
        places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, (Tensor, Spec))]
        axes = _axes_of(axis, len(places))
        self._axes = {i: axis for i, axis in zip(places, axes, strict=True) if axis is not None}
        self.size = self._one_size()
        first = self._leaves[next(iter(self._axes))]
        self.device = _core.device_named(str(first.device or get_default_device()), "largest_batch")
        self.bytes_of_one = sum(
            math.prod(self._shape_at(place, 1)) * as_dtype(self._leaves[place].dtype).itemsize
            for place in self._axes
        )

    def _one_size(self):
        sizes = {}
        for place, axis in self._axes.items():
            shape = tuple(self._leaves[place].shape)
            if not -len(shape) <= axis < len(shape):
                raise ValueError(
                    f"largest_batch: tensors must have the axis {axis} of the batch, got one of "
                    f"shape {shape}"
                )
            sizes[shape[axis]] = shape
        if len(sizes) != 1:
            got = f"shapes {list(sizes.values())}" if sizes else "no tensor with a batch"
            raise ValueError(f"largest_batch: tensors must have one size of the batch, got {got}")
        return next(iter(sizes))

    def _shape_at(self, place, size):
        shape = list(self._leaves[place].shape)
        shape[self._axes[place]] = size
        return tuple(shape)

    def total(self, size):
        """Bytes of the call at that size; infinity where a limit of its own forbids it."""
        leaves = list(self._leaves)
        for place in self._axes:
            leaf = leaves[place]
            leaves[place] = Spec(self._shape_at(place, size), leaf.dtype, leaf.device)
        args, kwargs = valueless(*unflatten(self._structure, leaves))
        try:
            program, call = compiled_call(self._function, args, kwargs)
        except MemoryError:
            if size == 1:
                raise
            return math.inf
        memory = program.memory
        taken = sum(memory[name] for name in ("arena", "outputs", "constants", "rounding"))
        return taken + sum(held_by(self._function, call, args, kwargs).values())


def _axes_of(axis, count):
    """An axis or None for each tensor."""
    if isinstance(axis, int) and not isinstance(axis, bool):
        return [axis] * count
    axes = list(axis) if isinstance(axis, (list, tuple)) else []
    numbers = [each for each in axes if each is not None]
    is_known = all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)
    if not is_known or len(axes) != count:
        raise ValueError(
            f"largest_batch: axis must be an int, or an int or None for each of {count} tensors, "
            f"got {axis!r}"
        )
    return axes


def _search(total, limit, least, start, bytes_of_one):
    """The last size that fits; a size of 1 takes `least` bytes."""
    fits, over = (1, least), (_MOST + 1, math.inf)
    if bytes_of_one:
        over = min(over, (limit // bytes_of_one + 1, math.inf))
    before, size, probes = fits, start, 0
    while over[0] - fits[0] > 1:
        size = min(max(size, fits[0] + 1), over[0] - 1)
        found = size, total(size)
        if found[1] <= limit:
            before, fits = fits, found
        else:
            over = found
        probes += 1
        size = _next(fits, before if math.isinf(over[1]) else over, limit)
        if size is None or probes > _BY_LINE:
            size = fits[0] * 2 if math.isinf(over[1]) else (fits[0] + over[0]) // 2
    return fits[0]


def _next(one, other, limit):
    """The size at which a line through two (size, bytes) meets the limit; None: there is none."""
    (x, y), (x2, y2) = one, other
    if x == x2 or (y2 - y) * (x2 - x) <= 0:
        return None
    return x + int((limit - y) * (x2 - x) / (y2 - y))
