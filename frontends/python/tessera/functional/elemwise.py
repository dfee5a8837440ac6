"""Functions of one element of each operand; operands broadcast.

Most take `inplace=True`: the result is written into the memory of the first operand, which is
returned. Views of that memory see it, copies of the value (`detach()`, `Tensor(x)`) do not.
ValueError: the operand must have the shape and dtype of the result and an element of its own for
each index, must not be a tensor whose gradient is wanted while it is recorded, and nothing of it
may happen in a trace. A gradient that needs what was written is an error that names both lines.

>>> import tessera as ts
>>> import tessera.functional as F
>>> x = ts.tensor([[1.0, -2.0], [3.0, -4.0]])
>>> row = x[1]
>>> F.abs(x, inplace=True) is x, row.tolist()
(True, [3.0, 4.0])
"""

import math as _math

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .generated import export


def clip(x, lower=-_math.inf, upper=_math.inf, *, inplace=False):
    """Each element limited to `lower` to `upper`: numbers, or tensors, which are operands.

    Tensors broadcast and get gradients; the dtype is the promoted one then.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.clip(ts.tensor([1.0, 5.0]), 2.0, ts.tensor([9.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    if not any(_is_operand(bound) for bound in (lower, upper)):
        return _ops.clip(x, lower, upper, inplace=inplace)
    above = x if lower is None else _ops.maximum(x, lower, inplace=inplace)
    return above if upper is None else _ops.minimum(above, upper, inplace=inplace)


def nan_to_num(inp, nan=0.0, posinf=None, neginf=None):
    """The elements with NaN replaced by `nan` and infinities by `posinf` and `neginf`, without
    which by the largest and the lowest number of the dtype; as NumPy's nan_to_num.

    Args:
        inp: number[*D]
        nan, posinf, neginf: floats

    Returns:
        number[*D], of the dtype of inp; integers are what they were

    Raises:
        TypeError: inp must be a tensor or an array of real numbers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.nan_to_num(ts.tensor([1.0, float("nan"), float("inf")]), posinf=9.0).tolist()
        [1.0, 0.0, 9.0]
    """
    inp = inp if isinstance(inp, _Tensor) else _Tensor(inp)
    if inp.dtype.kind in "biu":
        return inp
    from ml_dtypes import finfo  # takes 6 ms, which few need

    largest = float(finfo(inp.dtype).max)
    posinf, neginf = largest if posinf is None else posinf, -largest if neginf is None else neginf
    finite = _ops.where(_ops.isnan(inp), nan, inp)
    finite = _ops.where(_ops.equal(inp, _math.inf), posinf, finite)
    return _ops.where(_ops.equal(inp, -_math.inf), neginf, finite)


def _is_operand(bound):
    """Whether a bound is no attribute: a tensor, or an integer that float64 may not have."""
    is_int = type(bound) is int or isinstance(bound, _np.integer)
    is_long = is_int and not -(1 << 53) <= bound <= 1 << 53
    return is_long or isinstance(bound, (_Tensor, _np.ndarray))


export(globals())
