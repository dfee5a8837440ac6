"""Gradients of writes by indices: of several values for one element the last one alone has some."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import grad
from tessera.jit import load, trace

from tests.support.helper import floats, numeric_gradient, same_bits

INDEX = np.array([2, 0, 2, -1])
WEIGHTS = floats(3, 4, seed=7, dtype=np.float64)


def assign(x, value):
    """Rows by indices, of which two are row 2."""
    x = F.copy(x) if isinstance(x, tessera.Tensor) else x.copy()
    x[tessera.Tensor(INDEX) if isinstance(x, tessera.Tensor) else INDEX] = value
    return x


def scatter(x, value):
    """Elements along axis 0; those of rows 0 and 2 have one place."""
    index = np.array([[2, 0, 1, 0], [1, 1, 0, 2], [2, 0, 1, 0], [0, 2, 2, 1]])
    if isinstance(x, tessera.Tensor):
        return F.scatter(x, 0, tessera.Tensor(index), value)
    out = x.copy()
    for row in range(4):  # in order: put_along_axis promises none
        np.put_along_axis(out, index[row : row + 1], value[row : row + 1], 0)
    return out


CASES = {
    "rows": (assign, (4, 4)),
    "one row for all": (assign, (4,)),
    "one number for all": (assign, ()),
    "scatter": (scatter, (4, 4)),
}


def loss(write, x, value):
    """A sum of different weights, squared so that a second derivative is there."""
    weights = tessera.Tensor(WEIGHTS) if isinstance(x, tessera.Tensor) else WEIGHTS
    out = write(x, value)
    return (out * out * weights).sum()


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_differences(name):
    write, shape = CASES[name]
    arrays = [floats(3, 4, dtype=np.float64), floats(*shape, seed=1, dtype=np.float64)]
    tensors = [tessera.Tensor(each, dtype="float64") for each in arrays]
    found = grad(lambda *given: loss(write, *given), (0, 1))(*tensors)
    for number, got in enumerate(found):
        want = numeric_gradient(lambda *given: loss(write, *given), arrays, number)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_second_gradients_are_differences(name):
    write, shape = CASES[name]
    arrays = [floats(3, 4, dtype=np.float64), floats(*shape, seed=1, dtype=np.float64)]
    slope = grad(lambda x, value: loss(write, x, value), 1)

    def number(x, value):
        tensors = [tessera.Tensor(each, dtype="float64") for each in (x, value)]
        return slope(*tensors).numpy().sum()

    tensors = [tessera.Tensor(each, dtype="float64") for each in arrays]
    got = grad(lambda x, value: slope(x, value).sum(), 1)(*tensors)
    np.testing.assert_allclose(got.numpy(), numeric_gradient(number, arrays, 1), 1e-5, 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_traced_gradients_are_the_same(name):
    write, shape = CASES[name]
    tensors = [tessera.Tensor(floats(3, 4)), tessera.Tensor(floats(*shape, seed=1))]
    eager = grad(lambda *given: (write(*given) ** 2).sum(), (0, 1))
    traced = trace(eager, capture_as_const=True)
    assert same_bits(traced(*tensors), eager(*tensors))
    assert same_bits(traced(*tensors), eager(*tensors))


NOTHING = {
    "none first": ([], [5]),
    "none last": ([5], []),
    "no columns": ([5], np.zeros((0, 1))),
    "no rows": (np.zeros((1, 0)), [[-9], [7]]),
}


def taken(x, *indices):
    return x[indices] * 2


def written(x, *indices):
    x = x * 1
    x[indices] = 7
    return x


@pytest.mark.parametrize("function", [taken, written])
@pytest.mark.parametrize("name", NOTHING)
def test_no_index_is_out_of_range_where_nothing_is_taken(name, function, tmp_path):
    indices = [np.array(each, "int32") for each in NOTHING[name]]
    x, tensors = tessera.Tensor(floats(3, 4)), [tessera.Tensor(each) for each in indices]
    want = function(x.numpy(), *indices)
    assert same_bits(function(x, *tensors), want) and same_bits(function(x, *indices), want)
    traced = trace(function, capture_as_const=True)
    for _ in range(3):
        assert same_bits(traced(x, *tensors), want)
    traced.dump(tmp_path / "p", arg_names=["x", "i", "j"])
    assert same_bits(load(tmp_path / "p")(x, *tensors), want)
    slope = grad(lambda x: function(x, *tensors).sum())(x)
    assert slope.tolist() == np.full((3, 4), 0.0 if function is taken else 1.0).tolist()


@pytest.mark.parametrize("key", [([5], slice(0, 0)), ([5], slice(None), None)])
def test_an_index_beside_axes_without_elements_is_read(key):
    for x in (floats(3, 4)[:, :0], tessera.Tensor(floats(3, 4)[:, :0])):
        with pytest.raises(IndexError, match="5"):
            np.asarray(x[key])


def scaled(x, rows, columns):
    x = x * 1
    x[rows, columns] = x[rows, columns] * 0.5
    return x


COUNTS = {
    "two and one": ([True, True, False], [False, True, False, False]),
    "one and two": ([False, True, False], [True, True, False, False]),
    "none and one": ([False] * 3, [True, False, False, False]),
    "one and none": ([True, False, False], [False] * 4),
    "two and two": ([True, True, False], [True, False, False, True]),
}


@pytest.mark.parametrize("function", [lambda x, *masks: x[masks], scaled])
def test_masks_of_a_subscript_pick_counts_that_broadcast(function):
    x = tessera.Tensor(floats(3, 4))
    slope = grad(lambda x, *masks: (function(x, *masks) ** 2).sum())
    traced = trace(slope)
    for masks in COUNTS.values():
        tensors = [tessera.Tensor(np.array(mask)) for mask in masks]
        assert same_bits(traced(x, *tensors), slope(x, *tensors))
