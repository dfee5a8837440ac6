"""Boolean masks in keys, at any position, beside everything else a key can hold: as NumPy's."""

import itertools
import warnings

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera.autodiff import GradManager

from tests.support.helper import floats, same_bits

SHAPE = (3, 4, 5)
rng = np.random.RandomState(4)
M3, M4, M5 = (rng.rand(n) > 0.4 for n in SHAPE)
M34, M45, M345 = rng.rand(3, 4) > 0.5, rng.rand(4, 5) > 0.5, rng.rand(3, 4, 5) > 0.5
TWO3, TWO4 = np.array([True, False, True]), np.array([False, True, True, False])
NONE, ALL = np.zeros(3, bool), np.ones(3, bool)
I2 = np.array([1, 0])

KEYS = {
    "first": (M3,),
    "second": (slice(None), M4),
    "third": (slice(None), slice(None), M5),
    "last": (..., M5),
    "rank 2": (M34,),
    "rank 2 later": (slice(None), M45),
    "rank 2 last": (..., M45),
    "whole": (M345,),
    "none true": (NONE,),
    "none true, more": (NONE, 1),
    "all true": (ALL, slice(1, 3)),
    "then int": (M3, 2),
    "then negative int": (M3, -1, 1),
    "int before": (1, M4),
    "int, mask, slice": (1, M4, slice(1, None)),
    "then slice": (M3, slice(1, 3)),
    "then step": (M3, slice(None, None, -2)),
    "slice between int": (0, slice(None), M5),
    "mask, slice, int": (M3, slice(None), 2),
    "mask, slice, mask": (TWO3, slice(None), np.array([True, False, False, True, False])),
    "None first": (None, M3),
    "None after": (M3, None),
    "None around": (None, M3, None, slice(1, 2), None),
    "None, rank 2": (None, M34, None),
    "ellipsis after": (M3, ..., 1),
    "ellipsis before": (..., M45, None),
    "ellipsis, rank 2": (slice(0, 2), ..., M45),
    "two masks": (TWO3, TWO4),
    "mask and array": (TWO3, I2),
    "array and mask": (I2, TWO4),
    "array, slice, mask": (I2, slice(1, 3), np.array([True, False, False, True, False])),
    "mask and array of one": (M3, np.array([2])),
    "mask, array of rank 2": (TWO3, np.array([[0], [3]])),
    "mask, int, array": (TWO3, 1, np.array([4, 2])),
    "list": ([True, False, True], 1),
    "list later": (slice(None), [True, False, True, True]),
    "list last": (..., [[True] * 5, [False] * 5, [True, False] * 2 + [True], [False] * 5]),
}
FORMS = {
    "tensor": lambda item: tessera.Tensor(item) if isinstance(item, np.ndarray) else item,
    "array": lambda item: item,
    "list": lambda item: item.tolist() if isinstance(item, np.ndarray) else item,
}


def keys(name, form):
    """NumPy's key and ours."""
    key = KEYS[name]
    ours = tuple(FORMS[form](item) for item in key)
    return key, ours[0] if len(ours) == 1 else ours


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KEYS)
def test_reading(name, form):
    x = floats(*SHAPE)
    key, ours = keys(name, form)
    assert same_bits(tessera.Tensor(x)[ours], x[key])


def values_for(region):
    """Values of every form that broadcasts to the region."""
    shape = region.shape
    yield 7.0
    yield floats(*shape, seed=2)
    for axis in range(len(shape)):
        yield floats(*shape[axis + 1 :], seed=3)
        yield floats(*shape[:axis], 1, *shape[axis + 1 :], seed=4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KEYS)
def test_writing(name, form):
    key, ours = keys(name, form)
    for value in values_for(floats(*SHAPE)[key]):
        x, y = floats(*SHAPE), tessera.Tensor(floats(*SHAPE))
        x[key] = value
        y[ours] = tessera.Tensor(value) if isinstance(value, np.ndarray) else value
        assert same_bits(y, x), np.shape(value)


def gradients(x, ours, value, write):
    """Of x and of what is written."""
    x, value = tessera.Tensor(x), tessera.Tensor(value)
    with GradManager().attach([x, value]) as manager:
        if write:
            y = x * 1
            y[ours] = value
        else:
            y = x[ours] * value
        manager.backward((y * y).sum())
    return x.grad, value.grad


@pytest.mark.parametrize("name", KEYS)
def test_gradients(name):
    x, (key, ours) = floats(*SHAPE), keys(name, "tensor")
    value = floats(*x[key].shape, seed=6)
    dx, dv = gradients(x, ours, value, write=False)
    expected = np.zeros_like(x)
    np.add.at(expected, key, 2 * x[key] * value * value)
    np.testing.assert_allclose(dx.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(dv.numpy(), 2 * x[key] ** 2 * value, rtol=1e-5)
    dx, dv = gradients(x, ours, value, write=True)
    expected = 2 * x
    expected[key] = 0
    np.testing.assert_allclose(dx.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(dv.numpy(), 2 * value, rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KEYS)
def test_traced(name, form):
    key, ours = keys(name, form)

    def function(x, value):
        y = x * 1
        y[ours] = value
        return x[ours], y

    traced = jit.trace(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(3):
            x = floats(*SHAPE, seed=seed)
            value = floats(*x[key].shape, seed=seed + 9)
            got, written = traced(tessera.Tensor(x), tessera.Tensor(value))
            expected = x[key]
            assert same_bits(got, expected)
            x[key] = value
            assert same_bits(written, x)
    # A value with a size of its own fits the data of a call only: such a call runs eagerly.
    assert (traced.program() is None) == (len(caught) == 1)
    assert name != "first" or traced.program() is not None


def test_one_value_for_all_is_a_program():
    def function(x, mask):
        x[mask] = 3.0
        return x

    traced = jit.trace(function)
    for seed in range(4):
        x = floats(3, 4, seed=seed)
        mask = x > 0.2
        got = traced(tessera.Tensor(x), tessera.Tensor(mask))
        x[mask] = 3.0
        assert same_bits(got, x)
    assert traced.program() is not None


WRONG = {
    "size": (np.ones(4, bool), "got bool.4. at axis 0 of f32.3, 4, 5."),
    "later size": ((1, np.ones(5, bool)), "got bool.5. at axis 1 of f32"),
    "rank": (np.ones((3, 4, 5, 1), bool), "key must take at most 3 axes"),
    "too many": ((M34, M45), "key must take at most 3 axes"),
}


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_masks_that_do_not_fit(name, write):
    key, text = WRONG[name]
    x = tessera.Tensor(floats(*SHAPE))
    before = x.numpy()
    with pytest.raises(IndexError, match=text):
        if write:
            x[key] = 1.0
        else:
            x[key]
    assert same_bits(x, before)


@pytest.mark.parametrize(("shape", "value"), [((4, 1), (3,)), ((4,), (4,)), ((4, 2), (3, 2))])
def test_values_that_do_not_fit(shape, value):
    x = tessera.Tensor(floats(*shape))
    mask = np.array([True, False, True, False])
    for form in FORMS.values():
        with pytest.raises(ValueError, match="must broadcast"):
            x[form(mask)] = tessera.Tensor(floats(*value))
    assert same_bits(x, floats(*shape))


def test_masks_that_do_not_broadcast():
    with pytest.raises(ValueError, match="indices must broadcast"):
        tessera.Tensor(floats(3, 4))[ALL, TWO4]


@pytest.mark.parametrize("seed", range(20))
def test_random_keys(seed):
    """Every mixture of at most one mask with ints, slices, None and an ellipsis."""
    draw = np.random.RandomState(seed)
    for _, at in itertools.product(range(10), range(3)):
        shape = tuple(draw.randint(1, 5, size=4))
        width = draw.randint(1, 4 - at)
        items = [slice(None) if draw.rand() < 0.5 else int(draw.randint(n)) for n in shape]
        items[at : at + width] = [draw.rand(*shape[at : at + width]) > 0.5]
        items = items[: draw.randint(at + 1, len(items) + 1)]
        for place in sorted(draw.randint(0, len(items) + 1, size=draw.randint(3)), reverse=True):
            items.insert(place, None)
        key, x = tuple(items), floats(*shape, seed=seed)
        ours = tuple(FORMS["tensor"](item) for item in key)
        assert same_bits(tessera.Tensor(x)[ours], x[key]), key
        y = tessera.Tensor(x)
        x[key] = 5
        y[ours] = 5
        assert same_bits(y, x), key
