"""Running results: NumPy's bits, whatever computes them; gradients where a formula has a corner."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff.modes import recording
from tessera.jit import Dim

from tests.support.helper import bits, num_threads, same_bits

SHAPES = ((1,), (17,), (3, 40), (5, 4, 33), (1000, 3), (2, 5000), (300, 70))
NUMPYS = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}
every = pytest.mark.parametrize("name", NUMPYS)


@pytest.fixture(params=[1, 2, 3, 8])
def threads(request):
    """Each number of threads."""
    with num_threads(request.param):
        yield request.param


def data_of(shape, dtype="float32"):
    return np.random.RandomState(3).randn(*shape).astype(dtype)


@every
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_numpy(name, shape, threads):
    x = data_of(shape)
    for axis in range(-1, len(shape)):
        for reverse in (False, True):
            order = np.flip(x, axis) if reverse else x
            want = NUMPYS[name](order, axis=axis)
            got = getattr(F, name)(tessera.Tensor(x), axis, reverse=reverse)
            assert same_bits(got, np.flip(want, axis) if reverse else want)


@every
def test_the_layout_does_not_matter(name):
    x = tessera.Tensor(data_of((40, 6, 50)))
    for view in (x.transpose(2, 0, 1), x[::-1, :, 1::3], F.broadcast_to(x[:1], x.shape)):
        for axis in range(3):
            got = getattr(F, name)(view, axis)
            assert same_bits(got, NUMPYS[name](view.numpy(), axis=axis))


@pytest.mark.parametrize("exclusive", [False, True])
def test_logarithms_of_sums_are_the_same_along_rows_and_columns(exclusive, threads):
    x = data_of((150, 77))
    along = F.logcumsumexp(tessera.Tensor(x), 1, exclusive)
    assert same_bits(along, F.logcumsumexp(tessera.Tensor(x.T.copy()), 0, exclusive).numpy().T)
    rows = [F.logcumsumexp(tessera.Tensor(row), 0, exclusive).numpy() for row in x[:3]]
    assert same_bits(along.numpy()[:3], np.stack(rows))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_narrow_float_is_added_in_float32_and_rounded_once(dtype):
    x = tessera.Tensor(data_of((4, 3000)), dtype=dtype)
    for axis in (0, 1):
        want = tessera.Tensor(np.cumsum(x.astype("float32").numpy(), axis), dtype=dtype)
        assert same_bits(F.cumsum(x, axis), want)


def test_what_is_beside_it_is_one_kernel_with_the_same_bits():
    def function(x, y):
        sums = F.cumsum(F.exp(x) * y, 1)
        return F.cummax(sums - y, 1, exclusive=True) * F.tanh(sums), sums

    x, y = (tessera.Tensor(data_of((70, 45)) * scale) for scale in (1, 0.5))
    traced = jit.trace(function)
    for _ in range(3):
        assert same_bits(traced(x, y), function(x, y))


def test_a_file_serves_every_size(tmp_path):
    traced = jit.trace(lambda x: F.cumsum(x * 2, 0, reverse=True), capture_as_const=True)
    traced(tessera.Tensor(data_of((3, 4))))
    dims = {"x": {0: Dim("n", 0, 9999), 1: Dim("m", 1, 9999)}}
    traced.dump(tmp_path / "sums.tess", arg_names=["x"], dims=dims)
    program = jit.load(tmp_path / "sums.tess")
    for shape in ((0, 4), (1, 1), (37, 5), (900, 130)):
        x = data_of(shape)
        assert same_bits(program(tessera.Tensor(x)), np.cumsum(x[::-1] * 2, 0)[::-1])


def test_corners():
    x = np.array([-0.0, -0.0, np.inf, 1, -np.inf, 2, np.nan, 3], "float32")
    with np.errstate(invalid="ignore"):
        assert same_bits(F.cumsum(x, 0), np.cumsum(x))
        assert same_bits(F.cumprod(x, 0), np.cumprod(x))
    assert same_bits(F.cummax(x, 0), np.maximum.accumulate(x))
    first = [
        F.cumsum(x, 0, True),
        F.cumprod(x, 0, True),
        F.cummax(x, 0, True),
        F.cummin(x, 0, True),
    ]
    assert bits([each[:2] for each in first]) == bits(
        [
            np.array(pair, "float32")
            for pair in ((0, -0.0), (1, -0.0), (-np.inf, -0.0), (np.inf, -0.0))
        ]
    )
    assert F.cummin(np.array([3, 5], "uint8"), 0, True).numpy().tolist() == [255, 3]
    assert F.cumsum(np.array([True, True]), 0).dtype == "int32"
    weight = np.array([np.inf, 2, np.nan], "float32")  # the first does not count
    assert F.linear_recurrence(np.ones(3, "f"), weight, 0).numpy()[:2].tolist() == [1, 3]
    low = np.full(3, -np.inf, "float32")
    assert same_bits(F.logcumsumexp(low, 0), low)
    assert F.logcumsumexp(np.array([1000, 1000.0], "f"), 0).numpy()[1] == pytest.approx(1000.6931)


def test_a_number_has_no_axis():
    with pytest.raises(ValueError, match="cumsum: axis must not be given for rank 0, got -1"):
        F.cumsum(1.0, -1)


def derivatives(function, x):
    """The gradient of a sum of weighted results, and that of its own weighted sum."""
    x = tessera.Tensor(x, dtype="float64")
    weight = tessera.Tensor(np.arange(1.0, x.size + 1), dtype="float64")
    one = tessera.Tensor(1.0, dtype="float64")
    with recording([x]) as outer:
        with recording([x]) as inner:
            value = (function(x) * weight).sum()
            (grad,) = inner.backward([value], [one])
        (second,) = outer.backward([(grad * weight).sum()], [one])
    return grad.numpy(), second.numpy()


@pytest.mark.parametrize("zeros", [[], [1], [0, 3], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("exclusive", [False, True])
def test_the_gradient_of_products_takes_zeros(zeros, exclusive):
    """As that of the products written out, to second order."""
    x = np.array([1.5, -2, 0.5, 3, -1])
    x[zeros] = 0

    def products(x):
        last, parts = F.ones((1,), dtype="float64"), []
        for t in range(5):
            before, last = last, last * x[t : t + 1]
            parts.append(before if exclusive else last)
        return F.concat(parts, 0)

    for got, want in zip(
        derivatives(lambda x: F.cumprod(x, 0, exclusive), x), derivatives(products, x), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_the_first_of_equal_elements_has_the_gradient():
    x = tessera.Tensor(np.array([1, 3, 3, np.nan, np.nan, 9.0]), dtype="float64")
    with recording([x]) as state:
        (grad,) = state.backward([F.cummax(x, 0)], [tessera.Tensor(np.ones(6), dtype="float64")])
    assert grad.numpy().tolist() == [1, 2, 0, 3, 0, 0]
