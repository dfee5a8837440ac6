"""Numbers that an integer dtype does not hold: refused by conversions, compared by value."""

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812

REFUSED = [(300, "uint8"), (-1, "uint8"), (2**31, "int32"), (-(2**31) - 1, "int32"),
           (70000, "int16"), (2**63, "int64"), (2**64, "uint64"), (-1, "uint64"), (-5, "uint32"),
           (float("nan"), "int32"), (float("inf"), "int64"), (1e10, "int32"), (-1.0, "uint64"),
           (2.0**63, "int64"), (-1.5, "uint8")]  # fmt: skip
TAKEN = [(255, "uint8", 255), (-(2**31), "int32", -(2**31)), (2**64 - 1, "uint64", 2**64 - 1),
         (1.9, "int32", 1), (-0.5, "uint8", 0), (-128.9, "int8", -128), (True, "uint8", 1),
         (2.0**62, "int64", 2**62)]  # fmt: skip


@pytest.mark.parametrize(("number", "dtype"), REFUSED)
def test_what_the_dtype_does_not_hold_is_refused(number, dtype):
    x = F.zeros((2,), dtype=dtype)
    calls = [
        lambda: tessera.tensor(number, dtype=dtype),
        lambda: tessera.tensor([number, 0], dtype=dtype),
        lambda: tessera.tensor(np.array([number]), dtype=dtype),
        lambda: tessera.asarray([[number]], dtype=dtype),
        lambda: F.full((2,), number, dtype=dtype),
        lambda: F.full_like(x, number),
        lambda: F.pad(x, ((1, 0),), constant_value=number),
        lambda: F.where(x == 0, x, tessera.tensor(number, dtype=dtype)),
        lambda: F.arange(number, number + 1, dtype=dtype),
        lambda: x.__setitem__(0, number),
        lambda: x.__setitem__(0, [number]),
    ]
    if isinstance(number, float):
        calls.append(lambda: tessera.tensor(np.float32(number), dtype=dtype))
    for call in calls:
        with pytest.raises((ValueError, OverflowError, TypeError)):
            call()
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.clip(x, 300, 400),
        lambda x: F.clip(x, -9, -1),
        lambda x: F.clip(x, float("nan"), 3),
        lambda x: F.arange(250, 260, dtype="uint8"),
        lambda x: F.arange(5, -5, -1, dtype="uint8"),
        lambda x: F.pad(x.astype("int64"), ((1, 0),), constant_value=2**60 + 1),
    ],
)
@pytest.mark.parametrize("wrap", [lambda function: function, tessera.jit.trace])
def test_what_would_be_no_number_of_the_dtype_is_refused(call, wrap):
    with pytest.raises(ValueError, match=r"(clip|arange|pad): .* must .*, got "):
        wrap(call)(tessera.tensor([1, 200], dtype="uint8"))


def test_numbers_that_float64_does_not_have_are_kept():
    x, odd = tessera.tensor([1, 2**61], dtype="int64"), 2**60 + 1
    assert F.full_like(x, odd).tolist() == [odd, odd]
    assert F.arange(odd, odd + 3, dtype="int64").tolist() == [odd, odd + 1, odd + 2]
    assert F.clip(x, odd, 2**62).tolist() == [odd, 2**61]
    assert F.full_like(tessera.tensor([1.0]), odd).tolist() == [2.0**60]


def test_bounds_beyond_the_dtype_limit_nothing():
    x = tessera.tensor([1, 200], dtype="uint8")
    assert F.clip(x, -1, 300).tolist() == [1, 200] and F.clip(x, -5, 7).tolist() == [1, 7]
    assert F.clip(x, 2).tolist() == [2, 200] and F.clip(x, upper=3.9).tolist() == [1, 3]


def test_a_number_makes_no_tensor_to_be_checked():
    before = tessera.cache_stats()["results"]
    F.full((2,), -300.5)
    F.full((2,), -300, dtype="int32")
    assert tessera.cache_stats()["results"] - before == 2


@pytest.mark.parametrize(("number", "dtype", "want"), TAKEN)
def test_what_it_holds_loses_its_fraction_at_most(number, dtype, want):
    x = F.zeros((2,), dtype=dtype)
    x[0] = number
    assert x.tolist() == [want, 0] and F.full((), number, dtype=dtype).item() == want
    assert tessera.tensor(number, dtype=dtype).item() == want
    assert tessera.tensor([number], dtype=dtype).tolist() == [want]


def test_astype_wraps_around():
    assert tessera.tensor([300, -1]).astype("uint8").tolist() == [44, 255]
    assert tessera.tensor([300.0, -1.0, np.nan]).astype("uint8").tolist() == [255, 0, 0]
    assert F.full((1,), 2**60 + 1, dtype="int64").item() == 2**60 + 1
    assert tessera.tensor(np.array([1.5], ml_dtypes.bfloat16), dtype="int8").tolist() == [1]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_comparisons_are_by_value(dtype):
    info = np.iinfo(dtype)
    array = np.array([info.min, 0, 1, info.max], dtype)
    x = tessera.tensor(array, dtype=dtype)
    for number in (info.min - 1, -1, 0, 1, info.max, info.max + 1, 2**40):
        if not -(2**63) <= number < 2**63:
            continue
        for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
            want = getattr(np, name)(array.astype(object), number).tolist()
            assert getattr(F, name)(x, number).tolist() == want
        assert (number < x).tolist() == (array.astype(object) > number).tolist()
    with pytest.raises((IndexError, OverflowError)):
        x + (info.max + 1)
