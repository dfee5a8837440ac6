"""Real functions at the special values that the standard's tables list, beside NumPy.

The tables of the standard are those of C11, Annex F, which NumPy follows, too. A grid of all pairs
of such values has each line of each table.
"""

import numpy as np
import pytest
from tessera import array_api as xp

INF, NAN = np.inf, np.nan
NAMES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
         "atan": "arctan", "atanh": "arctanh", "atan2": "arctan2"}  # fmt: skip
ONE = ["abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp",
       "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log1p", "log2", "log10", "negative",
       "positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan",
       "tanh", "trunc"]  # fmt: skip
TWO = ["add", "atan2", "copysign", "divide", "floor_divide", "hypot", "logaddexp", "maximum",
       "minimum", "multiply", "nextafter", "pow", "remainder", "subtract"]  # fmt: skip
# Where both operands are zeros the standard leaves open which zero is the result.
OPEN_ZEROS = {"maximum", "minimum", "nextafter"}


def values(dtype):
    facts = np.finfo(dtype)
    few = [0.0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2, -2, 3, -3, 7.25]
    ends = [facts.tiny, -facts.tiny, facts.max, -facts.max, facts.smallest_subnormal]
    return np.array([*few, *ends], dtype)


def likes(got, want):
    if want.dtype == bool:
        return got == want
    facts = np.finfo(want.dtype)
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= 8 * facts.eps * np.abs(want) + 4 * facts.smallest_subnormal
    same = ((got == want) & (np.signbit(got) == np.signbit(want))) | (near & (got != 0))
    return same | (np.isnan(got) & np.isnan(want))


def numpys(name, *operands):
    with np.errstate(all="ignore"):
        return getattr(np, NAMES.get(name, name))(*operands)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_operand(name, dtype):
    x = values(dtype)
    got, want = getattr(xp, name)(xp.asarray(x)).numpy(), numpys(name, x)
    wrong = ~likes(got, want)
    assert not wrong.any(), list(zip(x[wrong], got[wrong], want[wrong], strict=True))[:6]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_operands(name, dtype):
    x = np.repeat(values(dtype), values(dtype).size)
    y = np.tile(values(dtype), values(dtype).size)
    got, want = getattr(xp, name)(xp.asarray(x), xp.asarray(y)).numpy(), numpys(name, x, y)
    wrong = ~likes(got, want)
    if name in OPEN_ZEROS:
        wrong &= (x != 0) | (y != 0)
    assert not wrong.any(), list(zip(x[wrong], y[wrong], got[wrong], want[wrong], strict=True))[:6]
