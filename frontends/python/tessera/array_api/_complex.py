"""Functions of complex numbers, from real ones of their parts.

Special values are those of C11, Annex G: a number with an infinite part is infinite, whatever the
other part is. W. Kahan: Branch cuts for complex elementary functions, 1987, has the formulas of
square roots and inverse functions.
"""

import math

from .._core import ops as _ops
from ._dtypes import finfo

_PI = math.pi


def parts(z):
    """Real and imaginary part."""
    return _ops.real(z), _ops.imag(z)


def each_part(function, z):
    """The function of each part."""
    return _ops.complex(*map(function, parts(z)))


def _is_inf(x, value=math.inf):
    return _ops.equal(x, value)


def _has_inf(a, b):
    return _ops.logical_or(_ops.isinf(a), _ops.isinf(b))


def _is_not_finite(x):
    return _ops.logical_not(_ops.isfinite(x))


def _and(*conditions):
    first, *rest = conditions
    for each in rest:
        first = _ops.logical_and(first, each)
    return first


def _times_i(z):
    a, b = parts(z)
    return _ops.complex(-b, a)


def _over_i(z):
    a, b = parts(z)
    return _ops.complex(b, -a)


def sign(z):
    """z / |z|; 0 of 0, ±1 or ±i where one part alone is infinite, NaN where both are."""
    a, b = parts(z)
    isfar = _ops.greater(_ops.maximum(_ops.abs(a), _ops.abs(b)), finfo(a.dtype).max / 4)
    scale = _ops.where(isfar, 0.25, 1.0)  # its length does not overflow
    size = _ops.abs(_ops.complex(a * scale, b * scale))
    divisor = _ops.where(_ops.equal(size, 0), 1.0, size)

    def _of(part):
        one = _ops.copysign(_ops.ones_like(part), part)
        end = _ops.where(_ops.isinf(part), one, 0.0)
        return _ops.where(_ops.isinf(size), end, part * scale / divisor)

    isboth = _and(_ops.isinf(a), _ops.isinf(b))
    return _ops.where(isboth, complex(math.nan, math.nan), each_part(_of, z))


def expm1(z):
    """e**z - 1."""
    a, b = parts(z)
    isodd, isleft = _is_not_finite(b), _is_inf(a, -math.inf)
    re = _ops.expm1(a) * _ops.cos(b) - 2.0 * _ops.square(_ops.sin(0.5 * b))
    re = _ops.where(_and(_is_inf(a), isodd), math.inf, re)
    im = _ops.where(_ops.equal(b, 0), b, _ops.exp(a) * _ops.sin(b))
    im = _ops.where(_and(isleft, isodd), 0.0, im)
    return _ops.complex(_ops.where(isleft, -1.0, re), im)


def _log_length(a, b):
    """log |a + b i|."""
    return _ops.real(_ops.log(_ops.complex(a, b)))


def log1p(z):
    """log(1 + z)."""
    a, b = parts(z)
    small = 0.5 * _ops.log1p(a * (a + 2.0) + _ops.square(b))
    issmall = _and(_ops.less(_ops.abs(a), 0.5), _ops.less(_ops.abs(b), 0.5))
    moved = a + 1.0
    return _ops.complex(_ops.where(issmall, small, _log_length(moved, b)), _ops.atan2(b, moved))


def sqrt(z):
    """The square root in the right half of the plane, of numbers scaled away from the ends."""
    a, b = parts(z)
    facts = finfo(a.dtype)
    large = _ops.maximum(_ops.abs(a), _ops.abs(b))
    up = facts.eps**-2
    isbig, issmall = (
        _ops.greater(large, facts.max / 4),
        _ops.less(large, facts.smallest_normal * up),
    )
    scale = _ops.where(isbig, 0.25, _ops.where(issmall, _ops.full_like(a, up), 1.0))
    back = _ops.where(isbig, 2.0, _ops.where(issmall, _ops.full_like(a, facts.eps), 1.0))
    re, im = _root_of_parts(a * scale, b * scale)
    isinf = _ops.isinf(b)
    return _ops.complex(_ops.where(isinf, math.inf, re * back), _ops.where(isinf, b, im * back))


def _root_of_parts(a, b):
    root = _ops.sqrt(0.5 * _ops.abs(a) + 0.5 * _ops.abs(_ops.complex(a, b)))
    other = b / (2.0 * root)
    isright = _ops.logical_not(_ops.signbit(a))
    re = _ops.where(isright, root, _ops.abs(other))
    im = _ops.where(isright, other, _ops.copysign(root, b))
    iszero = _ops.equal(root, 0)
    return _ops.where(iszero, 0.0, re), _ops.where(iszero, b, im)


def sinh(z):
    """The hyperbolic sine."""
    a, b = parts(z)
    isodd = _is_not_finite(b)
    re = _ops.where(_and(_ops.equal(a, 0), isodd), a, _ops.sinh(a) * _ops.cos(b))
    re = _ops.where(_and(_ops.isinf(a), isodd), a, re)
    im = _ops.where(_ops.equal(b, 0), b, _ops.cosh(a) * _ops.sin(b))
    return _ops.complex(re, im)


def cosh(z):
    """The hyperbolic cosine."""
    a, b = parts(z)
    re = _ops.where(_and(_ops.isinf(a), _is_not_finite(b)), math.inf, _ops.cosh(a) * _ops.cos(b))
    im = _ops.sinh(a) * _ops.sin(b)
    iszero = _ops.logical_or(_ops.equal(a, 0), _ops.equal(b, 0))
    zero = _ops.copysign(_ops.zeros_like(a), a) * _ops.where(_ops.signbit(b), -1.0, 1.0)
    return _ops.complex(re, _ops.where(_and(iszero, _ops.isnan(im)), zero, im))


def tanh(z):
    """The hyperbolic tangent."""
    a, b = parts(z)
    tangent, sine = _ops.tan(b), _ops.sinh(a)
    beta = _ops.square(tangent) + 1.0
    below = beta * _ops.square(sine) + 1.0
    re = beta * _ops.sqrt(_ops.square(sine) + 1.0) * sine / below
    im = tangent / below
    isfar = _ops.greater(_ops.abs(a), -0.5 * math.log(finfo(a.dtype).eps) + 1)
    far = 4.0 * _ops.sin(b) * _ops.cos(b) * _ops.exp(-2.0 * _ops.abs(a))
    isodd = _is_not_finite(b)
    far = _ops.where(_and(_ops.isinf(a), isodd), 0.0, far)
    end = _ops.where(_and(_ops.isfinite(a), isodd), math.nan, _ops.copysign(_ops.ones_like(a), a))
    re = _ops.where(isfar, end, re)
    im = _ops.where(isfar, far, im)
    return _ops.complex(_ops.where(_ops.equal(a, 0), a, re), _ops.where(_ops.equal(b, 0), b, im))


def sin(z):
    """The sine: -i sinh(i z)."""
    return _over_i(sinh(_times_i(z)))


def cos(z):
    """The cosine: cosh(i z)."""
    return cosh(_times_i(z))


def tan(z):
    """The tangent: -i tanh(i z)."""
    return _over_i(tanh(_times_i(z)))


def _roots_beside_one(z):
    """The parts of sqrt(1 - z) and sqrt(1 + z), with the sign of a zero as imaginary part."""
    a, b = parts(z)
    return parts(sqrt(_ops.complex(1.0 - a, -b))), parts(sqrt(_ops.complex(1.0 + a, b)))


def asin(z):
    """The inverse sine: -i asinh(i z)."""
    return _over_i(asinh(_times_i(z)))


def asinh(z):
    """The inverse hyperbolic sine, which is -i asin(i z)."""
    w = _times_i(z)
    (c, d), (e, f) = _roots_beside_one(w)
    angle = _ops.atan(_ops.real(w) / (c * e - d * f))
    re = _asinh_of(c * f - d * e, z, _ops.real(z))
    return _asinh_at_the_ends(z, re, -angle)


def _asinh_of(x, z, sign):
    """asinh(x) with the sign of `sign`: log |2 z| where x, about |z|, may have overflown."""
    far = _ops.real(_ops.log(z)) + math.log(2)
    isfar = _ops.greater(_ops.abs(z), 1 / finfo(sign.dtype).eps ** 2)
    return _ops.where(isfar, _ops.copysign(far, sign), _ops.asinh(x))


def _asinh_at_the_ends(z, re, im):
    a, b = parts(z)
    isinf = _has_inf(a, b)
    ends = _ops.copysign(_ops.atan2(_ops.abs(b), _ops.abs(a)), b)
    re = _ops.where(isinf, _ops.copysign(_ops.full_like(a, math.inf), a), re)
    im = _ops.where(isinf, ends, im)
    return _ops.complex(re, _ops.where(_and(_ops.isnan(a), _ops.equal(b, 0)), b, im))


def acos(z):
    """The inverse cosine, with a real part in [0, pi]."""
    a, b = parts(z)
    (c, d), (e, f) = _roots_beside_one(z)
    isinf = _has_inf(a, b)
    re = _ops.where(isinf, _ops.atan2(_ops.abs(b), a), 2.0 * _ops.atan2(c, e))
    re = _ops.where(_and(_ops.equal(a, 0), _ops.isnan(b)), 0.5 * _PI, re)
    end = _ops.copysign(_ops.full_like(a, math.inf), -b)
    return _ops.complex(re, _ops.where(isinf, end, _asinh_of(e * d - f * c, z, -b)))


def acosh(z):
    """The inverse hyperbolic cosine: that of i acos(z) and -i acos(z) in the right half."""
    re, im = parts(acos(z))
    return _ops.complex(_ops.abs(im), _ops.copysign(re, _ops.imag(z)))


def atan(z):
    """The inverse tangent: -i atanh(i z)."""
    return _over_i(atanh(_times_i(z)))


def atanh(z):
    """The inverse hyperbolic tangent."""
    a, b = parts(z)
    size = _ops.abs(a)
    re = 0.25 * _ops.log1p(4.0 * size / (_ops.square(1.0 - size) + _ops.square(b)))
    isnear = _and(_ops.equal(size, 1), _ops.less(_ops.abs(b), finfo(a.dtype).eps))
    re = _ops.where(isnear, 0.5 * (math.log(2) - _ops.log(_ops.abs(b))), re)  # b * b may vanish
    im = 0.5 * _ops.atan2(2.0 * b, (1.0 - size) * (1.0 + size) - _ops.square(b))
    whole = _ops.abs(z)
    isfar, isinf = _ops.greater(whole, 1 / finfo(a.dtype).eps), _has_inf(a, b)
    re = _ops.where(isfar, size / whole / whole, re)
    re = _ops.where(_ops.logical_or(isinf, _ops.equal(a, 0)), 0.0, re)
    end = _ops.where(_ops.isnan(b), b, _ops.copysign(_ops.full_like(b, 0.5 * _PI), b))
    im = _ops.where(_ops.logical_or(isfar, isinf), end, im)
    return _ops.complex(_ops.copysign(re, a), im)
