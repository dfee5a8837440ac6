"""Tensor and Parameter. The class is `_core.Tensor`; here it gets what needs no C++."""

import copy
import functools
import weakref

import numpy as np

from . import _core, _hooks
from ._core import Tensor
from ._foreign_dtypes import numbers_of
from ._methods import METHODS
from ._numpy_functions import array_function, array_ufunc
from ._quantized import is_dtype_equal


class Parameter(Tensor):
    """A tensor that a module learns."""


def tensor(data, dtype=None, device=None, is_const=False, no_cache=False, name=None,
           format="default"):  # fmt: skip
    """A tensor of `data`: an array, a number, nested lists, or another tensor.

    Args:
        data: numbers in any of these forms
        dtype: the dtype of the result; without one float64 becomes float32, int64 becomes int32
        device: the device that holds it
        is_const, no_cache: MegEngine's, which change nothing
        name: the user's name for it
        format: what the order of axes means: "default", which is that of a tensor that is given,
            "nchw" or "nhwc"

    Returns:
        a Tensor with the shape of data

    Raises:
        ValueError: nested lists must have equal lengths, numbers must fit an integer dtype (int32
            where none is given; `astype` wraps them around, and floats to the nearest), the device
            must exist, format must be one of its values
        TypeError: data must hold numbers, dtype must be a known one, name a str

    Example:
        >>> import tessera as ts
        >>> ts.tensor([[1, 2], [3, 4]])
        Tensor([[1, 2],
                [3, 4]], dtype=int32, device=cpu0)
    """
    if format == "default":  # a tensor keeps its own
        return Tensor(data, dtype, device, is_const, no_cache, name)
    return Tensor(data, dtype, device, is_const, no_cache, name, format)


def asarray(data, dtype=None, device=None):
    """As `tensor`, but an array keeps its dtype, and a tensor is returned as it is.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.asarray(np.zeros(2)).dtype
    dtype('float64')
    """
    if isinstance(data, Tensor) and (dtype is None or is_dtype_equal(dtype, data.dtype)):
        return data if device is None else data.to(device)
    if dtype is None and hasattr(data, "dtype"):
        dtype = np.dtype(data.dtype)
    return Tensor(data, dtype=dtype, device=device)


def _rebuild(cls, array, dtype, name, qparams=None, format="default"):
    result = cls(array, dtype=dtype, name=name or None, format=format)
    if qparams is not None:
        _set_qparams(result, qparams)
    return result


def _reduce(self, protocol=None):
    row = type(self), numbers_of(self), str(self._dtype_key), self.name
    further = _own_qparams(self), self.format
    row = row if further == (None, "default") else (*row, *further)
    return (_rebuild, row, {"_is_frozen": True}) if self._is_frozen else (_rebuild, row)


_known_qparams = {}  # by id of a tensor that lives: a weak reference and its QParams


def _own_qparams(self):
    return _known_qparams[id(self)][1] if id(self) in _known_qparams else None


def _set_qparams(self, qparams):
    key = id(self)
    _known_qparams[key] = weakref.ref(self, lambda _: _known_qparams.pop(key, None)), qparams


def _qparams(self):
    """What describes its numbers as integers, a quantization.QParams that may be changed: at first
    those of a quantized dtype, or of the fake quantizer whose result it is, moved or pooled since
    then; else none.

    >>> import tessera as ts
    >>> ts.tensor([1.0]).qparams.scale is None
    True
    """
    if id(self) not in _known_qparams:
        from .quantization.utils import of_tensor  # few need it

        _set_qparams(self, of_tensor(self))
    return _own_qparams(self)


def _copy(self):
    return self._like(self.detach())


def _deepcopy(self, memo):
    memo[id(self)] = result = self._like(_core.ops.copy(self.detach()))
    return result


def _like(self, value):
    """`value` as an object of this one's class, with its name."""
    result = type(self)(value, name=self.name or None)
    if _own_qparams(self) is not None:
        _set_qparams(result, copy.copy(_own_qparams(self)))
    if self._is_frozen:
        result._is_frozen = True
    return result


def _reset_zero(self):
    """Sets every element to 0; shape and dtype stay.

    >>> import tessera as ts
    >>> x = ts.tensor([1, 2])
    >>> x.reset_zero()
    >>> x.tolist()
    [0, 0]
    """
    self._reset(_core.ops.zeros_like(self))


def _register_hook(self, hook):
    """`hook(gradient)` runs in every backward that reaches this tensor, with its whole gradient,
    and may return another one that goes on; returns a handler, whose `remove` ends that.

    The hook is that of the present value, and of what stands here when a GradManager begins that
    the tensor is attached to.

    TypeError: hook must be callable. ValueError: a gradient that it returns must have the shape and
    dtype of the one that it got.

    >>> import tessera as ts
    >>> from tessera.autodiff import grad
    >>> def double(x):
    ...     y = x * x
    ...     y.register_hook(lambda gradient: gradient * 10)
    ...     return y.sum()
    >>> grad(double)(ts.tensor([3.0])).tolist()
    [60.0]
    """
    return _hooks.register(self, hook)


def _to(self, device):
    """This tensor on `device`, of the same shape and dtype; its gradient comes back from there. A
    traced function that copies to another device runs eagerly.

    ValueError: the device must exist.

    >>> import tessera as ts
    >>> ts.tensor([1, 2]).to("cpu0").device
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

    >>> import tessera as ts
    >>> ts.tensor([1, 2]).to_device("cpu0").device
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


_transpose = _core.ops.transpose


@functools.cache  # one for each rank
def _reversed_axes(ndim):
    return tuple(range(ndim - 1, -1, -1))


def _transposed(self):
    """The axes in reverse order."""
    return _transpose(self, _reversed_axes(self.ndim))


def _with_new_axes(inp, *axes, pattern=None):
    """transpose() where "x" stands in the pattern: a new axis of size 1."""
    if pattern is None:
        pattern = axes[0] if len(axes) == 1 else axes
    if not isinstance(pattern, (tuple, list)) or "x" not in pattern:
        return NotImplemented
    added = [place for place, axis in enumerate(pattern) if axis == "x"]
    kept = [axis for axis in pattern if axis != "x"]
    return _core.ops.expand_dims(_transpose(inp, kept), added)


_core.call_otherwise(_transpose, _with_new_axes)


def _rounded(self, ndigits=0):
    """The nearest integers, halves to even."""
    if ndigits:
        raise ValueError(f"round: ndigits must be 0 or None for a tensor, got {ndigits!r}")
    return _core.ops.round(self)


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
    register_hook=_register_hook,
    _is_frozen=False,  # by Module.freeze
    _has_dropped_gradient=False,  # by GradScaler
    reset_zero=_reset_zero,
    to=_to,
    to_device=_to_device,
    __array_namespace__=_array_namespace,
    _repr_html_=_repr_html_,
    __array_ufunc__=array_ufunc,
    __array_function__=array_function,
    __round__=_rounded,
    __floor__=lambda self: _core.ops.floor(self),
    __ceil__=lambda self: _core.ops.ceil(self),
    __trunc__=lambda self: _core.ops.trunc(self),
    qparams=property(_qparams, _set_qparams),
    T=property(_transposed),
    mT=property(_matrices_transposed),
    **METHODS,
)
