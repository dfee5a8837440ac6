"""Memory shared with other libraries: by DLPack, and by Python's buffer protocol."""

import ctypes
import gc

import numpy as np
import pytest
import tessera
from tessera.utils import dlpack

from tests.support.helper import floats


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


def test_what_another_library_writes_is_no_constant_of_a_trace():
    weight, x = tessera.Tensor(floats(2048)), tessera.Tensor(floats(2048))
    traced = tessera.jit.trace(lambda x: x * weight, capture_as_const=True)
    expected = [traced(x).tolist() for _ in range(3)][0]  # the program is there
    shared = np.from_dlpack(weight)
    ctypes.memset(shared.ctypes.data, 0, shared.nbytes)
    assert not weight.numpy().any() and traced(x).tolist() == expected


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


VALID = ctypes.pythonapi.PyCapsule_IsValid
VALID.argtypes = [ctypes.py_object, ctypes.c_char_p]


def test_a_version_is_given_to_who_asks_for_one():
    x = tessera.tensor([1.0, 2.0])
    assert VALID(x.__dlpack__(), b"dltensor")
    assert VALID(x.__dlpack__(max_version=(0, 8)), b"dltensor")
    for version in [(1, 0), (1, 2), (2, 0)]:
        capsule = x.__dlpack__(max_version=version)
        assert VALID(capsule, b"dltensor_versioned")
        assert dlpack.from_dlpack(capsule).tolist() == [1, 2]
        assert VALID(capsule, b"used_dltensor_versioned")
        with pytest.raises(ValueError, match="from_dlpack: capsule must be fresh, got one"):
            dlpack.from_dlpack(capsule)


def test_a_capsule_that_nobody_takes_is_freed():
    before = tessera.device.get_allocated_memory()
    for version in (None, (1, 0)):
        x = tessera.functional.ones((1 << 16,)) + 1
        capsule = x.__dlpack__(max_version=version)
        del x
        assert tessera.device.get_allocated_memory() > before
        del capsule
        assert tessera.device.get_allocated_memory() <= before


def read_only(*shape):
    array = floats(*shape)
    array.flags.writeable = False
    return array


def test_read_only_memory_stays_as_it_is():
    array = read_only(3)
    x = dlpack.from_dlpack(array)
    assert np.from_dlpack(x).ctypes.data == array.ctypes.data
    with pytest.raises(ValueError, match=r"add: x must not be in read-only memory to be written in "
                       r"place, got f32\[3\] over memory that another library"):  # fmt: skip
        tessera.functional.add(x, 1, inplace=True)
    with pytest.raises(ValueError, match="relu: x must not be in read-only memory"):
        tessera.functional.relu(x[1:], inplace=True)
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match=r"__dlpack__: max_version must be \(1, 0\) or above for "
                       "memory that is read-only, got none"):  # fmt: skip
        dlpack.to_dlpack(x)
    own = np.from_dlpack(x, copy=True)
    own[0] = 9
    kept = array.copy()
    x[0] = 5  # of the variable, which gets memory of its own
    x += 1
    assert np.array_equal(array, kept) and own.flags.writeable and x.tolist()[0] == 6


def test_memory_that_may_be_written_is():
    array = floats(4)
    x = dlpack.from_dlpack(array)
    tessera.functional.add(x, 1, inplace=True)
    tessera.sync()
    assert np.array_equal(array, floats(4) + np.float32(1))


def test_copies_when_wanted():
    array = floats(4)
    own, shared = dlpack.from_dlpack(array, copy=True), dlpack.from_dlpack(array, copy=False)
    array[0] = 7
    assert own.tolist()[0] != 7 == shared.tolist()[0]
    assert dlpack.from_dlpack(array, device="sim0").device == "sim0"
    with pytest.raises(ValueError, match="from_dlpack: copy must be allowed for device sim0, got "):
        dlpack.from_dlpack(array, device="sim0", copy=False)


def test_memory_of_another_device_is_copied_for_the_processor():
    x = tessera.tensor([1.0, 2.0], device="sim0")
    assert x.__dlpack_device__() == (12, 0)
    assert np.from_dlpack(x, device="cpu").tolist() == [1, 2]
    with pytest.raises(BufferError, match="__dlpack__: tensor must be on a device that the host "):
        np.from_dlpack(x)
    with pytest.raises(BufferError, match="__dlpack__: tensor must be on a device that the host "):
        np.from_dlpack(x, device="cpu", copy=False)


LAYOUTS = {
    "reversed": lambda a: a[::-1],
    "reversed columns": lambda a: a[:, ::-2],
    "both": lambda a: a[::-1, 1::2],
    "transposed": lambda a: a.T,
    "repeated": lambda a: np.broadcast_to(a[:1], (5, 6)),
    "no rows": lambda a: a[:0],
    "rank 0": lambda a: a[1, 2],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    array = np.asarray(LAYOUTS[name](floats(4, 6)))
    x = dlpack.from_dlpack(array)
    assert x.shape == array.shape and np.array_equal(x.numpy(), array)
    assert np.array_equal((x + 1).numpy(), array + np.float32(1))
    back = np.from_dlpack(x)
    assert back.strides == array.strides or not array.size
    assert np.array_equal(back, array)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"stream": 3}, ValueError, "stream must be None, because the processor has none, got 3"),
        ({"max_version": 1}, TypeError, "max_version must be None or a tuple of two ints, got 1"),
        ({"dl_device": "cpu"}, TypeError, "dl_device must be None or a tuple of two ints, got 'c"),
        ({"dl_device": (1, 1)}, BufferError, r"dl_device must be \(1, 0\), the processor, got \(1"),
    ],
)
def test_bad_requests(arguments, error, message):
    with pytest.raises(error, match=f"__dlpack__: {message}"):
        tessera.tensor([1.0]).__dlpack__(**arguments)


def test_what_is_no_capsule():
    with pytest.raises(TypeError, match="from_dlpack: data must be a capsule or have __dlpack__, "
                       "got int"):  # fmt: skip
        dlpack.from_dlpack(3)


class OldLibrary:
    """Knows no argument, as before DLPack 1.0."""

    def __dlpack__(self):
        return tessera.tensor([3, 4]).__dlpack__()


def test_a_library_that_knows_no_versions():
    assert dlpack.from_dlpack(OldLibrary()).tolist() == [3, 4]
    assert dlpack.from_dlpack(OldLibrary(), copy=True).tolist() == [3, 4]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of DLPack 1.0."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        *Managed._fields_[:9],
    ]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("major", 2, "from_dlpack: version must be 1.x, got 2.3"),
        ("shape", (ctypes.c_int64 * 1)(-3), r"from_dlpack: sizes must not be negative, got \[-3\]"),
        ("strides", (ctypes.c_int64 * 1)(2**62), "from_dlpack: elements must lie within 64-bit "
         r"addresses, got sizes \[3\] and strides \[4611686018427387904\]"),
    ],
)  # fmt: skip
def test_a_versioned_capsule_is_checked(field, value, message):
    numbers, shape = (ctypes.c_float * 3)(1, 2, 3), (ctypes.c_int64 * 1)(3)
    data = ctypes.addressof(numbers)
    managed = Versioned(1, 3, None, None, 1, data, (1, 0), 1, 2, 32, 1, shape)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    fresh = new(ctypes.addressof(managed), b"dltensor_versioned", None)
    assert dlpack.from_dlpack(fresh).tolist() == [1, 2, 3]
    setattr(managed, field, value)
    with pytest.raises(ValueError, match=message):
        dlpack.from_dlpack(new(ctypes.addressof(managed), b"dltensor_versioned", None))


FORMATS = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
           "uint32": "I", "int64": "q", "uint64": "Q", "float16": "e", "float32": "f",
           "float64": "d", "complex64": "Zf", "complex128": "Zd"}  # fmt: skip


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_buffer_of_each_dtype(dtype):
    array = np.array([[0, 1], [1, 1]], dtype)
    view = memoryview(tessera.Tensor(array, dtype=dtype))
    assert view.format == FORMATS[dtype] and view.shape == (2, 2) and view.readonly
    assert np.asarray(view).dtype == dtype and np.array_equal(view, array)


def test_a_buffer_is_the_memory():
    x = tessera.Tensor(floats(3, 4))
    view = np.asarray(x[:, ::2], copy=False)
    assert view.ctypes.data == np.from_dlpack(x).ctypes.data and view.strides == (16, 8)
    assert not view.flags.writeable
    kept = view.copy()
    x += 1
    x[0] = 9
    del x
    gc.collect()
    assert np.array_equal(view, kept)


def test_a_buffer_that_knows_no_strides_is_a_copy():
    array = floats(3, 4)
    x = tessera.Tensor(array)
    assert bytes(x.T) == array.T.tobytes() and bytes(x) == array.tobytes()
    assert memoryview(tessera.tensor(2.5)).tolist() == 2.5
    assert memoryview(x[:0]).shape == (0, 4)


def requested(flags):
    """What a library in C gets that asks for PyBUF_WRITABLE (1) or PyBUF_F_CONTIGUOUS (0x58)."""
    buffer = (ctypes.c_char * 256)()
    tensor = ctypes.py_object(tessera.functional.zeros((2, 2)))
    assert ctypes.pythonapi.PyObject_GetBuffer(tensor, buffer, flags) == 0


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda: memoryview(tessera.tensor([1.0], dtype="bfloat16")), "dtype must have a letter of "
         "Python's struct module, got bfloat16"),
        (lambda: memoryview(tessera.tensor([1.0], device="sim0")), "tensor must be on a device "
         "that the host addresses, got one on sim0"),
        (lambda: memoryview(tessera.tensor([1.0], device="null0")), "tensor must be on a device "
         "that the host addresses, got one on null0"),
        (lambda: requested(1), "memory must be asked for to be read only, got a request for m"),
        (lambda: requested(0x58), "order must be row-major, got a request for column-major"),
    ],
)  # fmt: skip
def test_a_buffer_that_there_is_not(view, message):
    with pytest.raises(BufferError, match=f"buffer: {message}"):
        view()


def test_numpy_copies_where_there_is_no_buffer():
    for device in ("cpu0", "sim0"):
        x = tessera.tensor([1.0, 2.0], dtype="bfloat16", device=device)
        assert np.asarray(x).dtype.name == "bfloat16" and np.asarray(x).astype(float).sum() == 3


def test_a_mask_of_rank_0_is_a_key():
    x = tessera.Tensor(floats(2, 3))
    for truth in (True, False):
        mask = tessera.tensor(truth)
        assert np.array_equal(x[mask].numpy(), floats(2, 3)[np.array(truth)])
        assert np.array_equal(x[(np.array(truth),)].numpy(), floats(2, 3)[np.array(truth)])
        changed = tessera.Tensor(x)
        changed[mask] = tessera.tensor([1.0, 2.0, 3.0])
        assert np.array_equal(changed.numpy()[0], [1, 2, 3]) == truth
    assert tessera.tensor(5)[tessera.tensor(True)].tolist() == [5]
    assert np.array_equal(x[tessera.tensor(True), 1].numpy(), floats(2, 3)[True, 1])
