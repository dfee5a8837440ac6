"""Parameters and buffers in another dtype, or on another device."""

from .. import _core
from ..tensor import Tensor

_FLOATS = ("float16", "bfloat16", "float32", "float64")


class Moves:
    """The methods of Module that change where its tensors lie, and how their floats are kept."""

    def to(self, device=None, dtype=None):
        """Moves all parameters and buffers, here and below, to `device`, and those of floats into
        `dtype`; either may be given alone, also as the first argument. Returns the module.

        Tensors stay the objects that they are, and gradients follow; the state of an optimizer that
        was made before does not.

        ValueError: the device must exist. TypeError: dtype must be one of floats.

        >>> import tessera.module as M
        >>> M.Linear(2, 3).to("cpu0", dtype="float16").weight.dtype
        dtype('float16')
        """
        if dtype is None and not _is_device(device):
            device, dtype = None, device
        name = None if dtype is None else _name_of(type(self).__name__, dtype)
        for tensor in list(self.tensors()):
            _convert(tensor, device, name)
            if tensor.grad is not None:
                _convert(tensor.grad, device, name)
        return self

    def half(self):
        """As `to("float16")`.

        >>> import tessera.module as M
        >>> M.Linear(2, 3).half().bias.dtype
        dtype('float16')
        """
        return self.to(dtype="float16")

    def bfloat16(self):
        """As `to("bfloat16")`.

        >>> import tessera.module as M
        >>> M.Linear(2, 3).bfloat16().bias.dtype
        dtype(bfloat16)
        """
        return self.to(dtype="bfloat16")

    def float(self):
        """As `to("float32")`.

        >>> import tessera.module as M
        >>> M.Linear(2, 3).half().float().bias.dtype
        dtype('float32')
        """
        return self.to(dtype="float32")

    def double(self):
        """As `to("float64")`.

        >>> import tessera.module as M
        >>> M.Linear(2, 3).double().bias.dtype
        dtype('float64')
        """
        return self.to(dtype="float64")


def _is_device(value):
    return value is None or (isinstance(value, str) and value not in _core.dtype_table().values())


def _name_of(kind, dtype):
    """The name of a dtype of floats."""
    try:
        name = str(Tensor(0, dtype=dtype).dtype)
    except (TypeError, ValueError):
        name = None
    if name not in _FLOATS:
        raise TypeError(f"{kind}: dtype must be one of {', '.join(_FLOATS)}, got {dtype!r}")
    return name


def _convert(tensor, device, dtype):
    """Gives a tensor its own value in another dtype, on another device."""
    value = tensor.detach()
    if dtype is not None and str(value.dtype) in _FLOATS:
        value = _core.ops.astype(value, dtype)
    if device is not None:
        value = value.to(device)
    tensor._rebind(value)
