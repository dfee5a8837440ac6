"""Analytic functions of floats and of complex numbers; special values as C11, Annexes F and G."""

from .._core import ops as _ops
from . import _complex


def acos(x, /):
    """The inverse cosine."""
    return _complex.acos(x) if x.dtype.kind == "c" else _ops.acos(x)


def acosh(x, /):
    """The inverse hyperbolic cosine."""
    return _complex.acosh(x) if x.dtype.kind == "c" else _ops.acosh(x)


def asin(x, /):
    """The inverse sine."""
    return _complex.asin(x) if x.dtype.kind == "c" else _ops.asin(x)


def asinh(x, /):
    """The inverse hyperbolic sine."""
    return _complex.asinh(x) if x.dtype.kind == "c" else _ops.asinh(x)


def atan(x, /):
    """The inverse tangent."""
    return _complex.atan(x) if x.dtype.kind == "c" else _ops.atan(x)


def atanh(x, /):
    """The inverse hyperbolic tangent."""
    return _complex.atanh(x) if x.dtype.kind == "c" else _ops.atanh(x)


def cos(x, /):
    """The cosine."""
    return _complex.cos(x) if x.dtype.kind == "c" else _ops.cos(x)


def cosh(x, /):
    """The hyperbolic cosine."""
    return _complex.cosh(x) if x.dtype.kind == "c" else _ops.cosh(x)


def exp(x, /):
    """e to the power of the element."""
    return _ops.exp(x)


def expm1(x, /):
    """exp(x) - 1, exact near 0."""
    return _complex.expm1(x) if x.dtype.kind == "c" else _ops.expm1(x)


def log(x, /):
    """The natural logarithm."""
    return _ops.log(x)


def log1p(x, /):
    """log(1 + x), exact near 0."""
    return _complex.log1p(x) if x.dtype.kind == "c" else _ops.log1p(x)


def sin(x, /):
    """The sine."""
    return _complex.sin(x) if x.dtype.kind == "c" else _ops.sin(x)


def sinh(x, /):
    """The hyperbolic sine."""
    return _complex.sinh(x) if x.dtype.kind == "c" else _ops.sinh(x)


def sqrt(x, /):
    """The square root; of a complex number the one whose real part is not negative."""
    return _complex.sqrt(x) if x.dtype.kind == "c" else _ops.sqrt(x)


def tan(x, /):
    """The tangent."""
    return _complex.tan(x) if x.dtype.kind == "c" else _ops.tan(x)


def tanh(x, /):
    """The hyperbolic tangent."""
    return _complex.tanh(x) if x.dtype.kind == "c" else _ops.tanh(x)
