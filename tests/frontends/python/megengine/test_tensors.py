"""Tensor: keys, the constructor, devices, NumPy's functions."""

import itertools
import math

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, floats, same_bits

X = floats(2, 3, 4)
TWO, THREE = np.array([True, False]), np.array([True, False, True])
INDEX = np.array([1, 0])

KEYS = {
    "masks": (slice(None), THREE, 1),
    "two masks": (TWO, slice(1, None), np.array([True, False, False, False])),
    "tuple": ((0, 1, 1), slice(None)),
    "tuple later": (slice(None), (0, 2), slice(None)),
    "list and range": ([1, 0], range(2)),
    "range": (range(2),),
    "range later": (0, range(2)),
    "no places": ([],),
    "no places later": (slice(None), [], 1),
    "nested": (slice(None), ((0, 1), (2, 0))),
    "True": (True,),
    "False": (False,),
    "True and int": (True, 0),
    "int and True": (0, True),
    "int and False": (0, False),
    "slice and False": (slice(None), False),
    "True and None": (slice(None), True, None),
    "None, True, array": (None, True, INDEX),
    "array, slice, True": (INDEX, slice(None), True),
    "two bools": (True, slice(None), False, 1),
    "bools side by side": (slice(None), True, True, slice(1, 3)),
    "NumPy's bool": (np.True_, 1),
    "array of rank 0": (np.array(False), slice(1, 3)),
    "ellipsis and True": (..., True),
    "mask and True": (TWO, True, slice(None, 2)),
}


def key_of(name):
    key = KEYS[name]
    return key[0] if len(key) == 1 else key


@pytest.mark.parametrize("name", KEYS)
def test_b07_keys_are_numpys(name):
    """Masks at any place, tuples, lists and ranges as int arrays, [] as none, True and False as a
    new axis: what NumPy gives, eagerly and traced.
    """
    key = key_of(name)
    assert same_bits(Tensor(X)[key], X[key])
    traced = jit.trace(lambda x: x[key])
    for _ in range(3):
        assert same_bits(traced(Tensor(X)), X[key])


@pytest.mark.parametrize("name", KEYS)
def test_b07_keys_assign_as_numpys(name):
    """The same keys assign, eagerly and traced."""
    key, wanted = key_of(name), X.copy()
    wanted[key] = 7

    def assigned(x):
        x = F.copy(x)
        x[key] = 7
        return x

    traced = jit.trace(assigned)
    for function in (assigned, traced, traced, traced):
        assert same_bits(function(Tensor(X)), wanted)


@pytest.mark.parametrize("name", KEYS)
def test_b07_gradients_go_through_keys(name):
    """And gradients go through them."""
    key, parameter = key_of(name), tessera.Parameter(X)
    manager = GradManager().attach(parameter)
    with manager:
        manager.backward(F.sum(parameter[key] ** 2))
    wanted = np.zeros_like(X)
    np.add.at(wanted, key, 2 * X[key])
    assert_close(parameter.grad, wanted)


def test_b07_a_mask_of_rank_0_that_is_computed():
    """A tensor of bool and rank 0 is a key like True or False, beside others too."""
    for truth, key in [(True, (INDEX,)), *itertools.product((True, False), ((slice(1),), (1,)))]:
        flag = Tensor(1.0) > (0.0 if truth else 2.0)
        assert same_bits(Tensor(X)[(flag, *key)], X[(truth, *key)])
        assert same_bits(Tensor(X)[(*key, flag)], X[(*key, truth)])
        traced = jit.trace(lambda x, flag, key=key: x[(flag, *key)])
        for _ in range(3):
            assert same_bits(traced(Tensor(X), flag), X[(truth, *key)])


def test_b07_keys_that_are_none():
    """What is no key stays an error."""
    for key in ("a", 1.5, [0.5], (0, "a"), [[]] * 2 + [0.5]):
        with pytest.raises((IndexError, TypeError, ValueError)):
            Tensor(X)[key]
    assert same_bits(Tensor(X)[[[0, 1], [1, 0]]], X[[[0, 1], [1, 0]]])


@pytest.mark.parametrize("kind", [Tensor, tessera.Parameter, tessera.tensor])
def test_b15_the_constructor(kind):
    """A tensor takes its name and its format when it is made, and MegEngine's two flags."""
    image = kind(np.zeros((1, 2, 2, 3), np.float32), format="nhwc", name="image")
    assert (image.name, image.format) == ("image", "nhwc")
    assert Tensor(image).name == "" and Tensor(image, name="b").name == "b"
    every = kind([1], "float32", "cpu0", True, True, "all", "default")
    assert (every.dtype, every.device, every.name, every.format) == (
        "float32", "cpu0", "all", "default")  # fmt: skip
    assert kind([1.0]).name == "" and kind([1.0]).format == "default"
    with pytest.raises(ValueError, match="format: value must be default, nchw or nhwc, got other"):
        kind([1], format="other")
    with pytest.raises(TypeError, match="name: value must be a str, got int"):
        kind([1], name=3)


def test_b16_devices_by_any_name():
    """xpux and cpu1:0 name the one host, and compare equal to what it is called."""
    x = Tensor([1], device="xpux")
    assert x.device == "xpux" == tessera.device.Device("cpu1:0")
    assert tessera.device.get_device_count("xpu") == 1
    assert tessera.device.Device("xpu0").logical_name == "xpu0:0"


ONE, OTHER = floats(3, 4, low=0.1, high=0.9), floats(4, seed=1, low=0.1, high=0.9)
UNARY = ["absolute", "arccos", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh",
         "exp", "expm1", "fabs", "floor", "isfinite", "isinf", "isnan", "log", "log1p", "negative",
         "positive", "reciprocal", "rint", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
         "trunc"]  # fmt: skip
BINARY = ["add", "arctan2", "divide", "equal", "floor_divide", "greater", "greater_equal", "less",
          "less_equal", "logaddexp", "maximum", "minimum", "multiply", "not_equal", "power",
          "remainder", "subtract"]  # fmt: skip


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_b17_numpys_functions_give_tensors(name):
    """NumPy's functions of a tensor and an array, in any order, give a tensor."""
    function, operands = getattr(np, name), [ONE] if name in UNARY else [ONE, OTHER]
    wanted = function(*operands)
    for number in range(len(operands)):
        given = [Tensor(each) if i == number else each for i, each in enumerate(operands)]
        got = function(*given)
        assert isinstance(got, Tensor) and got.device == "cpu0"
        assert_close(got, wanted, rtol=1e-5, atol=1e-6)


def test_b17_functions_of_integers_bools_and_matrices():
    """Of integers and bools too, and the product of matrices."""
    a, b = np.array([5, 3, 0], np.int32), np.array([1, 2, 3], np.int32)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        for pair in ((Tensor(a), b), (a, Tensor(b))):
            assert same_bits(getattr(np, name)(*pair), getattr(np, name)(a, b))
    for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and"):
        assert same_bits(getattr(np, name)(a > 2, Tensor(b > 1)), getattr(np, name)(a > 2, b > 1))
    assert same_bits(np.invert(Tensor(a)), ~a) and same_bits(np.logical_not(Tensor(a > 2)), a <= 2)
    assert_close(np.matmul(ONE, Tensor(OTHER)), ONE @ OTHER, rtol=1e-5)


def test_b17_operators_of_arrays_and_what_is_refused():
    """`array + tensor` is a tensor, an array takes a tensor in place, and what tensors have not is
    a TypeError.
    """
    for got in (ONE + Tensor(OTHER), np.float32(2) * Tensor(ONE), Tensor(ONE) > OTHER):
        assert isinstance(got, Tensor)
    assert isinstance(ONE @ Tensor(OTHER), Tensor)
    total = ONE.copy()
    total += Tensor(OTHER)
    assert isinstance(total, np.ndarray) and same_bits(total, ONE + OTHER)
    on_sim = np.add(Tensor(ONE, device="sim0"), ONE)
    assert on_sim.device == "sim0" and same_bits(on_sim, ONE + ONE)
    with pytest.raises(TypeError, match="cbrt: a function of NumPy must be one that tensors have"):
        np.cbrt(Tensor(ONE))
    with pytest.raises(TypeError, match="add: .* have, got np.add.reduce"):
        np.add.reduce(Tensor(ONE))
    with pytest.raises(TypeError, match="add: .* have, got np.add with where"):
        np.add(Tensor(ONE), ONE, where=ONE > 0)


def test_b17_gradients_go_through_numpys_functions():
    """They are operators like others: gradients go through them, and traces have them."""
    x = tessera.Parameter(ONE)
    manager = GradManager().attach(x)
    with manager:
        manager.backward(np.multiply(OTHER, np.exp(x)).sum())
    assert_close(x.grad, OTHER * np.exp(ONE), rtol=1e-5)
    traced = jit.trace(lambda x: np.add(ONE, x))
    for _ in range(3):
        assert same_bits(traced(Tensor(ONE)), ONE + ONE)


def test_e10_items_and_rounding():
    """item takes a position, as NumPy's does; round, floor and ceil take tensors."""
    x = Tensor(X)
    assert x.item(5) == X.item(5) and x.item(-1) == X.item(-1)
    assert x.item(1, 2, 3) == x.item((1, 2, 3)) == X.item(1, 2, 3)
    assert Tensor([2.5]).item() == 2.5 and Tensor([1, 2, 3]).item(np.int64(1)) == 2
    assert tessera.Tensor([1.5], dtype="bfloat16").item(0) == 1.5
    for index in ((24,), (2, 0, 0), (0, 0)):
        with pytest.raises((IndexError, ValueError), match="getitem: index|item: tensor must have"):
            x.item(*index)
    half = Tensor([0.5, 1.5, -2.5])
    assert same_bits(round(half), np.float32([0, 2, -2]))
    assert same_bits(math.floor(half), np.floor(half.numpy()))
    assert same_bits(math.ceil(half), np.ceil(half.numpy()))
    assert same_bits(math.trunc(half), np.trunc(half.numpy()))
    with pytest.raises(ValueError, match="round: ndigits must be 0 or None for a tensor, got 2"):
        round(half, 2)
