"""Questions about whole tensors."""

from .._core import Tensor as _Tensor
from .._core import ops as _ops

__all__ = ["all", "allclose", "any", "isclose"]


def all(inp, axis=None, keepdims=False):
    """Whether all elements along `axis` are true or not 0; true of none. As NumPy's.

    Args:
        inp: any[*D]
        axis: an int, several, or None for all
        keepdims: keep reduced axes with size 1

    Returns:
        bool[*D / axis]: bool whatever the dtype of inp

    Raises:
        ValueError: axis must be distinct axes of inp
        TypeError: inp must be a tensor, an array or a number

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.all(ts.tensor([[1, 2], [0, 3]]), axis=1).tolist()
        [True, False]
    """
    return _truth(_ops.min, inp, axis, keepdims)


def any(inp, axis=None, keepdims=False):
    """Whether one element along `axis` is true or not 0; false of none. As NumPy's.

    Args:
        inp: any[*D]
        axis: an int, several, or None for all
        keepdims: keep reduced axes with size 1

    Returns:
        bool[*D / axis]: bool whatever the dtype of inp

    Raises:
        ValueError: axis must be distinct axes of inp
        TypeError: inp must be a tensor, an array or a number

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.any(ts.tensor([[1, 2], [0, 0]]), axis=1).tolist()
        [True, False]
    """
    return _truth(_ops.max, inp, axis, keepdims)


def _truth(operator, inp, axis, keepdims):
    inp = _as_tensor(inp)
    marks = inp if inp.dtype == bool else _ops.not_equal(inp, 0)
    if isinstance(axis, (tuple, list)) and not axis:
        return marks
    return operator(marks, axis, keepdims, True)


def _as_tensor(value):
    return value if isinstance(value, _Tensor) else _Tensor(value)


def isclose(inp, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether each element is within `atol + rtol * abs(other)` of that of `other`, or equal to it;
    as NumPy's isclose. Integers are compared in float64, half precision in float32.

    Args:
        inp, other: number[*D] or bool[*D], which broadcast
        rtol, atol: floats, the relative and the absolute tolerance
        equal_nan: whether NaN is close to NaN

    Returns:
        bool[*D] of the shape that both broadcast to, whatever their dtype

    Raises:
        ValueError: shapes must broadcast
        TypeError: operands must be tensors, arrays or numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.isclose(ts.tensor([1.0, 2.0]), ts.tensor([1.000001, 2.1])).tolist()
        [True, False]
    """
    x, y = _wide(_as_tensor(inp)), _wide(_as_tensor(other))
    is_finite = _ops.logical_and(_ops.isfinite(_ops.abs(x)), _ops.isfinite(_ops.abs(y)))
    is_near = _ops.less_equal(_ops.abs(x - y), _ops.abs(y) * rtol + atol)
    close = _ops.where(is_finite, is_near, _ops.equal(x, y))
    if not equal_nan:
        return close
    both_nan = _ops.logical_and(_ops.not_equal(x, x), _ops.not_equal(y, y))
    return _ops.logical_or(close, both_nan)


def _wide(x):
    if x.dtype.kind in "iub":
        return _ops.astype(x, "float64")
    return _ops.astype(x, "float32") if x.dtype.itemsize <= 2 else x


def allclose(inp, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close, as those of `isclose`; the values are waited for.

    Args:
        inp, other: number[*D] or bool[*D] of any dtype, which broadcast
        rtol, atol, equal_nan: as those of isclose

    Returns:
        a bool of Python; a traced function runs eagerly for it

    Raises:
        ValueError, TypeError: as isclose

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.allclose(ts.tensor([1.0, 2.0]), ts.tensor([1.0, 2.1]), atol=0.2)
        True
    """
    return bool(all(isclose(inp, other, rtol, atol, equal_nan)))
