"""Memory shared with other libraries, through DLPack."""

from ..tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """A DLPack capsule of the tensor's shape and dtype, over its memory; taken once.

    Whoever takes it keeps the memory alive. TypeError: tensor must be a Tensor.

    >>> from tessera import tensor
    >>> from_dlpack(to_dlpack(tensor([1, 2]))).tolist()
    [1, 2]
    """
    return Tensor.__dlpack__(tensor)


def from_dlpack(data):
    """A tensor over the memory of `data`, a capsule or an object with `__dlpack__`.

    Shape and dtype are those of the object: a change that either side makes in place shows in the
    other. ValueError: the memory must be the processor's, of a dtype that tensors have.

    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> tensor = from_dlpack(array)
    >>> array[0] = 5
    >>> tensor.tolist(), tensor.dtype
    ([5.0, 0.0], dtype('float64'))
    """
    return Tensor._from_dlpack(data)
