"""Lines of every length and dtype in order, beside Python's stable sort."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812

from tests.support.helper import num_threads

DTYPES = ("float32", "float16", "float64", "int8", "int32", "int64", "uint8", "uint32", "uint64")
RANDOM = np.random.RandomState(5)


def line(dtype, size):
    """Numbers with many equal ones; of floats both zeros, NaN and infinities as well."""
    if not dtype.startswith("float"):
        limits = np.iinfo(dtype)
        values = RANDOM.randint(max(limits.min, -(2**31)), min(limits.max, 2**31 - 1), size)
        return np.where(RANDOM.rand(size) < 0.3, values[0], values).astype(dtype)
    values = np.round(RANDOM.randn(size), 1).astype(dtype)
    for step, value in ((7, np.nan), (9, -0.0), (11, 0.0), (50, np.inf), (51, -np.inf)):
        values[step - 3 :: step] = value
    return values


def expected(values, descending):
    """The stable order in which NaN is the largest."""
    sign = -1 if descending else 1

    def key(place):
        value = values[place]
        is_nan = value != value
        return sign * int(is_nan), 0 if is_nan else sign * value.item(), place

    return sorted(range(len(values)), key=key)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [1, 2, 127, 128, 700])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_topk_are_the_stable_order(dtype, size, descending):
    lines = np.stack([line(dtype, size) for _ in range(3)])
    x = tessera.Tensor(lines, dtype=dtype)
    values, places = F.sort(x, descending=descending)
    order = [expected(each, descending) for each in lines]
    assert places.tolist() == order
    assert values.numpy().tobytes() == np.take_along_axis(lines, np.array(order), 1).tobytes()
    for k in {1, max(1, size // 9), size}:
        some, where = F.topk(x, k, descending=descending)
        assert where.tolist() == [each[:k] for each in order]
        assert some.numpy().tobytes() == values.numpy()[:, :k].tobytes()


def test_threads_sort_what_one_does():
    x = tessera.Tensor(RANDOM.rand(64, 1000), dtype="float32")
    results = []
    for threads in (1, 2, 5):
        with num_threads(threads):
            results.append([each.numpy().tobytes() for each in F.sort(x)])
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("batch", [(), (3,), (1,)])
def test_threads_search_what_one_does(batch):
    lines = tessera.Tensor(np.sort(RANDOM.rand(*batch, 500)), dtype="float32")
    values = tessera.Tensor(RANDOM.rand(3, 9001), dtype="float32")
    results = []
    for threads in (1, 2, 5):
        with num_threads(threads):
            results.append(F.searchsorted(lines, values).numpy())
    each = np.broadcast_to(lines.numpy(), (3, 500))
    want = [np.searchsorted(line, row) for line, row in zip(each, values.numpy(), strict=True)]
    for result in results:
        assert np.array_equal(result, want)
