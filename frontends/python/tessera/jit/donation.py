"""Arguments that the caller of a traced function gives up."""

from .. import _core
from .._tree import flatten, unflatten
from ..tensor import Tensor


def donated_tensors(positions, args, tensors):
    """Numbers, among the `tensors` of a call, of those in `args` at the positions.

    ValueError: there must be such an argument, and each of its tensors once in the call.
    """
    if not positions:
        return ()
    if not all(0 <= position < len(args) for position in positions):
        raise ValueError(
            f"trace: donate_argnums must be positions of arguments, got {positions} "
            f"for {len(args)} arguments"
        )
    numbers, count = [], 0
    for position, arg in enumerate(args):
        size = sum(isinstance(leaf, Tensor) for leaf in flatten(arg)[0])
        if position in positions:
            numbers += range(count, count + size)
        count += size
    for number in numbers:
        if sum(tensor is tensors[number] for tensor in tensors) > 1:
            raise ValueError(
                f"trace: a donated argument must be given once, got tensor {number} several times"
            )
    return tuple(numbers)


def give_up(name, numbers, tensors, value):
    """`value`, when the donated tensors of the call have lost theirs."""
    leaves, structure = flatten(value)
    gone = {id(tensors[number]) for number in numbers}
    leaves = [leaf.detach() if id(leaf) in gone else leaf for leaf in leaves]
    for number in numbers:
        why = f"{name}: a tensor donated to the call must not be used again"
        _core.give_up(tensors[number], why)
    return unflatten(structure, leaves)
