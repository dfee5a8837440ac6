"""The logarithm of the gamma function, as a formula of operators."""

import math as _math

from ._core import ops as _ops

_SHIFT = 8
# B_2k / (2k (2k - 1)) of Stirling's series: NIST Digital Library of Mathematical Functions, 5.11.1.
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_gamma(x):
    """log(gamma(x)) for x > 0, of x's dtype, made in float64; elsewhere NaN.

    Stirling's series at x + 8, less the logarithm of the factors between. What it leaves out is
    below 1e-14 there, and so is that of the digamma function, which is its gradient.
    """
    wide = _ops.astype(x, "float64")
    y = wide + _SHIFT
    # Two logarithms: one product of eight factors would overflow at 1e38.
    halves = [_product(wide, range(4)), _product(wide, range(4, _SHIFT))]
    square, tail = _ops.reciprocal(y * y), 0.0
    for term in reversed(_SERIES):
        tail = tail * square + term
    stirling = (y - 0.5) * _ops.log(y) - y + 0.5 * _math.log(2 * _math.pi) + tail / y
    return _ops.astype(stirling - _ops.log(halves[0]) - _ops.log(halves[1]), x.dtype)


def _product(x, numbers):
    """Of x + each number."""
    result = x + numbers[0]
    for number in numbers[1:]:
        result = result * (x + number)
    return result


def digamma(x):
    """The derivative of log_gamma, for x > 0, of x's dtype, made in float64.

    The series at x + 8 (5.11.2 there), less the reciprocals of the factors between.
    """
    wide = _ops.astype(x, "float64")
    y = wide + _SHIFT
    square, tail = _ops.reciprocal(y * y), 0.0
    for number, term in reversed([*enumerate(_SERIES)]):
        tail = tail * square + term * (2 * number + 1)
    result = _ops.log(y) - 0.5 / y - tail * square
    for number in range(_SHIFT):
        result = result - _ops.reciprocal(wide + number)
    return _ops.astype(result, x.dtype)
