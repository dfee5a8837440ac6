"""The values of a loop that runs trip by trip, and their gradients."""

from .. import _core
from .._core import ops
from ._making import made

# While a gradient is recorded, the values of a loop are its own: what reads them later, or beside,
# adds to their gradients apart, in the order in which the gradient of the operator does.


def _filled(shape, value, like):
    """One value everywhere, of the dtype and on the device of `like`."""
    return made(like.device, ops.full, shape, value, like.dtype)


def apart(values):
    """The values as variables of their own, each with a gradient of its own."""
    if not _core.num_tapes():
        return _plain(values)
    flags = _core.tracked(values)
    return [
        ops.reshape(value, value.shape) if flag else value.detach()
        for value, flag in zip(values, flags, strict=True)
    ]


def enter(carried, xs):
    """Carried values for the first step, and for each of the xs its elements."""
    if not _core.num_tapes():
        return apart(carried), xs
    x_flags = _core.tracked(xs)
    elements = [_elements(x) if flag else x for x, flag in zip(xs, x_flags, strict=True)]
    return _own(carried, lambda *grads: list(grads)), elements


def _elements(x):
    """All elements along axis 0, whose gradients are put side by side."""
    shape = x.shape[1:]

    def _stacked(*grads):
        if all(grad is None for grad in grads):
            return None
        return stack([_filled(shape, 0.0, x) if g is None else g for g in grads])

    whole = x.detach()
    values = [whole[index] for index in range(x.shape[0])]
    return _core.custom_function([x], values, _stacked) if values else x


def is_written_down(values):
    """A loop of these is an operator: of a trace, or of the network that one of them is of."""
    return _core.is_recording() or any(map(_core.is_graph_value, values))


def stack(values):
    """The values along a new axis 0, whose gradient is taken apart."""
    recorded = is_written_down(values)  # trip by trip
    whole = ops.stack(_plain(values), 0) if recorded else _core.stack_elements(values)
    flags = _core.tracked(values) if _core.num_tapes() else ()
    tracked = [value for value, flag in zip(values, flags, strict=False) if flag]

    def _apart_again(grad):
        elements = _elements(grad) if any(_core.tracked([grad])) else grad
        return [elements[index] for index, flag in enumerate(flags) if flag]

    return _core.custom_function(tracked, [whole], _apart_again)[0] if tracked else whole


def _plain(values):
    return [value.detach() for value in values]


def _own(values, backward):
    """Variables of their own; those that a tape tracks have this gradient."""
    flags = _core.tracked(values)
    own = _plain(values)
    pairs = [(v, o) for v, o, flag in zip(values, own, flags, strict=True) if flag]
    if pairs:
        _core.custom_function([v for v, _ in pairs], [o for _, o in pairs], backward)
    return own


def leave(carried, stacks):
    """The results. A carried value without a gradient has one of -0.0, to which adding changes
    nothing, as soon as another result has one.
    """
    if not _core.num_tapes():
        return carried, stacks
    flags = _core.tracked(carried + stacks)
    shapes = [
        (value.shape, value.dtype, value.device)
        for value, flag in zip(carried, flags[: len(carried)], strict=True)
        if flag
    ]

    def _whole(*grads):
        last = [
            made(device, ops.full, shape, -0.0, dtype) if grad is None else grad
            for (shape, dtype, device), grad in zip(shapes, grads[: len(shapes)], strict=True)
        ]
        return [*last, *grads[len(shapes) :]]

    own = _own(carried + stacks, _whole)
    return own[: len(carried)], own[len(carried) :]
