"""Complex functions at zeros, infinities, NaN and the ends of the range, beside NumPy.

The grid has every pair of such parts. NumPy follows C11, Annex G, as Tessera does, but for what
DIFFERENT names; the standard leaves signs open where `open_sign` says so.
"""

import numpy as np
import pytest
from tessera import array_api as xp

INF, NAN = np.inf, np.nan
NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
         "acosh": "arccosh", "atanh": "arctanh"}  # fmt: skip
UNARY = ["sqrt", "exp", "log", "log2", "log10", "sinh", "cosh", "tanh", "sin", "cos", "tan", "asin",
         "acos", "atan", "asinh", "acosh", "atanh", "conj", "negative", "round", "log1p", "expm1",
         "reciprocal", "square", "sign", "abs"]  # fmt: skip


def ends(dtype):
    facts = np.finfo(dtype)
    few = [0.0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -2, 3]
    return np.array([*few, facts.tiny, -facts.tiny, facts.max, -facts.max], facts.dtype)


def pairs(a, b, dtype):
    a, b = np.broadcast_arrays(a, b)
    z = np.empty(a.shape, dtype)
    z.real, z.imag = a, b
    return z.ravel()


def grid(dtype):
    parts = ends(dtype)
    return pairs(parts[:, None], parts[None, :], dtype)


def likes(got, want, dtype, sign=True):
    """Which parts are the same: of the class of `want`, of its sign, and near it."""
    facts = np.finfo(dtype)
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= 40 * facts.eps * np.abs(want) + 4 * facts.tiny
    same = (got == want) | (near & np.isfinite(want))
    if sign:
        same &= (np.signbit(got) == np.signbit(want)) | ((got != 0) & (want != 0))
    return same | (np.isnan(got) & np.isnan(want))


def is_odd(z):
    return ~(np.isfinite(z.real) & np.isfinite(z.imag))


def is_large(z):
    return (np.abs(z.real) > 1e30) | (np.abs(z.imag) > 1e30)


def has_two_infs(z):
    return np.isinf(z.real) & np.isinf(z.imag)


# Where results differ from NumPy's on purpose: (why, names, where by the operand).
DIFFERENT = [
    ("C11 gives expm1 its values at infinite parts; NumPy computes with them",
     {"expm1"}, lambda z: is_odd(z) | is_large(z)),
    ("NumPy adds 1 first, which loses digits of small numbers, and its length overflows",
     {"log1p"}, lambda z: (np.abs(z) < 0.5) | is_large(z)),
    ("C11 leaves the sign of the zero beside an infinite part open where the other is, too",
     {"exp", "tanh", "tan"}, has_two_infs),
    ("C11 leaves the sign of the zero or infinity beside a NaN open",
     {"sin", "sinh", "cosh", "cos"}, is_odd),
    ("the signs of zeros are those of 1 divided by the formula; NumPy has another formula",
     {"reciprocal"}, lambda z: (z.real == 0) | (z.imag == 0) | is_odd(z) | is_large(z)),
    ("a product that overflows is inf - inf = NaN; NumPy's instructions round once",
     {"square"}, lambda z: is_large(z)),
    ("the sign of 0 is that 0, with its signs; NumPy's of a length that overflows is wrong",
     {"sign"}, lambda z: (z == 0) | is_large(z)),
]  # fmt: skip


def differs_on_purpose(name, z):
    found = np.zeros(z.shape, bool)
    for _, names, where in DIFFERENT:
        if name in names:
            found |= where(z)
    return found


def different(got, want, dtype):
    """Whether each element differs, in a part of complex ones."""
    if got.dtype.kind != "c":
        return ~likes(got, want, dtype)
    return ~(likes(got.real, want.real, dtype) & likes(got.imag, want.imag, dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", UNARY)
def test_a_function_is_numpys_on_the_grid(name, dtype):
    z = grid(dtype)
    got = getattr(xp, name)(xp.asarray(z)).numpy()
    with np.errstate(all="ignore"):
        want = getattr(np, NAMES.get(name, name))(z)
    wrong = different(got, want, dtype) & ~differs_on_purpose(name, z)
    assert not wrong.any(), list(zip(z[wrong], got[wrong], want[wrong], strict=True))[:6]


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: min(row[1]))
def test_each_difference_is_one(row):
    for name in row[1]:
        z = grid("complex64")
        got = getattr(xp, name)(xp.asarray(z)).numpy()
        with np.errstate(all="ignore"):
            want = getattr(np, NAMES.get(name, name))(z)
        assert (different(got, want, "complex64") & row[2](z)).any(), name
