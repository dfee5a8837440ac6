"""Medians, quantiles, nan_to_num, isclose, all and any beside NumPy."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import grad

from tests.support.helper import assert_close, assert_same_everywhere, floats

NAN, INF = float("nan"), float("inf")
AXES = [None, 0, -1, (0, 2), (0, 1, 2)]
METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 1, 6)])
def test_median_beside_numpy(shape, axis, keepdims):
    x = floats(*shape)
    got = F.median(tessera.Tensor(x), axis, keepdims)
    assert_close(got, np.median(x, axis, keepdims=keepdims), 1e-6)
    assert got.shape == np.median(x, axis, keepdims=keepdims).shape


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0, [0.1, 0.9], [[0.25], [0.75]]])
def test_quantile_beside_numpy(q, axis, method):
    x = floats(3, 4, 5).astype("f8")
    got = F.quantile(tessera.Tensor(x, dtype="float64"), q, axis, method=method)
    expected = np.quantile(x, q, axis, method=method)
    assert got.shape == expected.shape
    assert_close(got, expected, 1e-12, 1e-15)


def test_in_every_mode_and_of_integers():
    (got,) = assert_same_everywhere(lambda x: F.quantile(x, [0.2, 0.7], axis=1), floats(5, 3))
    assert_close(got, np.quantile(floats(5, 3), [0.2, 0.7], axis=1), 1e-6)
    counts = np.array([[5, 1, 4], [2, 2, 9]], "int32")
    got = F.median(tessera.Tensor(counts), axis=1)
    assert got.dtype == "float32" and got.tolist() == [4.0, 2.0]
    assert F.quantile([1, 2, 3, 4], tessera.tensor(0.5)).item() == 2.5


def test_nan_and_infinities():
    x = np.array([[1.0, NAN, 2.0], [INF, INF, -INF], [INF, 0.0, INF]], "float32")
    got = F.median(tessera.Tensor(x), axis=1).tolist()
    assert np.isnan(got[0]) and got[1:] == [INF, INF]
    even = tessera.tensor([INF, INF, 1.0, 2.0])
    assert F.median(even).item() == INF and F.quantile(even, 1.0).item() == INF


def test_gradients_go_to_the_elements_that_are_read():
    x = tessera.tensor([3.0, 1.0, 2.0, 9.0])
    assert grad(F.median)(x).tolist() == [0.5, 0.0, 0.5, 0.0]
    slope = grad(lambda x: F.quantile(x, 0.75))(x).tolist()
    np.testing.assert_allclose(slope, [0.75, 0.0, 0.0, 0.25], rtol=1e-6)


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda x: F.quantile(x, 1.5), ValueError, r"quantile: q must be in \[0, 1\], got 1.5"),
    (lambda x: F.quantile(x, NAN), ValueError, "quantile: q must be in"),
    (lambda x: F.quantile(x, []), ValueError, "quantile: q must have a number"),
    (lambda x: F.quantile(x, 0.5, method="best"), ValueError, "quantile: method must be one of"),
    (lambda x: F.median(x, 2), ValueError, r"median: axis must be distinct axes in \[-2, 1\], got"),
    (lambda x: F.median(x, (0, -2)), ValueError, "median: axis must be distinct axes"),
    (lambda x: F.median(x, 0.5), TypeError, "median: axis must be an int or several, got 0.5"),
    (lambda x: F.median(x[:0]), ValueError, r"median: axes must have elements, got \(0, 3\)"),
])  # fmt: skip
def test_what_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call(tessera.Tensor(floats(2, 3)))


@pytest.mark.parametrize("options", [{}, {"nan": 7.0}, {"posinf": 3.0}, {"neginf": -3.0, "nan": 1}])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_to_num_beside_numpy(dtype, options):
    x = np.array([1.0, NAN, INF, -INF, -0.0], dtype)
    got = F.nan_to_num(tessera.Tensor(x, dtype=dtype), **options)
    assert got.dtype == dtype
    assert got.tolist() == np.nan_to_num(x, **options).tolist()
    assert F.nan_to_num(tessera.tensor([1, 2])).tolist() == [1, 2]


def test_nan_to_num_of_bfloat16_and_in_gradients():
    x = tessera.tensor([INF, 1.0]).astype("bfloat16")
    assert F.nan_to_num(x).astype("float32").tolist() == [3.3895313892515355e38, 1.0]
    slope = grad(lambda x: F.nan_to_num(x).sum())(tessera.tensor([NAN, 2.0, INF]))
    assert slope.tolist() == [0.0, 1.0, 0.0]


PAIRS = [
    ([1.0, 2.0, NAN, INF, -INF, 0.0], [1.000001, 2.1, NAN, INF, INF, 1e-9]),
    ([1, 2, 3], [1, 2, 4]),
    ([250, 3], [5, 3]),
    (1.0, [1.0, 1.1]),
    ([True, False], [True, True]),
]


@pytest.mark.parametrize("options", [{}, {"rtol": 0.1}, {"atol": 1.0}, {"equal_nan": True}])
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_isclose_and_allclose_beside_numpy(x, y, options):
    x, y = np.asarray(x), np.asarray(y)
    expected = np.isclose(x, y, **options)
    assert F.isclose(x, y, **options).tolist() == expected.tolist()
    got = F.allclose(tessera.Tensor(x), tessera.Tensor(y), **options)
    assert got is bool(expected.all())


def test_small_unsigned_integers_do_not_wrap_around():
    x, y = tessera.tensor([250], dtype="uint8"), tessera.tensor([5], dtype="uint8")
    assert not F.allclose(x, y, atol=20.0) and F.allclose(x, y, atol=250.0)


@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("axis", [*AXES, ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_all_and_any_beside_numpy(name, axis, keepdims):
    whole = np.random.default_rng(0).random((3, 2, 4)) > 0.3
    for x in (whole, whole * 2.5, np.where(whole, NAN, 0), whole[:, :0], whole.astype("int8")):
        got = getattr(F, name)(x, axis, keepdims)
        expected = getattr(np, name)(x, axis, keepdims=keepdims)
        assert got.dtype == bool and got.tolist() == expected.tolist()
