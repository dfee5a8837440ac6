"""The recorded call that a file holds: each argument by itself, and no size that the call had where
one is free. Dumps and exports take it from here.
"""

from .. import _core
from ..autodiff.modes import cast_as
from ..logger import get_logger


def for_file(traced, call, names, free, is_told=True):
    """`call` as a file holds it, with the dimensions `free` of the arguments `names`, which the log
    tells if `is_told`.

    ValueError: the call must be a program, at every size of free dimensions.
    """
    name, function = traced.__name__, traced.function
    has_one = any(1 in tensor.shape for tensor in call.recording.valueless_arguments())
    call.check_data(name, function)
    call = _apart(name, call, function, names)
    call.check_data(name, function)
    if free:
        call = _at_two(call, function, free)
        call.check_free(name, function, free)
    if has_one and is_told:
        get_logger(__name__).info("%s: %s", name, _described(call, names, free))
    return call


def _apart(name, call, function, names):
    """`call` with a tensor of its own for each argument: one that stands for several inputs, or is
    read from outside too, is several values in a file.
    """
    tensors = call.recording.valueless_arguments()
    aliases = call.identity.aliases
    is_one = aliases != list(range(len(aliases)))
    try:
        again = _again(call, function, tensors)
    except Exception as error:
        if not is_one:
            return call  # the file holds what was recorded
        shared = [
            each for each, first in zip(names, aliases, strict=True) if aliases.count(first) > 1
        ]
        raise ValueError(
            f"dump: inputs must be different tensors, or {name} must run with some, got one for "
            f"{shared} and then: {error}"
        ) from error
    if not is_one and not call.identity.bind_outside(tensors, again.recording):
        return call
    call = call.taking(again)
    call.identity = _core.ArgumentIdentity(tensors)
    return call


def _again(call, function, tensors):
    with cast_as(call.cast):
        return call.record_again(function, tensors, *call.given(tensors))[1]


def _at_two(call, function, free):
    """`call` as it is at size 2 of the free dimensions that had size 1, as far as their bounds
    allow: a size of 1 is a number in a recording, and others are expressions.
    """
    shapes = [tensor.shape for tensor in call.recording.valueless_arguments()]
    ones = {(argument, axis): 2 for argument, axis, _, _, high in free
            if shapes[argument][axis] == 1 and high != 1}  # fmt: skip
    if not ones:
        return call
    try:
        return call.taking(_at(call, function, ones))
    except ValueError:  # check_free() tells which size is fixed
        return call


def _at(call, function, sizes):
    """`call`, recorded again with the sizes by (argument, axis)."""
    tensors = call.recording.valueless_arguments()
    shapes = [list(tensor.shape) for tensor in tensors]
    for (argument, axis), size in sizes.items():
        shapes[argument][axis] = size
    others = [
        _core.valueless_tensor(shape, tensor.dtype, str(tensor.device))
        for tensor, shape in zip(tensors, shapes, strict=True)
    ]
    return _again(call, function, others)


def at_other_sizes(traced, call, free):
    """`call` of `traced`, recorded again with another size of each free dimension, as far as their
    bounds allow.
    """
    tensors, chosen = call.recording.valueless_arguments(), {}
    for number, (argument, axis, name, low, high) in enumerate(free):
        other = max(2 * tensors[argument].shape[axis] + 3 + number, low, 2)
        chosen.setdefault(name, other if high < 0 else min(other, high))
    sizes = {(argument, axis): chosen[name] for argument, axis, name, _, _ in free}
    return _at(call, traced.function, sizes)


def _described(call, names, free):
    """Each input with its free dimensions by name and bounds, and the sizes that are fixed."""
    bounds = {(argument, axis): (name, low, high) for argument, axis, name, low, high in free}
    parts = []
    for number, tensor in enumerate(call.recording.valueless_arguments()):
        sizes = []
        for axis, size in enumerate(tensor.shape):
            name, low, high = bounds.get((number, axis), (None, 0, 0))
            most = "" if high < 0 else high
            sizes.append(
                str(size) if name is None else f"{name} from {low} to {most}".rstrip(" to")
            )
        parts.append(f"{names[number]} [{', '.join(sizes)}]")
    return f"inputs are {', '.join(parts)}; sizes that are numbers are fixed"


def all_axes(call):
    """As free_dims, of every axis of every argument, each by itself."""
    return [
        (number, axis, f"d{number}_{axis}", 1, -1)
        for number, tensor in enumerate(call.recording.valueless_arguments())
        for axis in range(tensor.ndim)
    ]


def free_dims(dims, names):
    """(argument, axis, name, min, max or -1) of each dimension that `dims` frees."""
    unknown = [name for name in dims if name not in names]
    if unknown:
        raise ValueError(f"dump: dims must be of arguments in arg_names {names}, got {unknown}")
    return [
        (names.index(name), axis, dim.name, dim.min, -1 if dim.max is None else dim.max)
        for name, axes in dims.items()
        for axis, dim in axes.items()
    ]
