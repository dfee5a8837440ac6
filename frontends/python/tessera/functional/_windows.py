"""What functions over windows share."""

from .._core import ops as _ops
from ..core.symint import SymInt


def each(value, axes):
    """A list with `value` for each axis, or the numbers that it already holds."""
    return [value] * axes if isinstance(value, (int, SymInt)) else list(value)


def check_no_text(name, what, value):
    """ValueError for "same", which convolutions do not have that pad alike on both sides."""
    if isinstance(value, str):
        raise ValueError(f"{name}: {what} must be numbers, got {value!r}")


def padding_before(name, padding, kernel_size, stride, dilation):
    """`padding` itself, or the elements before each axis where it is "same" or "valid".

    With "same" a result has the size of the input: of the dilation * (kernel_size - 1) elements
    half stand before it, rounded down, and half behind it, as in PyTorch.
    """
    if not isinstance(padding, str):
        return padding
    if padding not in ("same", "valid"):
        raise ValueError(f'{name}: padding must be numbers, "same" or "valid", got {padding!r}')
    if padding == "valid":
        return [0] * len(kernel_size)
    if any(step != 1 for step in stride):
        raise ValueError(f'{name}: stride must be 1 where padding is "same", got {tuple(stride)}')
    return [wide * (size - 1) // 2 for wide, size in zip(dilation, kernel_size, strict=True)]


def padding_behind(padding, kernel_size, dilation):
    """How many elements there are behind each axis beside as many as before it: 0 or 1."""
    if padding != "same":
        return (0,) * len(kernel_size)
    return tuple(wide * (size - 1) % 2 for wide, size in zip(dilation, kernel_size, strict=True))


def padded_same(name, inp, kernel_size, stride, padding, dilation):
    """The input, with zeros where a text `padding` wants more behind than before, and the padding
    that is left.
    """
    before = padding_before(name, padding, kernel_size, stride, dilation)
    behind = padding_behind(padding, kernel_size, dilation)
    if not any(behind):
        return inp, before
    others = [0] * (inp.ndim - len(kernel_size))
    return _ops.pad(inp, others + [0] * len(behind), [*others, *behind]), before
