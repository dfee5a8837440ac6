"""Methods of Tensor that no record gives: those that users of NumPy and PyTorch type."""

from . import _core

_ops = _core.ops


def formatted(self, spec):
    """For `f"{loss:.3f}"`: the only element, formatted as its number; without a format the text
    that print shows.

    TypeError: there must be one element where a format is given, as for NumPy's arrays.

    >>> import tessera as ts
    >>> f"{ts.tensor([2.0]):.3f}"
    '2.000'
    """
    if not spec:
        return str(self)
    if self.size != 1:
        raise TypeError(
            f"format: tensor must have one element for a format, got {self.dtype}"
            f"{list(self.shape)} and {spec!r}"
        )
    return format(self.item(), spec)


def members(self):
    """The names that `dir` lists: not those that only say what to write instead."""
    refusal = type(vars(_core.Tensor)["requires_grad"])
    return [name for name in object.__dir__(self) if not _is(refusal, type(self), name)]


def _is(kind, owner, name):
    found = next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)
    return isinstance(found, kind)


def where(self, condition, other):
    """This tensor's elements where `condition` is true, those of `other` elsewhere, as PyTorch's;
    all three broadcast, and the dtype is the promoted one.

    TypeError: condition must be bool. ValueError: shapes must broadcast.

    >>> import tessera as ts
    >>> x = ts.tensor([1.0, -2.0])
    >>> x.where(x > 0, 0).tolist()
    [1.0, 0.0]
    """
    return _ops.where(condition, self, other)


def masked_fill(self, mask, value):
    """This tensor with `value`, a number or a tensor of one element, where `mask` is true; of this
    shape, to which mask broadcasts, and of this dtype.

    TypeError: mask must be bool. ValueError: mask must broadcast to this shape, and the dtype hold
    the number.

    >>> import tessera as ts
    >>> ts.tensor([1, 2, 3]).masked_fill(ts.tensor([True, False, True]), 0).tolist()
    [0, 2, 0]
    """
    if not isinstance(value, _core.Tensor):
        value = _core.Tensor(value, dtype=self.dtype, device=self.device)
    chosen = _ops.where(_ops.broadcast_like(mask, self), value, self)
    return _ops.astype(chosen, self.dtype)


def contiguous(self):
    """This tensor: how its elements lie in memory is nobody's concern.

    >>> import tessera as ts
    >>> x = ts.tensor([[1, 2]])
    >>> x.T.contiguous().shape
    (2, 1)
    """
    return self


def cpu(self):
    """This tensor on the CPU, as `to("cpu0")`.

    >>> import tessera as ts
    >>> ts.tensor([1, 2]).cpu().device
    'cpu0'
    """
    return self.to("cpu0")


def _cast(name, dtype):
    def _method(self):
        return self if self.dtype == dtype else _ops.astype(self, dtype)

    _method.__name__ = _method.__qualname__ = name
    _method.__doc__ = f"""This tensor in {dtype}, of its shape; itself where it has that dtype.

    >>> from tessera import tensor
    >>> tensor([1.5, 2.0]).{name}().tolist()
    [1.5, 2.0]
    """
    return _method


METHODS = {
    "__dir__": members,
    "__format__": formatted,
    "bfloat16": _cast("bfloat16", "bfloat16"),
    "contiguous": contiguous,
    "cpu": cpu,
    "double": _cast("double", "float64"),
    "float": _cast("float", "float32"),
    "half": _cast("half", "float16"),
    "masked_fill": masked_fill,
    "where": where,
}
