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


# NumPy looks for methods by these functions' names; a method of other arguments must not answer.
CALLS = {
    "all axis": lambda x: np.all(x, axis=0),
    "argmax": lambda x: np.argmax(x),
    "argmax axis": lambda x: np.argmax(x, axis=1),
    "argmin keepdims": lambda x: np.argmin(x, axis=0, keepdims=True),
    "argsort": lambda x: np.argsort(x, axis=0),
    "around": lambda x: np.around(x / 3, 1),
    "average": lambda x: np.average(x, axis=0),
    "clip": lambda x: np.clip(x, -1, 2),
    "compress": lambda x: np.compress([True, False], x, axis=0),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "count_nonzero": lambda x: np.count_nonzero(x, axis=1),
    "cross": lambda x: np.cross(x[0], x[1]),
    "cumprod": lambda x: np.cumprod(x, axis=1),
    "cumsum": lambda x: np.cumsum(x),
    "cumsum dtype": lambda x: np.cumsum(x, axis=0, dtype="float64"),
    "diagonal": lambda x: np.diagonal(x),
    "diff": lambda x: np.diff(x, axis=1),
    "dot": lambda x: np.dot(x, x.T),
    "expand_dims": lambda x: np.expand_dims(x, (0, 2)),
    "flip": lambda x: np.flip(x, 1),
    "isclose": lambda x: np.isclose(x, x + 1e-9),
    "max initial": lambda x: np.asarray(x).max(initial=9.0),
    "median": lambda x: np.median(x, axis=1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "nonzero": lambda x: np.nonzero(x)[1],
    "norm": lambda x: np.linalg.norm(x, 1, axis=1),
    "outer": lambda x: np.outer(x[0], x[1]),
    "percentile": lambda x: np.percentile(x, 30, axis=1),
    "prod dtype": lambda x: np.prod(x, axis=0, dtype="float64"),
    "quantile": lambda x: np.quantile(x, 0.3),
    "ravel": lambda x: np.ravel(x),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "roll": lambda x: np.roll(x, 1),
    "round": lambda x: np.round(x / 3, 2),
    "searchsorted": lambda x: np.searchsorted(np.sort(x[0]), x[1], side="right"),
    "sort": lambda x: np.sort(x, axis=0),
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "squeeze": lambda x: np.squeeze(x[:1], axis=0),
    "std": lambda x: np.std(x, axis=0, keepdims=True),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "take": lambda x: np.take(x, [1, 0], axis=1),
    "tile": lambda x: np.tile(x, (2, 1)),
    "trace": lambda x: np.trace(x),
    "transpose": lambda x: np.transpose(x),
    "unique": lambda x: np.unique(x),
    "var out": lambda x: np.var(x, axis=0, out=np.zeros(3)),
    "where": lambda x: np.where(x > 0, x, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_function_has_numpys_values(name):
    got, want = CALLS[name](tessera.tensor(ARRAY)), CALLS[name](ARRAY)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)
