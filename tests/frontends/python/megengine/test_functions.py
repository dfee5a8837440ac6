"""Functions: what a program written for MegEngine finds."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import (
    assert_close,
    assert_same_everywhere,
    check,
    floats,
    numeric_gradient,
    same_bits,
)

BOOLS = np.array([[True, False, True], [True, True, True]])


def gradient_of(function, *arrays):
    """Of the sum of the squares of what `function` gives, for each array."""
    tensors = [tessera.Parameter(array) for array in arrays]
    manager = GradManager().attach(tensors)
    with manager:
        manager.backward(F.sum(function(*tensors) ** 2))
    return [each.grad.numpy() for each in tensors]


def test_b01_topk_gives_the_largest_first():
    """topk gives the largest elements unless it is told otherwise, and kth_only the k-th alone."""
    x = floats(3, 5)
    values, _ = F.topk(Tensor(x), 2)
    assert same_bits(values, -np.sort(-x)[:, :2])
    assert same_bits(F.topk(Tensor(x), 2, kth_only=True)[0], -np.sort(-x)[:, 1])
    assert same_bits(F.topk(Tensor(x), 2, descending=False, no_sort=True)[0], np.sort(x)[:, :2])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_b02_sort_and_argsort_take_an_axis(dim, descending):
    """sort and argsort of any rank go along the axis `dim`, the last one by default."""
    x = floats(3, 4, 5)
    sign = -1 if descending else 1

    def oracle(x):
        order = np.argsort(sign * x, dim, kind="stable").astype(np.int32)
        return np.take_along_axis(x, order, dim), order

    check(lambda x: F.sort(x, descending, dim=dim), x, oracle=oracle)
    check(lambda x: F.argsort(x, descending, dim=dim), x, oracle=lambda x: oracle(x)[1])
    assert_close(gradient_of(lambda x: F.sort(x, descending, dim)[0], x)[0], 2 * x)


def test_b02_an_axis_that_there_is_not_is_refused():
    """An axis that the tensor has not is a ValueError."""
    with pytest.raises(ValueError, match=r"sort: dim must be in \[-2, 1\], got 2"):
        F.argsort(Tensor(floats(2, 3)), dim=2)


REDUCED = {
    "prod": lambda x, axis: np.prod(x, axis, dtype=np.int32),
    "max": np.max,
    "min": np.min,
    "argmax": lambda x, axis: np.argmax(x, axis).astype(np.int32),
    "argmin": lambda x, axis: np.argmin(x, axis).astype(np.int32),
}


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", REDUCED)
def test_b03_reductions_of_bool(name, axis):
    """prod of bool is an int32, max and min of bool are bool, argmax and argmin take bool."""
    wanted = REDUCED[name](BOOLS, axis)
    got = check(lambda x: getattr(F, name)(x, axis), BOOLS, oracle=lambda x: wanted)
    assert same_bits(got, wanted)
    if name in ("prod", "max", "min"):
        assert same_bits(getattr(Tensor(BOOLS), name)(axis), wanted)


def test_b03_the_product_of_no_bools_is_one():
    """prod of bool over an empty axis is 1, as int32."""
    none = np.zeros((0, 2), bool)
    assert same_bits(F.prod(Tensor(none), 0), np.ones(2, np.int32))
    assert F.max(Tensor(none), 0, allow_empty=True).tolist() == [False, False]
    assert F.min(Tensor(none), 0, allow_empty=True).tolist() == [True, True]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [(0, 2), (2, 0), [1, -1], (0, 1, 2), (1,)])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_b04_the_first_extreme_element_over_several_axes(name, axis, keepdims):
    """Of several axes argmax gives the index into these axes flattened together, as int32."""
    x = floats(2, 3, 4)
    taken = sorted(each % 3 for each in axis)
    rest = [each for each in range(3) if each not in taken]

    def oracle(x):
        rows = x.transpose(rest + taken).reshape(*(x.shape[each] for each in rest), -1)
        index = getattr(np, name)(rows, -1).astype(np.int32)
        return np.expand_dims(index, taken) if keepdims else index

    check(lambda x: getattr(F, name)(x, axis, keepdims), x, oracle=oracle, dtype="int32")


def test_b04_keepdims_without_an_axis_and_refusals():
    """keepdims without an axis gives all axes the size 1; axes must be distinct ones."""
    x = Tensor(floats(2, 3))
    assert F.argmax(x, keepdims=True).shape == F.argmin(x, (), keepdims=True).shape == (1, 1)
    for axis in ((0, 0), (0, -2), (0, 2)):
        with pytest.raises(ValueError, match=r"argmax: axis must be distinct axes in \[-2, 1\]"):
            F.argmax(x, axis)
    with pytest.raises(TypeError, match=r"argmax: axis must be an int or several, got \('a',\)"):
        F.argmax(x, ("a",))
    with pytest.raises(TypeError, match="argmin: keepdims must be a bool, got 3"):
        F.argmin(x, (0, 1), keepdims=3)


@pytest.mark.parametrize(
    ("size", "shape"),
    [(2, (2, 2)), ((2,), (2, 2)), ([3], (3, 3)), ((2, 3), (2, 3)), ([2, 3], (2, 3)),
     (np.array([2, 3]), (2, 3)), (np.array(2), (2, 2)), (np.int64(2), (2, 2))],
)  # fmt: skip
def test_b05_eye_takes_its_sizes_in_any_form(size, shape):
    """The size of eye is one int or two, in a tuple, list, array or tensor, too."""
    for each in (size, Tensor(size) if isinstance(size, np.ndarray) else size):
        for device in (None, "cpu0"):
            assert same_bits(F.eye(each, device=device), np.eye(*shape, dtype=np.float32))
    assert same_bits(F.eye((2,), 3, dtype="int32"), np.eye(2, 3, dtype=np.int32))
    traced = jit.trace(lambda x: F.eye(x.shape, device="cpu0") + x)
    for _ in range(3):
        assert same_bits(
            traced(Tensor(floats(2, 3))), np.eye(2, 3, dtype=np.float32) + floats(2, 3)
        )
    with pytest.raises(ValueError, match=r"eye: N must hold the rows, and M or N the columns, got"):
        F.eye((1, 2, 3))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "bool", "uint8"])
def test_b08_positions_by_axis(dtype):
    """non_zero(x, as_tuple=True) gives one vector of indices for each axis, of any dtype."""
    x = np.array([[0, 1, 2], [3, 0, 0]]).astype(dtype)
    wanted = [each.astype(np.int32) for each in np.nonzero(x)]
    got = F.non_zero(Tensor(x), as_tuple=True)
    assert isinstance(got, tuple) and same_bits(list(got), wanted)
    assert same_bits(F.non_zero(Tensor(x)), np.argwhere(x).astype(np.int32))
    traced = jit.trace(lambda x: F.non_zero(x, as_tuple=True))
    for _ in range(3):
        assert same_bits(list(traced(Tensor(x))), wanted)


@pytest.mark.parametrize(
    ("given", "text"),
    [(4, "number of parts must be at most the size of the axis, which is 2, got 4"),
     (0, "number of parts must be positive, got 0"),
     ([2, 1], r"indices must be in order and in \[0, 2\], got \[2, 1\]"),
     ([1, 5], r"indices must be in order and in \[0, 2\], got \[1, 5\]"),
     ([-1], r"indices must be in order and in \[0, 2\], got \[-1\]")],
)  # fmt: skip
def test_b09_split_refuses_what_there_is_not(given, text):
    """More parts than elements, or indices out of order or range, are a ValueError."""
    with pytest.raises(ValueError, match=f"split: {text}"):
        F.split(Tensor([1, 2]), given)
    assert [each.tolist() for each in F.split(Tensor([1, 2, 3]), [1, 1, 3])] == [
        [1],
        [],
        [2, 3],
        [],
    ]


FORMS = {
    "tuple": (2, 3),
    "array": np.array([2, 3]),
    "tensor": Tensor([2, 3]),
    "mixed": (2, Tensor(3)),
    "of one element": (np.array([2]), Tensor([3])),
    "of rank 0": (np.array(2), np.int64(3)),
}


@pytest.mark.parametrize("form", FORMS)
def test_b10_shapes_in_any_form(form):
    """A shape is an array, a tensor, or a tuple of ints, arrays and tensors of one element."""
    shape, x = FORMS[form], floats(6)
    assert F.zeros(shape).shape == F.ones(shape).shape == F.full(shape, 1.0).shape == (2, 3)
    assert Tensor(x).reshape(shape).shape == F.reshape(Tensor(x), shape).shape == (2, 3)
    assert F.broadcast_to(Tensor(x[:3]), shape).shape == (2, 3)
    assert_same_everywhere(lambda x: F.reshape(x, (2, 3)), x, dynamic=False)
    traced = jit.trace(lambda x: F.broadcast_to(x, shape), capture_as_const=True)
    for _ in range(3):
        assert same_bits(traced(Tensor(x[:3])), np.broadcast_to(x[:3], (2, 3)))


def test_b10_an_array_of_several_is_no_size():
    """What is no int is refused, whatever holds it."""
    for shape in ((np.array([1, 2]), 3), np.array([1.5, 2]), (np.array([2.0]), 3)):
        with pytest.raises(TypeError, match="full: shape must be an int or a sequence of ints"):
            F.zeros(shape)


def test_b10_none_keeps_an_axis():
    """None keeps an axis in broadcast_to; for a new axis it is a ValueError, as a negative size."""
    x = floats(3, 1)
    wanted = np.broadcast_to(x, (2, 3, 4))
    check(lambda x: F.broadcast_to(x, (2, None, 4)), x, oracle=lambda x: np.float64(wanted))
    assert_close(gradient_of(lambda x: F.broadcast_to(x, (2, None, 4)), x)[0], 16 * x)
    for shape in ((None, 3, 1), (None, None, None)):
        with pytest.raises(ValueError, match="broadcast_to: None must stand for an axis of inp"):
            F.broadcast_to(Tensor(x), shape)
    for shape in ((2, 3, -1), np.array([-1, 1]), Tensor([3, -1])):
        with pytest.raises(ValueError, match="broadcast_to: sizes must not be negative"):
            F.broadcast_to(Tensor(x), shape)


@pytest.mark.parametrize("sizes", [(3, 3), (2, 2), (2, 3), (3, 2)])
def test_b11_cross_of_two_or_three_elements(sizes):
    """cross takes vectors of two or three elements, along axes of their own."""
    a, b = floats(4, sizes[0]), floats(sizes[1], 4, seed=1)
    dim = 2 if sizes == (2, 2) else 3

    def oracle(a, b):
        return np.cross(a, b, axisb=0) if dim == 2 else np.cross(a, b, axisb=0, axisc=0)

    axisc = -1 if dim == 2 else 0
    check(lambda a, b: F.cross(a, b, axisb=0, axisc=axisc), a, b, oracle=oracle, dynamic=False)


@pytest.mark.parametrize(
    ("mode", "known"), [("CONSTANT", "constant"), ("Edge", "edge"), ("replicate", "edge"),
                        ("REFLECT", "reflect")],
)  # fmt: skip
def test_b12_modes_of_pad_in_any_case(mode, known):
    """The modes of pad are words in any case, and edge and replicate are one."""
    x = floats(3, 4)
    check(lambda x: F.pad(x, ((1, 2), (2, 0)), mode), x,
          oracle=lambda x: np.pad(x, ((1, 2), (2, 0)), known), dynamic=False)  # fmt: skip


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad_of_the_first_axes(mode):
    """Axes that pad_width does not reach have no border."""
    check(lambda x: F.pad(x, ((1, 2),), mode), floats(3, 4, 2),
          oracle=lambda x: np.pad(x, ((1, 2), (0, 0), (0, 0)), mode), dynamic=False)  # fmt: skip
    assert M.Pad(((1, 1),), mode=mode)(Tensor(floats(3, 4, 2))).shape == (5, 4, 2)


@pytest.mark.parametrize(
    ("method", "count", "oracle"),
    [("FUSE_ADD_RELU", 2, lambda a, b: np.maximum(a + b, 0)), ("true_div", 2, np.divide),
     ("FUSE_MUL_ADD3", 3, lambda a, b, c: a * b + c), ("negate", 1, np.negative),
     ("log_sum_exp", 2, np.logaddexp), ("Sign", 1, np.sign)],
)  # fmt: skip
def test_b13_elementwise_functions_by_their_mode(method, count, oracle):
    """module.Elemwise takes MegEngine's modes in any case, and the names of functions here."""
    arrays = [floats(3, 4, seed=seed, low=0.5) for seed in range(count)]
    check(M.Elemwise(method), *arrays, oracle=oracle, rtol=1e-5)


def test_e01_atan2_by_name():
    """The first argument of atan2 is called y."""
    y, x = floats(3), floats(3, seed=1)
    assert_close(F.atan2(x=Tensor(x), y=Tensor(y)), np.arctan2(y, x))


def test_gradients_go_through_what_rearranges():
    """Second derivatives too: sort along an axis, a shape with None, split at indices."""
    x = floats(3, 4)

    def function(x):
        parts = F.split(F.sort(x, dim=0)[0], [1, 3], axis=1)
        return F.sum(F.broadcast_to(F.concat(parts, 1), (2, None, 4)) ** 3)

    def numbers(x):
        return 2 * (np.sort(x, 0) ** 3).sum()

    parameter = tessera.Parameter(x)
    manager = GradManager().attach(parameter)
    with manager:
        manager.backward(function(parameter))
    assert_close(parameter.grad, numeric_gradient(numbers, [x], 0), rtol=1e-4, atol=1e-4)
