"""NumPy's reductions of tensors, and functions that take tensors as arrays."""

import numpy as np
import pytest
import tessera

ARRAY = np.array([[1.0, 2.0, -4.0], [3.0, 5.0, 0.0]], "float32")
NAMES = ["all", "amax", "amin", "any", "max", "mean", "min", "prod", "ptp", "std", "sum", "var"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_are_the_packages(name, axis, keepdims):
    function, x = getattr(np, name), tessera.tensor(ARRAY)
    got, want = function(x, axis, keepdims=keepdims), function(ARRAY, axis, keepdims=keepdims)
    assert isinstance(got, tessera.Tensor) and got.dtype == want.dtype
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
    function(x, axis, out=(out := np.zeros_like(function(ARRAY, axis))))
    np.testing.assert_allclose(out, function(ARRAY, axis), rtol=1e-6)


def test_their_arguments():
    x = tessera.tensor(ARRAY)
    for function in (np.std, np.var):
        got, want = function(x, axis=1, ddof=1).numpy(), function(ARRAY, axis=1, ddof=1)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert np.sum(x, dtype="float64").dtype == "float64"
    for name in ("initial", "where"):
        with pytest.raises(TypeError, match=f"sum: a reduction of a tensor .* got {name}"):
            np.sum(x, **{name: 1})


def test_no_reduction_of_numpy_was_left_out():
    x, failed = tessera.tensor(ARRAY), []
    for name in [*NAMES, "median", "average", "argmax", "argmin", "count_nonzero", "cumsum",
                 "cumprod", "nansum", "nanmean", "nanmax", "linalg.norm", "quantile"]:  # fmt: skip
        function = getattr(np.linalg, name[7:]) if "." in name else getattr(np, name)
        how = (0.5,) if name == "quantile" else ()
        got, want = function(x, *how), function(ARRAY, *how)
        if not np.allclose(np.asarray(got), want):
            failed.append(name)
    assert not failed


def test_other_functions_take_tensors_as_arrays():
    x = tessera.tensor(ARRAY)
    assert np.array_equal(np.concatenate([x, ARRAY]), np.concatenate([ARRAY, ARRAY]))
    assert np.array_equal(np.stack([x, x]), np.stack([ARRAY, ARRAY]))
    assert np.array_equal(np.sort(x), np.sort(ARRAY)) and np.allclose(x, ARRAY)
