"""Free dimensions of a dump: that no size of the recorded call stands in the program."""

from .. import _core
from ..tensor import Tensor
from .recording import record
from .tree import flatten, unflatten


class CallArguments:
    """The arguments of a recorded call, without their values."""

    def __init__(self, args, kwargs):
        leaves, self._structure = flatten((args, kwargs))
        self._leaves = [None if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        tensors = [(slot, leaf) for slot, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        first = {}
        self._slots = [(slot, first.setdefault(id(t), n)) for n, (slot, t) in enumerate(tensors)]

    def of(self, tensors):
        """(args, kwargs, tensors): others in the places of the recorded ones, one where one stood
        twice."""
        leaves = list(self._leaves)
        for slot, number in self._slots:
            leaves[slot] = tensors[number]
        return *unflatten(self._structure, leaves), [tensors[number] for _, number in self._slots]


def check_free(call, function, dims):
    """ValueError when the recorded `call` depends on the size of a dimension that `dims` frees.

    The function is recorded again at other sizes, by inference: nothing runs. `dims` are
    (argument, axis, name, min, max or -1).
    """
    free = _core.FreeDims(call.recording, dims)
    for sizes, needed in free.choices():
        args, kwargs, tensors = call.arguments.of(free.arguments_at(sizes))
        try:
            _, again = record(function, tensors, args, kwargs, run=False, bounds=True)
        except (ValueError, TypeError, IndexError, NotImplementedError) as error:
            why = str(error)
        else:
            free.check_same(again.recording, sizes)
            continue
        if needed:  # otherwise bind refuses inputs of such a size
            free.refuse(call.name, sizes, why)
