"""Writes into views: where they lie, by one kernel."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import config
from tessera.autodiff import GradManager


def test_a_strided_view_is_written_where_it_lies():
    x = tessera.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    column = x.transpose(1, 0)[1]
    before = tessera.cache_stats()
    F.mul(column, 10, inplace=True)
    after = tessera.cache_stats()
    assert after["copies"] == before["copies"]
    assert after["results_in_place"] == before["results_in_place"] + 1
    assert x.tolist() == [[0, 10, 2], [3, 40, 5]] and column.tolist() == [10, 40]


def test_a_view_that_reads_its_own_memory_elsewhere_is_written_by_a_copy_that_is_counted():
    x = tessera.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    column = x.transpose(1, 0)[1]
    before = tessera.cache_stats()["copies"]
    F.add(column, x[0, :2], inplace=True)
    assert tessera.cache_stats()["copies"] == before + 1
    assert x.tolist() == [[0, 1, 2], [3, 5, 5]]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "float32", "float64", "int64"])
def test_writes_go_to_any_layout(dtype):
    shape = (40, 30, 50)
    keys = [
        np.s_[:, 3],
        np.s_[..., 7],
        np.s_[::-2, 1::3],
        np.s_[5:6, :, ::7],
        np.s_[:, :, 10:30],
        np.s_[2, 3, 4:5],
    ]
    for turn in [(0, 1, 2), (2, 0, 1), (1, 2, 0)]:
        for key in keys:
            target = np.arange(np.prod(shape)).reshape(shape).astype(dtype).transpose(*turn)
            x = tessera.Tensor(target.transpose(np.argsort(turn))).transpose(*turn)
            value = (np.arange(target[key].size) * 7 % 251).reshape(target[key].shape)
            x[key] = tessera.Tensor(value.astype(dtype))
            target[key] = value.astype(dtype)
            name, other = (
                "logical_xor" if dtype == "bool" else "add",
                value[..., ::-1].astype(dtype),
            )
            getattr(F, name)(x[key], tessera.Tensor(other), inplace=True)
            getattr(np, name)(target[key], other, out=target[key])
            np.testing.assert_array_equal(x.numpy(), target)


def in_place(function):
    """How many results `function` makes in the memory of an operand."""
    before = tessera.cache_stats()["results_in_place"]
    function()
    return tessera.cache_stats()["results_in_place"] - before


@pytest.mark.parametrize("level", [0, 1, 2])
def test_elements_are_set_where_they_lie(level):
    x = tessera.Tensor(np.zeros((6, 5), np.float32))
    index, row = tessera.tensor([2, -1, 2]), tessera.tensor([1.0, 2, 3, 4, 5])
    alike = np.zeros((6, 5), np.float32)

    def write(target, index, row):
        target[index] = row
        target[:, [0, 3]] = 6
        target[index, [[4], [2]]] = 7  # more axes than it has indexed ones

    config.set_async_level(level)
    try:
        assert in_place(lambda: write(x, index, row)) == (3 if level != 1 else 0)
    finally:
        config.set_async_level(2)
    write(alike, index.numpy(), row.numpy())
    np.testing.assert_array_equal(x.numpy(), alike)


def test_masked_elements_are_set_where_they_lie():
    x = tessera.tensor([[1.0, 2], [3, 4]])

    def write():
        x[x > 2] = 0

    assert in_place(write) == 1 and x.tolist() == [[1, 2], [0, 0]]


def test_an_index_written_in_place_copies_on_write():
    def write():
        x[index] = 5

    x, index = tessera.Tensor(np.zeros((3, 2), np.float32)), tessera.tensor([0])
    other = x.detach()
    assert in_place(write) == 0 and other.tolist() == [[0, 0], [0, 0], [0, 0]]
    assert in_place(write) == 1 and x.tolist() == [[5, 5], [0, 0], [0, 0]]
    view = x[0]
    assert in_place(write) == 0 and view.tolist() == [5, 5]
    with GradManager().attach([other]):
        assert in_place(write) == 0  # a tape may save what a call reads
    x[index] = x[1]  # of its own memory
    assert x.tolist() == [[0, 0], [0, 0], [0, 0]]


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("rows", [4, 20_000])  # at once, and by the worker
def test_a_wrong_index_changes_nothing(level, rows):
    x = tessera.Tensor(np.ones((rows, 20), np.float32))
    config.set_async_level(level)
    try:
        with pytest.raises(IndexError, match=f"index_set: index must be in .*, got {rows}"):
            x[[0, rows]] = 7
    finally:
        config.set_async_level(2)
    x[[1, 2]] = 5
    assert x.sum().item() == 20 * (rows - 2) + 200


def test_inplace_index_set_writes_into_the_memory_that_views_see():
    x = tessera.Tensor(np.zeros((4, 2), np.float32))
    view = x[1]
    count = in_place(lambda: F.index_add(x, [[1.0, 2]], [[1]], axes=[0], inplace=True))
    assert count == 1 and view.tolist() == [1, 2]
