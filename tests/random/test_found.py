"""Programs that once went wrong, made small: each in every mode that it concerns."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.optimizer as O  # noqa: N812
from tessera import array_api as xp
from tessera import jit
from tessera.autodiff import GradManager
from tessera.core import apply
from tessera.core.ops import builtin as B  # noqa: N812

from tests.support.helper import as_list, same_bits


def tensor(seed, *shape):
    return ts.Tensor(np.random.RandomState(seed).uniform(-1, 1, shape).astype("f"))


CONSTANT_IMAGE = tensor(3, 1, 64, 8, 8)
FILTERS = tensor(4, 32, 32, 3, 3)


def two_masked_softmaxes(s, mask):
    s.grad = None
    with GradManager().attach([s]) as manager:
        first = F.softmax(F.where(mask, s, F.full_like(s, -1e9)), -1)
        second = F.softmax(F.where(mask, first, F.full_like(first, -1e9)), -1)
        manager.backward(F.sum(second * second))
    return s.grad


FOUND = {
    "a view as a convolution's weight": (
        lambda x, w: F.conv2d(x, F.reshape(w, (64, 64, 3, 3)), None, 1, 1),
        (1, 64, 8, 8), (64, 64 * 9)),
    "a convolution's result flattened": (
        lambda x, w: F.flatten(F.conv2d(x, w, None, 1, 1), 1), (1, 64, 8, 8), (64, 64, 3, 3)),
    "a grouped convolution": (M.Conv2d(32, 32, 3, 1, 1, groups=2), (2, 32, 8, 8)),
    "a convolution of one dimension": (M.Conv1d(32, 32, 3, 1, 1), (2, 32, 8)),
    "a constant image": (
        lambda w: F.conv2d(CONSTANT_IMAGE, w, None, 1, 1), (64, 64, 3, 3)),
    "the first step of a decoder": (
        lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (2, 1, 4)),
    "values with a leading axis of their own": (
        lambda q, k, v: apply(B.ScaledDotProductAttention(), q, k, v), (2, 4), (3, 4), (2, 3, 5)),
    "no values with a leading axis of their own": (
        lambda q, k, v: apply(B.ScaledDotProductAttention(), q, k, v),
        (1, 2, 4), (1, 3, 4), (0, 3, 5)),
    "one class": (
        lambda x: F.loss.cross_entropy(x, ts.tensor([0, 0, 0])), (3, 1)),
    "a triangle of one column": (F.triu, (4, 1)),
    "a diagonal of one": (lambda x: F.diag(x) + F.eye(1), (1,)),
    "a row of constants in a softmax": (lambda x: F.softmax(F.zeros((3, 4)), 1) + x, (3, 4)),
    "only a row of constants in a softmax": (lambda x: F.softmax(F.zeros_like(x), 1), (3, 4)),
    "a row of constants normalised": (lambda x: F.normalize(F.ones_like(x), axis=1), (3, 4)),
    "a column of constants normalised": (lambda x: F.normalize(F.ones_like(x), axis=0), (3, 20)),
    "the product of many complex numbers": (
        lambda x: F.real(xp.prod(F.complex(x, x))), (129,)),
    "a tensor of the array API by its memory": (lambda x: xp.from_dlpack(x * 2) + 1, (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_found(name, tmp_path):
    function, *shapes = FOUND[name]
    tensors = [tensor(number, *shape) for number, shape in enumerate(shapes)]
    eager = as_list(function(*tensors))
    traced = jit.trace(lambda *args: function(*args), capture_as_const=True)
    for _ in range(3):
        assert same_bits(traced(*tensors), eager)
    names = [f"x{number}" for number in range(len(shapes))]
    traced.dump(tmp_path / "p", arg_names=names)
    assert same_bits(jit.load(tmp_path / "p")(*tensors), eager)


def test_masked_softmaxes_in_one_gradient():
    scores, mask = tensor(0, 6, 6), ts.Tensor(np.tril(np.ones((6, 6), bool)))
    eager = two_masked_softmaxes(scores, mask)
    traced = jit.trace(two_masked_softmaxes)
    for _ in range(3):
        assert same_bits(traced(scores, mask), eager)


def test_strides_of_axes_of_size_one():
    weight = ts.Parameter(np.ones((1, 5), "f"))
    optimizer = O.SGD([weight], lr=0.1)
    with GradManager().attach([weight]) as manager:
        manager.backward(F.sum(tensor(0, 3, 5) @ weight.T))
    expected = weight.numpy() - np.float32(0.1) * weight.grad.numpy()
    optimizer.step()
    np.testing.assert_array_equal(weight.numpy(), expected)
    assert F.dropout(F.swapaxes(tensor(0, 7, 1, 8), 0, 1), 0.5).shape == (1, 7, 8)


def test_a_result_that_takes_over_what_its_step_reads():
    image, weight = tensor(1, 4, 24, 4, 5), tensor(0, 24, 8, 3, 3)
    gradient = B.Conv2dBackwardData(strides=[2, 1], padding=[1, 0], groups=2)
    traced = jit.trace(lambda *args: apply(gradient, *args)[0], donate_argnums=(0, 1, 2))
    (expected,) = apply(gradient, weight, image, tensor(2, 4, 16, 7, 7))
    for _ in range(3):
        result = traced(weight * 1, image * 1, tensor(2, 4, 16, 7, 7))
        assert same_bits(result, expected)


def dumped_index(function, tmp_path, key):
    """What a file of `function`, the first axis of x free, gives for sizes 5 and 2."""
    call = jit.trace(function, capture_as_const=True)
    call(tensor(0, 3, 4))
    call.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: jit.Dim("n", 1, 99)}})
    loaded = jit.load(tmp_path / "p")
    assert same_bits(as_list(loaded(tensor(1, 5, 4))), as_list(function(tensor(1, 5, 4))))
    with pytest.raises(
        ValueError, match=f"{key}: starts must be indices of x for the axes in_bound"
    ):
        loaded(tensor(1, 2, 4))


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_beyond_a_free_size_is_refused(index, tmp_path):
    def written(x):
        y = x * 2
        y[index] = 7
        return y

    dumped_index(lambda x: x[index] + 1, tmp_path, "slice")
    dumped_index(lambda x: x[index, np.zeros(4, bool)], tmp_path, "slice")
    dumped_index(written, tmp_path, "slice_set")


@pytest.mark.parametrize("wrap", [lambda function: function, jit.trace])
def test_an_index_without_axes_is_checked_beside_none(wrap):
    """As NumPy has it; of arrays with axes nothing is taken, whatever their elements are."""

    def written(x, number):
        y = x * 2
        y[number, np.zeros(0, "int32")] = 7
        return y

    x = tensor(0, 2, 3)
    for function in (lambda x, number: x[number, np.zeros(0, "int32")], written):
        for number in (2, -3):
            with pytest.raises(IndexError, match=rf"index must be in \[-2, 1\].* got {number}"):
                wrap(function)(x, ts.tensor(number)).numpy()
        assert wrap(function)(x, ts.tensor([5])).size == function(x, ts.tensor(1)).size


def test_a_slice_of_everything_takes_its_place_in_the_sum_of_gradients():
    def branches(x):
        whole = x[:2]
        return F.roll(x, 1, 0), whole * 3, x / 3

    def gradient(function):
        x = tensor(0, 2, 3, 8)
        with GradManager().attach([x]) as manager:
            manager.backward(sum((y * y).sum() for y in function(x)))
        return x.grad

    traced = jit.trace(branches)
    for _ in range(3):
        assert same_bits(gradient(traced), gradient(branches))


WRITES = {
    "an element": lambda y: y.__setitem__((0, 1), 5),
    "a row": lambda y: y.__setitem__(1, 7),
    "rows set from themselves": lambda y: y.__setitem__(slice(1, None), y[1:] * 0.5),
    "a mask": lambda y: y.__setitem__(y > 1, 9),
    "everything": lambda y: y.__iadd__(y),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_write_to_one_element_that_stands_in_several_places(what):
    def function(x):
        y = F.broadcast_to(x * 2, (2, 3))
        WRITES[what](y)
        return y

    expected = np.broadcast_to(np.arange(3, dtype="f") * 2, (2, 3)).copy()
    WRITES[what](expected)
    x, traced = ts.Tensor(np.arange(3, dtype="f")), jit.trace(function)
    for run in (function, traced, traced):
        np.testing.assert_array_equal(run(x).numpy(), expected)


def test_one_result_of_a_size_that_data_decides_is_output_twice(tmp_path):
    traced = jit.trace(
        lambda x: (apply(B.NonZero(), x)[0], apply(B.NonZero(), x)[0]), capture_as_const=True
    )
    traced(tensor(0, 3, 4))
    traced.dump(tmp_path / "p", arg_names=["x"])
    loaded = jit.load(tmp_path / "p")
    for x in (tensor(1, 3, 4), ts.Tensor(np.eye(3, 4, dtype="f")), F.zeros((3, 4))):
        assert same_bits(loaded(x), [apply(B.NonZero(), x)[0]] * 2)


def test_a_size_that_data_decides_is_refused_with_its_line(tmp_path):
    picked = ts.Tensor(np.array([True, False, True]))
    traced = jit.trace(lambda: F.squeeze(tensor(0, 3, 4)[picked]), capture_as_const=True)
    traced()
    with pytest.raises(
        ValueError, match=r"squeeze: dimensions must be known .*\?.* at test_found.py:\d+"
    ):
        traced.dump(tmp_path / "p")


@pytest.mark.parametrize("waits", [False, True])
def test_an_error_reaches_results_that_have_no_elements(waits):
    picked = apply(B.IndexGet(axes=[0]), tensor(0, 2, 3), ts.Tensor([4], dtype="int32"))[0]
    if waits:
        with pytest.raises(IndexError):
            picked.numpy()
    nothing = picked[:0] + 1
    with pytest.raises(IndexError, match="index_get: index must be in .*, got 4"):
        nothing.numpy()


def test_a_scan_of_the_one_element_that_a_split_cuts_off():
    traced = jit.trace(lambda x: F.cumsum(F.split(x, [1])[0], 0))
    for size in (6, 12, 7):
        x = tensor(0, size)
        assert same_bits(traced(x), x[:1])


# Operators with a weight that the program fills, and the sizes at which each is called.
FILLED = {
    "a product": (lambda x, n: F.linear(x, F.ones((n, n)) * 0.1), (5, 5, 8, 10, 8)),
    "a direct convolution": (
        lambda x, n: F.conv2d(x, F.ones((n, 32, 3, 3)) * 0.1, None, 1, 1), (16, 32, 48, 32)),
    "Winograd's products": (
        lambda x, n: F.conv2d(F.concat([x, x], 2), F.ones((n, 32, 3, 3)) * 0.1, None, 1, 1),
        (32, 32, 64, 96)),
}  # fmt: skip


@pytest.mark.parametrize("what", FILLED)
def test_a_weight_that_is_filled_beside_a_convolution(what):
    function, sizes = FILLED[what]

    def network(x):
        return function(F.conv2d(x, FILTERS, None, 1, 1), x.shape[-1])

    traced = jit.trace(network)
    for size in sizes:
        x = tensor(size, 1, 32, 8, size)
        assert same_bits(traced(x), [network(x)])
