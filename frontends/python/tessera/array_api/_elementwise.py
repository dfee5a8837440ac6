"""Functions of one element of each operand; operands broadcast, Python numbers never widen."""

import math

from .._core import ops as _ops
from . import _complex
from ._dtypes import kind_of
from ._integers import power as _power
from ._next_after import next_after as _next_after

_LOG2_E, _LOG10_E = 1 / math.log(2), 1 / math.log(10)


def add(x1, x2, /):
    """The sum; integers wrap around."""
    return _ops.add(x1, x2)


def subtract(x1, x2, /):
    """The difference; integers wrap around."""
    return _ops.sub(x1, x2)


def multiply(x1, x2, /):
    """The product; integers wrap around. Complex numbers by the textbook's formula."""
    return _ops.mul(x1, x2)


def divide(x1, x2, /):
    """The quotient of floats or complex numbers."""
    return _ops.div(x1, x2)


def floor_divide(x1, x2, /):
    """The largest integer not above the quotient."""
    return _ops.floor_div(x1, x2)


def remainder(x1, x2, /):
    """The remainder, with the sign of the divisor."""
    return _ops.mod(x1, x2)


def pow(x1, x2, /):
    """The power; of integers an integer, which wraps around."""
    return _power(x1, x2) if kind_of(x1, x2) in "iu" else _ops.pow(x1, x2)


def equal(x1, x2, /):
    """Whether elements are equal."""
    return _ops.equal(x1, x2)


def not_equal(x1, x2, /):
    """Whether elements differ."""
    return _ops.not_equal(x1, x2)


def less(x1, x2, /):
    """Whether x1 is below x2."""
    return _ops.less(x1, x2)


def less_equal(x1, x2, /):
    """Whether x1 is not above x2."""
    return _ops.less_equal(x1, x2)


def greater(x1, x2, /):
    """Whether x1 is above x2."""
    return _ops.greater(x1, x2)


def greater_equal(x1, x2, /):
    """Whether x1 is not below x2."""
    return _ops.greater_equal(x1, x2)


def maximum(x1, x2, /):
    """The larger element; NaN if either is."""
    return _ops.maximum(x1, x2)


def minimum(x1, x2, /):
    """The smaller element; NaN if either is."""
    return _ops.minimum(x1, x2)


def clip(x, /, min=None, max=None):
    """The element limited to `min` to `max`, numbers or tensors, in the dtype of x."""
    result = x if min is None else _ops.maximum(x, min)
    result = result if max is None else _ops.minimum(result, max)
    if result is x:
        return _ops.copy(x)
    return result if result.dtype == x.dtype else _ops.astype(result, x.dtype)


def logical_and(x1, x2, /):
    """Whether both are true."""
    return _ops.logical_and(x1, x2)


def logical_or(x1, x2, /):
    """Whether one is true."""
    return _ops.logical_or(x1, x2)


def logical_xor(x1, x2, /):
    """Whether exactly one is true."""
    return _ops.logical_xor(x1, x2)


def logical_not(x, /):
    """Whether it is false."""
    return _ops.logical_not(x)


def bitwise_and(x1, x2, /):
    """And of each bit, or of bools."""
    return x1 & x2


def bitwise_or(x1, x2, /):
    """Or of each bit, or of bools."""
    return x1 | x2


def bitwise_xor(x1, x2, /):
    """Exclusive or of each bit, or of bools."""
    return x1 ^ x2


def bitwise_invert(x, /):
    """Each bit inverted, or the bool."""
    return ~x


def bitwise_left_shift(x1, x2, /):
    """x1 * 2**x2, which wraps around."""
    return _ops.left_shift(x1, x2)


def bitwise_right_shift(x1, x2, /):
    """x1 / 2**x2, rounded down."""
    return _ops.right_shift(x1, x2)


def atan2(x1, x2, /):
    """The angle of the point (x2, x1), in [-pi, pi]."""
    return _ops.atan2(x1, x2)


def logaddexp(x1, x2, /):
    """The logarithm of the sum of exponentials, without overflow."""
    return _ops.logaddexp(x1, x2)


def hypot(x1, x2, /):
    """sqrt(x1**2 + x2**2), without overflow; inf where either is infinite."""
    return _ops.hypot(x1, x2)


def copysign(x1, x2, /):
    """The size of x1 with the sign of x2, of a zero and of a NaN, too."""
    return _ops.copysign(x1, x2)


def signbit(x, /):
    """Whether the sign is negative, of a zero and of a NaN, too."""
    return _ops.signbit(x)


def nextafter(x1, x2, /):
    """The next number after x1 in the direction of x2.

    S. Rump, P. Zimmermann, S. Boldo, G. Melquiond: Computing predecessor and successor in rounding
    to nearest, BIT 49, 2009, algorithm 2; the ends of the range by themselves.
    """
    return _next_after(x1, x2)


def abs(x, /):
    """The absolute value; of a complex number its length."""
    return _ops.abs(x)


def negative(x, /):
    """The element with the other sign."""
    return _ops.neg(x)


def positive(x, /):
    """The element itself, in memory of its own."""
    return _ops.copy(x)


def sign(x, /):
    """-1, 0 or 1, as the sign; of a complex number x / abs(x)."""
    return _complex.sign(x) if x.dtype.kind == "c" else _ops.sign(x)


def square(x, /):
    """The element times itself."""
    return _ops.square(x)


def reciprocal(x, /):
    """One over the element."""
    return _ops.div(1, x) if x.dtype.kind == "c" else _ops.reciprocal(x)


def conj(x, /):
    """The conjugate of a complex number."""
    return _ops.conj(x)


def real(x, /):
    """The real part."""
    return _ops.real(x)


def imag(x, /):
    """The imaginary part."""
    return _ops.imag(x)


def ceil(x, /):
    """The smallest integer not below the element, in its dtype."""
    return _ops.ceil(x)


def floor(x, /):
    """The largest integer not above the element, in its dtype."""
    return _ops.floor(x)


def trunc(x, /):
    """The integer part, in the element's dtype."""
    return _ops.trunc(x)


def round(x, /):
    """The nearest integer, halves to even, in the element's dtype; of each part of complex ones."""
    if x.dtype.kind == "c":
        return _complex.each_part(_ops.round, x)
    return _ops.round(x)


def isfinite(x, /):
    """Whether the element is a finite number, or both its parts are."""
    return _asked(_ops.isfinite, _ops.logical_and, x)


def isinf(x, /):
    """Whether the element is infinite, or one of its parts is."""
    return _asked(_ops.isinf, _ops.logical_or, x)


def isnan(x, /):
    """Whether the element is NaN, or one of its parts is."""
    return _asked(_ops.isnan, _ops.logical_or, x)


def _asked(question, join, x):
    if x.dtype.kind != "c":
        return question(x)
    return join(question(_ops.real(x)), question(_ops.imag(x)))


def log2(x, /):
    """The logarithm of base 2, exact of powers of 2."""
    return _log_of_base(_ops.log2, _LOG2_E, x)


def log10(x, /):
    """The logarithm of base 10, exact of powers of 10 up to 10**22."""
    return _log_of_base(_ops.log10, _LOG10_E, x)


def _log_of_base(ofreals, factor, x):
    if x.dtype.kind != "c":
        return ofreals(x)
    return _complex.each_part(lambda part: _ops.mul(part, factor), _ops.log(x))
