"""The comparison finds what is wrong, and files give back what was put in."""

import dataclasses

import numpy as np
import pytest

from tests.opinfo import arguments, compare, pools, runs, table
from tests.opinfo.rows import Row

STRICT = compare.Bound()


def off(number, units, dtype="float32"):
    """A number some units in the last place of the dtype away."""
    return np.array([number + units * float(np.spacing(np.array(number, dtype)))])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_four_units_are_near_and_five_are_not(dtype):
    want = np.array([1.5])
    assert not compare.different(off(1.5, 4, dtype), want, dtype, STRICT).any()
    assert compare.different(off(1.5, 5, dtype), want, dtype, STRICT).all()
    sum_bound = compare.Bound(terms=8)
    assert not compare.different(off(1.5, 8, dtype), want, dtype, sum_bound).any()


@pytest.mark.parametrize(("dtype", "unit"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_half_precision_is_rounded_once(dtype, unit):
    want = np.array([1 + 0.4 * unit])
    assert not compare.different(np.array([1.0]), want, dtype, STRICT).any()
    assert compare.different(np.array([1 + unit]), want, dtype, STRICT).all()
    assert not compare.different(
        np.array([1 + unit]), want, dtype, compare.Bound(roundings=2)
    ).any()


def test_overflow_integers_and_nan_are_exact():
    large = np.array([1e6])
    assert not compare.different(np.array([np.inf]), large, "float16", STRICT).any()
    assert compare.different(np.array([65504.0]), large, "float16", STRICT).all()
    assert compare.different(np.array([3]), np.array([4]), "int64", STRICT).all()
    assert not compare.different(np.array([np.nan]), np.array([np.nan]), "float32", STRICT).any()
    assert compare.different(np.array([np.nan]), np.array([1.0]), "float32", STRICT).all()


def test_parts_of_complex_numbers_are_compared():
    want = np.array([1 + 1j])
    assert not compare.different(want, want, "complex64", STRICT).any()
    assert compare.different(want + 1e-5j, want, "complex64", STRICT).all()


ARRAYS = [
    np.array([True, False]), np.array([1, 300, -(2**40)]), np.array([1.5, -0.0, np.nan, np.inf]),
    np.array(0.1), np.zeros((0, 3)), np.array([[0.1 + 2j, -3.5]]), np.array(1 / 3 - 2j),
]  # fmt: skip


def test_arrays_come_back(tmp_path):
    writer = pools.Writer()
    numbers = [writer.add(each) for each in (*ARRAYS, *ARRAYS)]
    assert numbers[: len(ARRAYS)] == numbers[len(ARRAYS) :]
    writer.save(tmp_path / "file.npz", {"more": [1]})
    reader = pools.Reader(tmp_path / "file.npz")
    assert reader.document["more"] == [1]
    for number, array in zip(numbers, ARRAYS, strict=False):
        got = reader.array(number)
        assert got.shape == array.shape
        np.testing.assert_array_equal(got, array)
        np.testing.assert_array_equal(np.signbit(got.real), np.signbit(array.real))


def test_arguments_come_back():
    value = [1, 2.5, None, "name", (True, [3]), slice(1, None, 2), Ellipsis, 1 + 2j, {"dim": -1}]
    assert arguments.decode(arguments.encode(value, lambda _: None), None) == value
    with pytest.raises(TypeError, match="opinfo: an argument must be of a known type, got set"):
        arguments.encode({1}, lambda _: None)


WRONG = {
    "value": lambda x: x + 1e-3,
    "shape": lambda x: x[:1],
    "dtype": lambda x: x.astype("complex64") if x.dtype.kind != "c" else x.astype("complex128"),
    "count": lambda x: (x, x),
    "refused": lambda x: x[0, 0, 0, 0],
    "gradient": lambda x: x.detach() * 2 - x,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_function_is_found(what, monkeypatch):
    """Rows that are wrong in one way each."""
    reader, right = runs.recorded("elementwise"), table.rows("elementwise")["conj_physical"]
    assert runs.survey(reader, "elementwise", "conj_physical")[0].get(what, 0) < 2
    row = dataclasses.replace(right, call=lambda x: WRONG[what](right.call(x)))
    assert isinstance(row, Row)
    monkeypatch.setitem(table.rows("elementwise"), "conj_physical", row)
    assert runs.survey(reader, "elementwise", "conj_physical")[0][what] > 1
