"""Powers and matrix products of integers, which wrap around."""

import numpy as np

from .._core import Tensor
from .._core import ops as _ops
from ._dtypes import cast, float64, int64, result_type

_MOST_TERMS = 1 << 18  # four times so many products of 16-bit numbers are exact in float64


def tensor_of(value, dtype):
    """A tensor, or a Python number as one of rank 0, in the dtype."""
    if isinstance(value, Tensor):
        return cast(value, dtype)
    return Tensor(np.asarray(value, dtype=dtype), dtype=dtype)


def power(x1, x2):
    """x1**x2 by squaring. ValueError: a Python exponent must not be negative."""
    dtype = result_type(x1, x2)
    base = tensor_of(x1, dtype)
    if isinstance(x2, int):
        return _power_of_number(base, x2)
    exponent = cast(x2, dtype)
    result = _ops.ones_like(base)
    for bit in range(8 * dtype.itemsize - (dtype.kind == "i")):
        isset = _ops.not_equal(_ops.bitwise_and(_ops.right_shift(exponent, bit), 1), 0)
        result = _ops.where(isset, _ops.mul(result, base), result)
        base = _ops.square(base)
    return result


def _power_of_number(base, exponent):
    if exponent < 0:
        raise ValueError(f"pow: exponent of integers must not be negative, got {exponent}")
    result = _ops.ones_like(base)
    while exponent:
        result = _ops.mul(result, base) if exponent & 1 else result
        base, exponent = _ops.square(base), exponent >> 1
    return result


def matmul(x1, x2):
    """The matrix product, by parts of 16 bits whose products and sums are exact in float64."""
    dtype = result_type(x1, x2)
    if x1.shape[-1] > _MOST_TERMS:
        return _by_sum(cast(x1, dtype), cast(x2, dtype))
    count = max(1, dtype.itemsize // 2)
    left, right = _parts(x1, count), _parts(x2, count)
    total = None
    for place in range(count):
        terms = [_ops.matmul(left[i], right[place - i]) for i in range(place + 1)]
        part = cast(sum(terms[1:], terms[0]), int64)
        part = _ops.left_shift(part, 16 * place) if place else part
        total = part if total is None else _ops.add(total, part)
    return cast(total, dtype)


def _parts(x, count):
    """The last `count` numbers of 16 bits that x is made of, as float64; of one number x itself."""
    if count == 1:
        return [cast(x, float64)]
    wide = cast(x, int64)
    parts = [_ops.right_shift(wide, 16 * i) if i else wide for i in range(count)]
    return [cast(_ops.bitwise_and(part, 0xFFFF), float64) for part in parts]


def _by_sum(x1, x2):
    rows = _ops.expand_dims(x1, -1) if x1.ndim > 1 else _ops.expand_dims(x1, 1)
    if x2.ndim == 1:
        return _ops.sum(_ops.mul(x1, x2), -1)
    product = _ops.mul(rows, _ops.expand_dims(x2, -3) if x1.ndim > 1 else x2)
    return _ops.sum(product, -2)
