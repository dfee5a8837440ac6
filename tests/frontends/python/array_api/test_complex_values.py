"""Complex functions at zeros, infinities, NaN and the ends of the range, beside NumPy.

The grid has every pair of such parts. NumPy follows C11, Annex G, as Tessera does, but for what
DIFFERENT names; the standard leaves signs open where `open_sign` says so.
"""

import numpy as np
import pytest
from tessera import array_api as xp
from tessera import functional as F  # noqa: N812

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


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["exp", "log", "abs", "angle", "conj"])
def test_the_functional_form_is_the_same(name, dtype):
    z = grid(dtype)
    got = getattr(F, name)(xp.asarray(z)).numpy()
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    wrong = different(got, want, dtype) & ~differs_on_purpose(name, z)
    assert not wrong.any(), list(zip(z[wrong], got[wrong], want[wrong], strict=True))[:6]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_quotient_is_infinite_by_0_and_0_by_an_infinity(dtype):
    """C11, Annex G.5.1: an infinite number has an infinite part, whatever the other one is."""
    z = grid(dtype)
    x, y = np.repeat(z, z.size), np.tile(z, z.size)
    got = xp.divide(xp.asarray(x), xp.asarray(y)).numpy()
    isinf, isnan = lambda v: np.isinf(v.real) | np.isinf(v.imag), np.isnan  # noqa: E731
    finite = lambda v: np.isfinite(v.real) & np.isfinite(v.imag)  # noqa: E731
    assert (got[finite(x) & ~is_large(x) & isinf(y)] == 0).all()
    assert isinf(got[isinf(x) & finite(y)]).all()
    by_zero = (y == 0) & (x != 0) & ~isnan(x)
    assert by_zero.any() and isinf(got[by_zero]).all()
    assert isnan(got[(x == 0) & (y == 0)]).all() and isnan(got[isinf(x) & isinf(y)]).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_whole_power_is_a_product(dtype):
    base = np.array([1j, -1j, 1 + 0.5j, -1.25, 0.5 - 1j, 1 + 1e-3j], dtype)
    for exponent in [*range(-9, 10), 33, -64, 100, 127]:
        got = (xp.asarray(base) ** exponent).numpy()
        want = base.astype(np.clongdouble) ** exponent
        assert (np.abs(got - want) <= 200 * np.finfo(dtype).eps * np.abs(want)).all(), exponent
    assert (xp.asarray(base[:1]) ** 2).numpy().tolist() == [-1 + 0j]
    assert (xp.asarray(base[:1]) ** 127).numpy().tolist() == [-1j]
    assert (xp.asarray(base[:1]) ** -1).numpy().tolist() == [-1j]


def test_an_exponential_beyond_the_range_of_its_length():
    z = np.array([89 + 1.5707j, 100 + 1.57079j, -120 + 2j], "complex64")
    want, got = np.exp(z.astype("complex128")).astype("complex64"), F.exp(xp.asarray(z)).numpy()
    np.testing.assert_allclose(got.real, want.real, rtol=1e-4)
    np.testing.assert_allclose(got.imag, want.imag, rtol=1e-4)
    assert np.isfinite(got.real).all() and np.isinf(got.imag).tolist() == [True, True, False]
