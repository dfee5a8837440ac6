"""intb1, intb2 and intb4: made, printed, converted, and what is refused."""

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.core.tensor import dtype as megengines
from tessera.dtype import intb1, intb2, intb4, is_dtype_equal, is_lowbit, is_quantize, qint8

from tests.frontends.python.dtype.quantized import LOW_BIT, same
from tests.records.oracles import oracle

ALL = list(LOW_BIT)
SOURCES = ("float64", "float32", "float16", "bfloat16", "float8_e5m2", "int8", "int16", "int32",
           "int64", "uint8", "uint16", "uint32", "uint64", "bool")  # fmt: skip


def all_numbers(name):
    end = oracle.LOW_BIT[name]
    return np.arange(-end, end + 1, 2)


def around(name):
    """Numbers around the ends, around ties and around 0."""
    near = np.concatenate(
        [np.arange(-18, 19), np.arange(-18, 19) + 0.5, [1e-30, -1e-30, 0.0, -0.0]]
    )
    steps = [np.nextafter(near.astype(np.float32), np.float32(way)) for way in (np.inf, -np.inf)]
    ends = np.float32([1e30, -1e30, np.inf, -np.inf, np.nan])
    return np.concatenate([near.astype(np.float32), *steps, ends])


# Creation.


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("source", ["float64", "float32", "float16", "bfloat16", "int8", "int64"])
def test_every_number_is_taken_from_every_dtype(name, source):
    numbers = all_numbers(name)
    array = numbers.astype(ml_dtypes.bfloat16 if source == "bfloat16" else source)
    x = tessera.tensor(array, dtype=LOW_BIT[name])
    assert x.dtype == np.int8 and is_dtype_equal(x.dtype, LOW_BIT[name])
    assert x.tolist() == numbers.tolist() and x[0].item() == numbers[0]
    assert f"dtype={name}" in repr(x)
    for again in (tessera.tensor(numbers.tolist(), dtype=name), tessera.tensor(x.numpy()),
                  tessera.tensor(x), tessera.asarray(x.numpy())):  # fmt: skip
        same(again, x)


@pytest.mark.parametrize("name", ALL)
def test_other_numbers_are_refused(name):
    end = oracle.LOW_BIT[name]
    for wrong in (0, 2, -2, end + 1, -end - 2, 0.5, float("nan"), float("inf"), False, 2**40):
        text = rf"^tensor: numbers of {name} must be odd integers in \[-{end}, {end}\], got {wrong}"
        for data in (wrong, [1, wrong], np.array([[1, wrong]]), np.array(wrong)):
            with pytest.raises(ValueError, match=text.replace("False", "(False|0)")):
                tessera.tensor(data, dtype=name)
    bad = np.full(2, 2, np.int8).astype(LOW_BIT[name])
    with pytest.raises(ValueError, match="must be odd integers"):
        tessera.tensor(bad)
    with pytest.raises(TypeError, match="complex data must have a complex dtype, got intb"):
        tessera.tensor(1j, dtype=name)


def test_no_data_of_fewer_bits_is_rounded():
    x = tessera.tensor([1, 3, -3], dtype=intb2)
    assert tessera.tensor(x.numpy(), dtype=intb4).tolist() == [1, 3, -3]
    with pytest.raises(
        ValueError, match=r"numbers of intb1 must be odd integers in \[-1, 1\], got 3"
    ):
        tessera.tensor(x.numpy(), dtype=intb1)
    assert tessera.tensor(x, dtype=intb1).tolist() == [1, 1, -1]  # a tensor is converted
    assert tessera.tensor(x.numpy(), dtype="float32").tolist() == [1.0, 3.0, -3.0]
    assert tessera.tensor(np.zeros((0, 2)), dtype=intb1).shape == (0, 2)


def test_values_are_set():
    x = tessera.tensor([1, 3, -3], dtype=intb2)
    x.set_value([3, 3, 1])
    x[1:] = tessera.tensor([-1], dtype=intb2)
    assert x.tolist() == [3, -1, -1]
    with pytest.raises(ValueError, match="tensor: numbers of intb2 must be odd integers"):
        x.set_value([0, 1, 1])
    x[0] = -3
    assert x.tolist() == [-3, -1, -1]
    with pytest.raises(ValueError, match="tensor: numbers of intb2 must be odd integers"):
        x[0] = 2


def test_dtypes():
    assert is_lowbit(intb1) and not is_lowbit(qint8(0.5)) and not is_lowbit("int8")
    assert not is_quantize(intb4) and not is_dtype_equal(intb1, np.int8)
    assert is_dtype_equal(intb4, tessera.tensor([1], dtype="intb4").dtype)
    assert not is_dtype_equal(intb1, intb2) and megengines.intb2 is intb2
    assert tessera.tensor([1], dtype=megengines.intb4).dtype.itemsize == 1


# Conversion.


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("source", SOURCES)
def test_conversion_goes_to_the_nearest(name, source):
    wide = around(name)
    if source == "bool":
        wide = np.array([False, True])
    elif not source.startswith(("float", "bfloat")):
        low, high = np.iinfo(source).min, np.iinfo(source).max
        wide = np.array([*range(max(low, -20), 21), low, high, high - 1], source)
    x = tessera.tensor(wide, dtype=source)
    want = oracle.odd(x.astype("float64").numpy(), name)
    same(x.astype(LOW_BIT[name]), want.astype(LOW_BIT[name]))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("target", SOURCES)
def test_conversion_back_is_exact(name, target):
    numbers = all_numbers(name)
    got = tessera.tensor(numbers, dtype=name).astype(target)
    want = tessera.tensor(numbers).astype(target)  # as an integer, which wraps around
    assert got.dtype == want.dtype and got.numpy().tobytes() == want.numpy().tobytes()
    if not target.startswith(("u", "bool", "float8")):
        same(got.astype(name), numbers.astype(LOW_BIT[name]))


def test_other_conversions():
    x = tessera.tensor([-2.0, 0.4, -0.4, 7.0, np.nan])
    assert x.astype(intb4).tolist() == [-3, 1, -1, 7, 1]
    assert x.astype(intb4).astype(intb2).tolist() == [-3, 1, -1, 3, 1]
    assert x[:4].astype(intb4).astype(qint8(0.5)).tolist() == [-6, 2, -2, 14]
    assert x[:4].astype(qint8(0.5)).astype(intb1).tolist() == [-1, 1, -1, 1]
    assert x.astype(intb1).astype("complex64").tolist()[0] == -1 + 0j
    with pytest.raises(ValueError, match="cast: x must be real where dtype is neither complex nor"):
        tessera.tensor([1j]).astype(intb1)


# Refusals.


@pytest.mark.parametrize("name", ALL)
def test_nothing_computes_with_few_bits(name):
    x, other = tessera.tensor([1, -1], dtype=name), tessera.tensor([1.0, 2.0])
    for call, text in (
        (lambda: x + x, rf"add: x must be a number or complex, got {name}\[2\]"),
        (lambda: -x, rf"neg: x must be a number or complex, got {name}\[2\]"),
        (lambda: F.exp(x), rf"exp: x must be a float or complex, got {name}\[2\]"),
        (lambda: x < x, rf"less: x must be a number or bool, got {name}\[2\]"),
        (lambda: x.sum(), rf"sum: x must be a number, bool or complex, got {name}\[2\]"),
        (lambda: F.matmul(x, x), rf"matmul: x must be a float or complex, got {name}\["),
        (lambda: F.pad(x, ((1, 1),)), rf"pad: x must be neither quantized nor intb, got {name}"),
        (lambda: F.zeros(2, dtype=name), f"full: dtype must be neither .* nor intb, got {name}"),
        (lambda: F.zeros_like(x), f"zeros_like: x must be neither quantized nor intb, got {name}"),
        (lambda: x * 2, f"mul: operands must have a common dtype, got {name} and"),
        (lambda: x + other, f"add: operands must have a common dtype, got {name} and"),
        (lambda: F.concat([x, other]), "concat: operands must have a common dtype, got "),
        (lambda: F.where(x.astype("bool"), x, x.astype("bool")), "where: operands must have a co"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(
        BufferError, match=f"__dlpack__: dtype must have a code of DLPack, got {name}"
    ):
        np.from_dlpack(x)
    assert x.tolist() == [1, -1]  # nothing is lost
