"""Memory shared with other libraries by DLPack."""

import ctypes
import gc

import numpy as np
import pytest
import tessera
from tessera.utils import dlpack

from tests.python.helper import floats


def test_dlpack_both_ways():
    tensor = tessera.Tensor(floats(3, 4))
    array = np.from_dlpack(tensor[:, 1:])
    np.testing.assert_array_equal(array, tensor.numpy()[:, 1:])
    assert tensor.__dlpack_device__() == (1, 0)
    back = tessera.Tensor._from_dlpack(np.arange(6.0).reshape(2, 3))
    assert back.dtype == "float64" and back.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_dlpack_shares_memory_or_copies():
    array = np.arange(4, dtype=np.float32)
    tensor = dlpack.from_dlpack(array)
    array[0] = 7
    assert tensor.tolist() == [7, 1, 2, 3]
    shared, own = np.from_dlpack(tensor), np.from_dlpack(tensor, copy=True)
    assert shared.ctypes.data == array.ctypes.data != own.ctypes.data
    array[1] = 9
    assert shared[1] == 9 and own[1] == 1
    with pytest.raises(BufferError, match=r"__dlpack__: dl_device must be \(1, 0\).*got \(2, 0\)"):
        tensor.__dlpack__(dl_device=(2, 0))
    capsule = dlpack.to_dlpack(tensor)
    assert dlpack.from_dlpack(capsule).tolist() == [7, 9, 2, 3]
    with pytest.raises(ValueError, match="from_dlpack: capsule must be fresh, got one"):
        dlpack.from_dlpack(capsule)


class Managed(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8; DLTensor's fields first."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


@pytest.mark.parametrize(
    ("field", "value", "got"),
    [
        ("ndim", -1, "device 1, dtype code 2 of 32 bits, rank -1"),
        ("ndim", 9, "device 1, dtype code 2 of 32 bits, rank 9"),
        ("device", (2, 0), "device 2, dtype code 2 of 32 bits, rank 1"),
        ("code", 5, "device 1, dtype code 5 of 32 bits, rank 1"),
    ],
)
def test_a_dlpack_tensor_of_another_kind_is_refused(field, value, got):
    numbers, shape = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_int64 * 1)(3)
    managed = Managed(ctypes.addressof(numbers), (1, 0), 1, 2, 32, 1, shape)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    assert dlpack.from_dlpack(new(ctypes.addressof(managed), b"dltensor", None)).tolist() == [
        1,
        2,
        3,
    ]
    setattr(managed, field, value)
    with pytest.raises(ValueError, match=f"from_dlpack: tensor must be on the processor.*{got}"):
        dlpack.from_dlpack(new(ctypes.addressof(managed), b"dltensor", None))


def test_dlpack_keeps_memory_alive():
    view = np.from_dlpack(tessera.Tensor(floats(1000)) + 0)
    gc.collect()
    assert np.array_equal(view, floats(1000))
    array = floats(1000)
    tensor = tessera.Tensor._from_dlpack(array)
    del array
    gc.collect()
    assert np.array_equal(tensor.numpy(), floats(1000))


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float64", "int8", "uint8", "int16", "int64", "bool"]
    + ["uint16", "uint32", "uint64", "complex64", "complex128"],
)
def test_dlpack_dtypes(dtype):
    array = np.array([0, 1, 1], dtype=dtype)
    assert np.from_dlpack(tessera.Tensor(array, dtype=dtype)).dtype == dtype
    assert tessera.Tensor._from_dlpack(array).dtype == dtype
