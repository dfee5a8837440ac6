"""Writes into views: where they lie, by one kernel."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812


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
