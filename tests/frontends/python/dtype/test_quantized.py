"""Quantized dtypes: made, printed, converted, and what is refused."""

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.dtype import (
    convert_from_qint8,
    convert_from_quint8,
    convert_to_qint8,
    convert_to_quint8,
    get_scale,
    get_zero_point,
    is_dtype_equal,
    is_quantize,
    qint1,
    qint4,
    qint8,
    qint32,
    quint4,
    quint8,
)

from tests.frontends.python.dtype.quantized import (
    ALL,
    CHANNELS,
    KINDS,
    dequantized,
    numbers,
    quantized,
    same,
)
from tests.records.oracles import quantized as stored

# Conversion.


@pytest.mark.parametrize("name", ALL)
def test_conversion_is_numpys_bit_by_bit(name):
    dtype = ALL[name]
    array = numbers(64, 3, 5)
    q = tessera.tensor(array).astype(dtype)
    same(q, quantized(array, dtype))
    same(tessera.tensor(array, dtype=dtype), q)
    same(q.astype("float32"), dequantized(q.numpy(), dtype))
    if name != "qint32":  # whose integers may have more digits than a float32
        same(q.astype("float32").astype(dtype), q)


def test_halves_round_away_from_zero_and_ends_saturate():
    x = tessera.tensor(
        [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, -0.49999997, 8388607.5, np.nan, 127.4]
    )
    assert x.astype(qint32(1.0)).tolist() == [1, 2, 3, -1, -2, 0, 0, 8388608, 0, 127]
    assert x.astype(qint8(1.0)).tolist() == [1, 2, 3, -1, -2, 0, 0, 127, 0, 127]
    assert x.astype(quint8(1.0, 1)).tolist() == [2, 3, 4, 0, 0, 1, 1, 255, 0, 128]
    ends = tessera.tensor([-1e30, 1e30, -np.inf, np.inf])
    for name, dtype in KINDS.items():
        low, high = stored.LIMITS[name]
        assert ends.astype(dtype).tolist() == [low, high, low, high]


def test_every_float32_near_a_half_rounds_as_numpys():
    steps = np.arange(-300, 300).astype(np.float32) + np.float32(0.5)
    around = [np.nextafter(steps, np.float32(way)) for way in (np.inf, -np.inf)]
    any_numbers = np.random.RandomState(0).uniform(-300, 300, 10000).astype(np.float32)
    array = np.concatenate([steps, *around, any_numbers])
    for dtype in (qint8(1.0), qint32(1.0), qint32(0.1), quint8(0.3, 77)):
        same(tessera.tensor(array).astype(dtype), quantized(array, dtype))


def test_other_dtypes_go_by_float32():
    q = tessera.tensor(np.array([1, -2, 300])).astype(qint8(0.5))
    assert q.tolist() == [2, -4, 127]
    assert tessera.tensor([True, False]).astype(qint8(0.5)).tolist() == [2, 0]
    half = tessera.tensor([0.75], dtype="float16").astype(qint8(0.5))
    assert half.tolist() == [2] and half.astype("float16").tolist() == [1.0]
    assert q.astype("int32").tolist() == [1, -2, 63] and q.astype("bool").tolist() == [True] * 3
    assert q.astype(quint8(0.25, 10)).tolist() == [14, 2, 255]  # by what the integers stand for
    with pytest.raises(ValueError, match="cast: x must be real where dtype is neither complex nor"):
        tessera.tensor([1j]).astype(qint8(0.5))


def test_functions_on_numpys_arrays():
    array = np.float32([0.25, -1.0, 100.0])
    got = convert_to_qint8(array, qint8(0.5))
    assert got.tolist() == [1, -2, 127] and get_scale(got.dtype) == 0.5
    assert convert_from_qint8(got).tolist() == [0.5, -1.0, 63.5]
    got = convert_to_quint8(array, quint8(0.5, 3))
    assert got.tolist() == [4, 1, 203] and convert_from_quint8(got).tolist() == [0.5, -1.0, 100.0]
    with pytest.raises(ValueError, match="convert_to_qint8: the dtype must be a qint8, got quint8"):
        convert_to_qint8(array, quint8(0.5, 3))
    with pytest.raises(
        ValueError, match="convert_from_qint8: the dtype must be a qint8, got float32"
    ):
        convert_from_qint8(array)
    with pytest.raises(ValueError, match="convert_to_qint8: arr must be a numpy.ndarray, got list"):
        convert_to_qint8([1.0], qint8(0.5))


# Creation, dtypes, what is printed.


def test_stored_integers_and_numbers():
    stored = np.array([1, -2], np.int8)
    assert tessera.tensor(stored, dtype=qint8(0.5)).astype("float32").tolist() == [0.5, -1.0]
    assert tessera.tensor([1, -2], dtype=qint8(0.5)).tolist() == [2, -4]
    assert tessera.tensor(1.5, dtype=qint8(0.5)).tolist() == 3
    q = tessera.tensor(stored, dtype=qint8(0.5))
    same(tessera.tensor(q.numpy()), q)  # the metadata of the array's dtype says it
    same(tessera.tensor(q), q)
    assert tessera.tensor(q.numpy(), dtype=qint8(0.25)).tolist() == [2, -4]
    q.set_value([2.0, 3.0])
    assert q.tolist() == [4, 6] and q[1].item() == 6
    with pytest.raises(
        IndexError, match=r"tensor: stored numbers of qint4 must be in \[-8, 7\], got 9"
    ):
        tessera.tensor(np.array([9], np.int8), dtype=qint4(0.5))


# Integers of fewer bits, which ml_dtypes has.

FEW = {"int4": qint4(0.5), "uint4": quint4(0.5, 3), "uint1": qint1(0.5)}
FEW_BITS = ("int1", "int2", "int4", "uint1", "uint2", "uint4")


def few_bits(name):
    """All numbers of a dtype of ml_dtypes."""
    info = ml_dtypes.iinfo(getattr(ml_dtypes, name))
    return np.arange(info.min, info.max + 1).astype(getattr(ml_dtypes, name))


@pytest.mark.parametrize("name", FEW)
def test_integers_of_few_bits_are_stored_integers(name):
    array = few_bits(name).reshape(2, -1).T
    q = tessera.tensor(array, dtype=FEW[name])
    same(q, array.astype(FEW[name]))
    back = np.asarray(q.numpy(), array.dtype)
    assert back.dtype == array.dtype and (back == array).all()
    by_channel = qint4([0.5, 2.0], axis=0)
    if name == "int4":
        whole = np.array([[-8], [7]], ml_dtypes.int4)
        assert tessera.tensor(whole, by_channel).astype("float32").tolist() == [[-4.0], [14.0]]


@pytest.mark.parametrize("name", FEW_BITS)
def test_integers_of_few_bits_are_numbers_elsewhere(name):
    array = few_bits(name)
    for dtype in ("float32", "int8", "int64", "bool", qint8(0.5), quint8(0.5, 3)):
        same(
            tessera.tensor(array, dtype=dtype), tessera.tensor(array.astype("int32")).astype(dtype)
        )
    assert tessera.tensor(array[array % 2 != 0], dtype="intb4").tolist() == [
        number for number in array.astype(int).tolist() if number % 2
    ]
    with pytest.raises(TypeError, match=f"of a dtype that tensors have, got an array of {name}"):
        tessera.tensor(array)
    with pytest.raises(ValueError, match="tensor: numbers of intb4 must be odd integers in"):
        tessera.tensor(np.zeros(1, array.dtype), dtype="intb4")


def test_dtypes_have_parameters():
    q = tessera.tensor([1.0], dtype=quint8(0.1, 3))
    assert q.dtype == np.uint8 and is_quantize(q.dtype) and not is_quantize(np.dtype("uint8"))
    assert get_scale(q.dtype) == 0.1 and get_zero_point(q.dtype) == 3
    assert is_dtype_equal(q.dtype, quint8(0.1, 3)) and not is_dtype_equal(q.dtype, quint8(0.1, 4))
    assert q.dtype.metadata["mgb_dtype"] == {
        "name": "Quantized8Asymm",
        "scale": 0.1,
        "zero_point": 3,
    }
    assert "dtype=quint8<0.1:3>" in repr(q)
    by_channel = CHANNELS["quint8"]
    assert get_scale(by_channel) == [0.05, 0.5, 0.01] and get_zero_point(by_channel) == [
        130,
        0,
        255,
    ]
    assert "dtype=quint8@1<0.05:130|0.5:0|0.01:255>" in repr(
        tessera.tensor(np.ones((1, 3)), dtype=by_channel)
    )
    with pytest.raises(ValueError, match="get_zero_point: dtype must have a zero point, got qint8"):
        get_zero_point(qint8(0.1))
    with pytest.raises(ValueError, match="get_scale: dtype must be quantized, got int8"):
        get_scale(np.dtype("int8"))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tessera.tensor([1.0], dtype="qint8"), TypeError,
         "dtype: a quantized dtype must have a scale, got qint8"),
        (lambda: tessera.tensor([1.0], dtype=qint8), TypeError,
         "dtype: a quantized dtype must have a scale, got qint8"),
        (lambda: qint8(0.0), ValueError, "qint8: scale must be a finite number above 0, got 0"),
        (lambda: qint8(float("nan")), ValueError, "qint8: scale must be a finite .*, got nan"),
        (lambda: qint8(1e-50), ValueError, "qint8: scale must be a finite number above 0, got 0"),
        (lambda: qint8([0.1, 0.2]), ValueError,
         "qint8: scale must be one number, or one for each channel along an axis, got 2 with"),
        (lambda: quint8(0.1, 256), ValueError, r"quint8: zero_point must be in \[0, 255\], got 2"),
        (lambda: quint4(0.1, 16), ValueError, r"quint4: zero_point must be in \[0, 15\], got 16"),
        (lambda: quint8(0.1, 1.5), ValueError, "quint8: zero_point must be an integer, got 1.5"),
        (lambda: qint8([0.1], axis=9), ValueError, r"qint8: axis must be in \[0, 7\], got 9"),
        (lambda: tessera.tensor(np.ones((2, 2)), dtype=CHANNELS["qint8"]), ValueError,
         r"cast: axis 1 must have a scale for each index, got 3 scales for shape \[2, 2\]"),
        (lambda: tessera.tensor(np.ones(3, np.int8), dtype=CHANNELS["qint8"]), ValueError,
         r"tensor: axis 1 must have a scale for each index, got 3 scales for shape \[3\]"),
    ],
)  # fmt: skip
def test_bad_parameters(make, error, text):
    with pytest.raises(error, match=f"^{text}"):
        make()


def test_nothing_computes_with_quantized_tensors():
    x = tessera.tensor([1.0, 2.0], dtype=qint8(0.5))
    other = tessera.tensor([1.0, 2.0], dtype=qint8(0.25))
    for call, text in (
        (lambda: x + x, r"add: x must be a number or complex, got qint8<0.5>\[2\]"),
        (lambda: F.exp(x), r"exp: x must be a float or complex, got qint8<0.5>\[2\]"),
        (lambda: x < x, r"less: x must be a number or bool, got qint8<0.5>\[2\]"),
        (lambda: x.sum(), r"sum: x must be a number, bool or complex, got qint8<0.5>\[2\]"),
        (lambda: F.matmul(x, x), r"matmul: x must be a float or complex, got qint8<0.5>\["),
        (lambda: F.pad(x, ((1, 1),)), r"pad: x must be neither quantized nor intb, got qint8"),
        (lambda: F.zeros(2, dtype=qint8(0.5)), "full: dtype must be neither quantized nor intb"),
        (lambda: x * 2, "mul: operands must have a common dtype, got qint8<0.5> and"),
        (lambda: F.concat([x, other]), "concat: operands must have .* dtype, got "),
        (lambda: F.where(x.astype("bool"), x, other), "where: operands must have .* dtype, got"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(
        BufferError, match="__dlpack__: dtype must have a code of DLPack, got qint8<0.5>"
    ):
        np.from_dlpack(x)
    assert x.astype("float32").tolist() == [1.0, 2.0]  # nothing is lost
