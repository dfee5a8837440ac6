"""How far a result may be from PyTorch's, which was computed in float64 on the same numbers.

Four units in the last place, and for sums some roundings of numbers as large as the largest one;
float16 and bfloat16: that of float32, and one rounding for each operator. Integers, NaN and
infinities are exact.
"""

from dataclasses import dataclass, replace

import numpy as np

from tests.opinfo.pools import dtype as dtype_of

_PARTS = {"complex64": "float32", "complex128": "float64"}
_HALVES = {"float16": (2.0**-10, 2.0**-24), "bfloat16": (2.0**-7, 2.0**-133)}
_UNITS = 4


def _spacing(numbers, dtype):
    """The distance of neighbours of the dtype around each number."""
    if dtype not in _HALVES:
        return np.asarray(np.spacing(np.abs(numbers).astype(dtype)), "float64")
    unit, least = _HALVES[dtype]
    exponent = np.floor(np.log2(np.maximum(np.abs(numbers), 2.0**-140)))
    return np.maximum(unit * 2.0**exponent, least)


@dataclass(frozen=True)
class Bound:
    """What is allowed beside four units: `terms` roundings of a number of `size`, or of the largest
    result; `roundings` to half precision, but for the last one of a number of that size; and with
    `overflows` NaN where a number is too large for the dtype.
    """

    terms: float = 0.0
    size: float = 0.0
    roundings: int = 1
    overflows: bool = False


def limit(want, dtype, bound):
    """The distance that is allowed of each finite number of `want`."""
    wide = "float32" if dtype in _HALVES else dtype
    size = np.abs(want).max(initial=bound.size)
    allowed = _UNITS * _spacing(want, wide) + bound.terms * np.finfo(wide).eps * size
    if dtype in _HALVES:
        before = (bound.roundings - 1) * _spacing(np.asarray(size), dtype)
        allowed = allowed + 0.5 * (_spacing(want, dtype) + before)
    return allowed


def narrowed(numbers, dtype):
    """The float64 numbers as those of `dtype`, infinite where they are too large for it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return numbers.astype(dtype_of(dtype)).astype("float64")


def _different(got, want, dtype, bound):
    """Which of float64 numbers are too far away."""
    near = narrowed(want, dtype)
    finite = np.isfinite(near) & np.isfinite(want)
    exact = (got == near) | (np.isnan(got) & np.isnan(near))
    exact |= bound.overflows & np.isnan(got) & np.isfinite(want)
    with np.errstate(invalid="ignore"):
        allowed = limit(np.where(finite, want, 0.0), dtype, bound)
        return ~np.where(finite, np.abs(got - want) <= allowed, exact)


def different(got, want, dtype, bound):
    """Which elements of `got`, of the dtype of that name, are not those of `want`, a wide one."""
    if dtype in _PARTS:
        got, want = np.asarray(got, "complex128"), np.asarray(want, "complex128")
        # A part is rounded as the whole: of a small one beside a large one little is left.
        bound = replace(bound, terms=bound.terms + _UNITS)
        pairs = ((got.real, want.real), (got.imag, want.imag))
        return np.any([_different(*pair, _PARTS[dtype], bound) for pair in pairs], axis=0)
    if dtype_of(dtype).kind in "biu":
        return np.asarray(got) != want
    return _different(np.asarray(got, "float64"), np.asarray(want, "float64"), dtype, bound)
