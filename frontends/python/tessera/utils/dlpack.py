"""Memory shared with other libraries, through DLPack."""

from .._core import Tensor

__all__ = ["from_dlpack", "to_dlpack"]

_PROCESSOR = (1, 0)  # kDLCPU, the only device whose memory is shared


def to_dlpack(tensor):
    """A DLPack capsule of the tensor's shape and dtype, over its memory; taken once.

    Whoever takes it keeps the memory alive. It is of the form before DLPack 1.0, which every
    library reads; `tensor.__dlpack__(max_version=(1, 0))` is of the other. TypeError: tensor must
    be a Tensor. BufferError: its memory must be the processor's, and not read-only.

    >>> import tessera as ts
    >>> from tessera.utils.dlpack import from_dlpack, to_dlpack
    >>> from_dlpack(to_dlpack(ts.tensor([1, 2]))).tolist()
    [1, 2]
    """
    return Tensor.__dlpack__(tensor)


def from_dlpack(data, device=None, copy=None):
    """A tensor over the memory of `data`, a capsule or an object with `__dlpack__`.

    Shape and dtype are those of the object: a change that either side makes in place shows in the
    other. Memory that the object gives as read-only stays what it is: a function with
    `inplace=True` refuses it.

    Args:
        data: a capsule, with a version or without, or an object with `__dlpack__`
        device: the device of the result, for which data may be copied; None: the processor, where
            data must be
        copy: True: memory of its own; False: the memory of data or an error; None: a copy where
            there must be one

    Returns:
        any[*D]

    Raises:
        ValueError: the memory must be the processor's, of a dtype that tensors have; a capsule must
            be fresh, of version 1 or none; copy must be allowed for another device
        TypeError: data must be a capsule or have `__dlpack__`
        BufferError: what the other library refuses

    Example:
        >>> from tessera.utils.dlpack import from_dlpack
        >>> import numpy as np
        >>> array = np.zeros(2)
        >>> tensor = from_dlpack(array)
        >>> array[0] = 5
        >>> tensor.tolist(), tensor.dtype
        ([5.0, 0.0], dtype('float64'))
    """
    wanted = None if device is None else _PROCESSOR
    tensor = Tensor._from_dlpack(data, wanted, copy)
    if device is None or tensor.device == device:
        return tensor
    if copy is False:
        raise ValueError(f"from_dlpack: copy must be allowed for device {device}, got copy=False")
    return tensor.to(device)
