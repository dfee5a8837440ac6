"""Tensor and Parameter. The class is `_core.Tensor`; here it gets what needs no C++."""

import numpy as np

from . import _core
from ._core import Tensor
from ._quantized import is_dtype_equal


class Parameter(Tensor):
    """A tensor that a module learns."""


def tensor(data, dtype=None, device=None):
    """A tensor of `data`: an array, a number, nested lists, or another tensor.

    Args:
        data: numbers in any of these forms
        dtype: the dtype of the result; without one float64 becomes float32, int64 becomes int32
        device: the device that holds it

    Returns:
        a Tensor with the shape of data

    Raises:
        ValueError: nested lists must have equal lengths, the device must exist
        TypeError: data must hold numbers, dtype must be a known one

    Example:
        >>> tensor([[1, 2], [3, 4]])
        Tensor([[1, 2],
                [3, 4]], dtype=int32, device=cpu0)
    """
    return Tensor(data, dtype=dtype, device=device)


def asarray(data, dtype=None, device=None):
    """As `tensor`, but an array keeps its dtype, and a tensor is returned as it is.

    >>> asarray(np.zeros(2)).dtype
    dtype('float64')
    """
    if isinstance(data, Tensor) and (dtype is None or is_dtype_equal(dtype, data.dtype)):
        return data if device is None else data.to(device)
    if dtype is None and hasattr(data, "dtype"):
        dtype = np.dtype(data.dtype)
    return Tensor(data, dtype=dtype, device=device)


def _rebuild(cls, array, dtype, name):
    result = cls(array, dtype=dtype)
    result.name = name
    return result


def _reduce(self, protocol=None):
    return _rebuild, (type(self), self.numpy(), str(self._dtype_key), self.name)


def _copy(self):
    return self._like(self.detach())


def _deepcopy(self, memo):
    memo[id(self)] = result = self._like(_core.ops.copy(self.detach()))
    return result


def _like(self, value):
    """`value` as an object of this one's class, with its name."""
    result = type(self)(value)
    result.name = self.name
    return result


def _reset_zero(self):
    """Sets every element to 0; shape and dtype stay.

    >>> x = tensor([1, 2])
    >>> x.reset_zero()
    >>> x.tolist()
    [0, 0]
    """
    self._reset(_core.ops.zeros_like(self))


def _to(self, device):
    """This tensor on `device`, of the same shape and dtype; its gradient comes back from there. A
    traced function that copies to another device runs eagerly.

    ValueError: the device must exist.

    >>> tensor([1, 2]).to("cpu0").device
    'cpu0'
    """
    if isinstance(device, str) and self.device == device:  # an array has no one answer
        return self
    copy, home = Tensor(self, device=device), self.device
    if _core.num_tapes() and _core.tracked([self])[0]:
        copy = _core.custom_function([self], [copy], lambda grad: grad.to(home))[0]
    return copy


def _to_device(self, device, /, *, stream=None):
    """This tensor on `device`, as `to`, which has the shape and dtype: the array API's name.

    ValueError: stream must be None, and the device must exist.

    >>> tensor([1, 2]).to_device("cpu0").device
    'cpu0'
    """
    if stream is not None:
        raise ValueError(f"to_device: stream must be None, because there are none, got {stream!r}")
    return self.to(device)


def _array_namespace(self, /, *, api_version=None):
    """`tessera.array_api`, the functions of the array API standard for this tensor.

    ValueError: api_version must be None or one that the namespace has.
    """
    from . import array_api  # few need it

    return array_api.of_version(api_version)


def _repr_html_(self):
    import html

    return f"<pre>{html.escape(repr(self))}</pre>"


def _transposed(self):
    """The axes in reverse order."""
    return self.transpose(tuple(reversed(range(self.ndim))))


def _matrices_transposed(self):
    """The last two axes exchanged. ValueError: there must be two."""
    if self.ndim < 2:
        raise ValueError(f"mT: tensor must have at least two axes, got {self.ndim}")
    return _core.ops.swapaxes(self)


def _extend(**members):
    for name, member in members.items():
        if name not in vars(Tensor):
            setattr(Tensor, name, member)


_extend(
    __reduce_ex__=_reduce,
    __copy__=_copy,
    __deepcopy__=_deepcopy,
    _like=_like,
    reset_zero=_reset_zero,
    to=_to,
    to_device=_to_device,
    __array_namespace__=_array_namespace,
    _repr_html_=_repr_html_,
    T=property(_transposed),
    mT=property(_matrices_transposed),
)
