"""tessera.save and load."""

import io
import pickle
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest
import tessera

from tests.support.helper import same_bits

NUMPY_DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool",
                "uint16", "uint32", "uint64"]  # fmt: skip


def round_trip(value):
    file = io.BytesIO()
    tessera.save(value, file)
    return tessera.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_keep_their_bits(dtype, shape):
    values = np.random.RandomState(0).randint(0, 2, shape)
    tensor = tessera.Tensor(values, dtype=dtype)
    got = round_trip(tensor)
    assert isinstance(got, tessera.Tensor) and got.dtype == dtype and tuple(got.shape) == shape
    assert same_bits(got, tensor)


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, ">f4", ">i8", "uint16", "complex64", ">c16"])
def test_arrays_keep_their_values(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    got = round_trip({"a": array, "b": array.T})
    assert isinstance(got["a"], np.ndarray) and got["a"].dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(got["a"], array)
    np.testing.assert_array_equal(got["b"], array.T)


def test_bfloat16_arrays_keep_their_bits():
    bits = np.array([0, 0x8000, 0x3EAB, 0x7F80, 0x7F81, 0xFFC1, 1], np.uint16)
    array = bits.view(ml_dtypes.bfloat16)
    got, one = round_trip([array, array[2]])
    assert got.dtype == one.dtype == ml_dtypes.bfloat16 and one == array[2]
    assert got.view(np.uint16).tolist() == bits.tolist()


def test_loaded_arrays_are_writable():
    got = round_trip(np.arange(3))
    got[0] = 7
    assert got.tolist() == [7, 1, 2]


def test_containers_and_plain_values():
    value = {
        "numbers": [1, -(2**70), 2.5, True, None, 1e-300, np.float32(1.5), np.int64(3)],
        "strange": [float("inf"), float("-inf"), -0.0],
        3: ("a", b"\x00\xff", ()),
        (1, 2): {},
        "ordered": OrderedDict([("z", 1), ("a", 2)]),
        "é\n": "ü\x00",
    }
    got = round_trip(value)
    assert got == value and type(got["ordered"]) is OrderedDict and type(got[3]) is tuple
    assert list(map(type, got["numbers"])) == list(map(type, value["numbers"]))
    assert np.isnan(round_trip(float("nan"))) and np.signbit(round_trip(-0.0))


def test_names_and_parameters():
    parameter = tessera.Parameter(np.ones(2, dtype=np.float32))
    parameter.name = "layer.weight"
    got = round_trip([parameter])[0]
    assert isinstance(got, tessera.Parameter) and got.name == "layer.weight"


def test_equal_values_make_equal_files():
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        tessera.save({"a": np.arange(5)}, file)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("value", [{"a": [object()]}, {"f": len}, {object()}, np.array(["text"])])
def test_values_without_a_place(value):
    with pytest.raises(TypeError, match="^save: (values|arrays) must .* at object"):
        tessera.save(value, io.BytesIO())


def test_what_to_do_with_other_values():
    with pytest.raises(
        TypeError,
        match=r"got object at object\['a'\]\[0\]; save its state_dict\(\), or use pickle$",
    ):
        tessera.save({"a": [object()]}, io.BytesIO())


def test_containers_that_hold_themselves():
    value = {"a": []}
    value["a"].append(value)
    with pytest.raises(ValueError, match="^save: containers must be at most 200 deep and not hold"):
        tessera.save(value, io.BytesIO())
    for _ in range(195):
        value = [value] if isinstance(value, list) else []
    assert round_trip(value) == value


def test_sets_slices_ranges_and_complex_numbers():
    value = {
        "sets": [{1, "a", (2, None)}, frozenset([1.5]), set()],
        "slices": [slice(None), slice(1, -1, 2), slice(np.int64(3)), range(5, 0, -2)],
        "complex": [1 - 2j, complex(-0.0, float("inf"))],
    }
    got = round_trip(value)
    assert got == value and type(got["sets"][1]) is frozenset
    assert np.signbit(got["complex"][1].real)


def test_what_stands_in_two_places_is_saved_once():
    shared, array = tessera.Parameter(np.ones(1000, dtype=np.float32)), np.arange(1000)
    file = io.BytesIO()
    tessera.save({"a": shared, "b": [shared, array], "c": array}, file)
    got = tessera.load(io.BytesIO(file.getvalue()))
    assert got["a"] is got["b"][0] and got["c"] is got["b"][1]
    assert len(file.getvalue()) < 14_000


def test_several_values_in_one_stream():
    file = io.BytesIO()
    for value in ({"a": np.arange(3)}, "second"):
        tessera.save(value, file)
    file.seek(0)
    assert tessera.load(file)["a"].tolist() == [0, 1, 2] and tessera.load(file) == "second"
    with pytest.raises(ValueError, match="^load: the file must have bytes from its position on"):
        tessera.load(file)


@pytest.mark.parametrize("protocol", [None, *range(pickle.HIGHEST_PROTOCOL + 1)])
def test_pickle_protocol_is_accepted(protocol):
    file = io.BytesIO()
    tessera.save([1], file, pickle_protocol=protocol)
    assert tessera.load(io.BytesIO(file.getvalue())) == [1]


@pytest.mark.parametrize("protocol", [-1, pickle.HIGHEST_PROTOCOL + 1, "4", 2.0])
def test_protocols_that_there_are_not(protocol):
    with pytest.raises(ValueError, match="^save: pickle_protocol must be 0 to .*, got "):
        tessera.save(1, io.BytesIO(), pickle_protocol=protocol)
