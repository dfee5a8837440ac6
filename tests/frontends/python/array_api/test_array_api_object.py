"""The array object of the standard, conversion, and what is asked of dtypes and the namespace."""

import itertools
import operator
import warnings

import array_api_strict as strict
import numpy as np
import pytest
import tessera
from tessera import array_api as xp
from tessera import jit

from tests.frontends.python.array_api.calls import KINDS, NUMBERS, dtypes_of, special, values
from tests.frontends.python.array_api.compare import as_numpy

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    strict.set_array_api_strict_flags(api_version="2024.12")

BINARY = {
    "add": "iufc", "sub": "iufc", "mul": "iufc", "truediv": "fc", "floordiv": "iuf", "mod": "iuf",
    "pow": "f", "lt": "iuf", "le": "iuf", "gt": "iuf", "ge": "iuf", "eq": "biufc", "ne": "biufc",
    "and_": "biu", "or_": "biu", "xor": "biu", "lshift": "iu", "rshift": "iu", "matmul": "fc",
}  # fmt: skip
UNARY = {"abs": "iufc", "neg": "ifc", "pos": "iufc", "invert": "biu"}
INPLACE = {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor",
           "ilshift", "irshift"}  # fmt: skip


def both(array):
    return xp.asarray(array), strict.asarray(array)


def assert_same(got, want):
    array = got.numpy() if isinstance(got, tessera.Tensor) else np.asarray(got)
    want = as_numpy(want)
    assert array.dtype == want.dtype and array.shape == want.shape
    if array.dtype.kind in "fc":
        np.testing.assert_allclose(
            array, want, rtol=1e-5 if want.dtype in ("float32", "complex64") else 1e-12
        )
    else:
        assert np.array_equal(array, want)


def operand(name, dtype):
    """A second operand for which the operator has a meaning."""
    y = values(dtype, 3, 3, seed=5)
    if name in ("lshift", "rshift", "pow"):
        y = np.abs(y).astype(dtype)
    return np.where(y == 0, np.array(2, dtype), y) if name in ("floordiv", "mod") else y


@pytest.mark.parametrize("name", BINARY)
def test_binary_operators(name):
    function = getattr(operator, name)
    for dtype in dtypes_of(BINARY[name]):
        x, y = values(dtype, 3, 3), operand(name, dtype)
        if name == "pow":
            x = np.abs(x)
        (a, c), (b, d) = both(x), both(y)
        assert_same(function(a, b), function(c, d))
        if name == "matmul":
            continue
        number = NUMBERS[np.dtype(dtype).kind]
        assert_same(function(a, number), function(c, number))
        assert_same(function(number, b), function(number, d))
        in_place = "i" + name.rstrip("_")
        if in_place in INPLACE:
            update = getattr(operator, in_place)
            kept = a
            assert_same(update(a, b), update(c, d))
            assert a is kept


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(name):
    function = getattr(operator, name)
    for dtype in dtypes_of(UNARY[name]):
        a, c = both(values(dtype, 3, 3))
        assert_same(function(a), function(c))


KEYS = [
    0, -1, slice(None), slice(1, None, 2), slice(None, None, -1), ..., None, (1, 2, 3),
    (..., 0), (0, ...), (None, 1, ...), (slice(1), None, ..., -1), (slice(2, 0, -1), ...),
    (1, ..., 2), (..., slice(0, 0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float64", "complex64"])
def test_keys(dtype):
    a, c = both(values(dtype, 3, 4, 5))
    number = NUMBERS[np.dtype(dtype).kind]
    for key in KEYS:
        whole = key if isinstance(key, tuple) or key is ... else (key, ...)
        assert_same(a[key], c[whole])
        if key is None or (isinstance(key, tuple) and None in key):
            continue  # array-api-strict sets no elements by such keys
        changed, other = xp.asarray(a, copy=True), strict.asarray(c, copy=True)
        changed[key] = number
        other[whole] = number
        assert_same(changed, other)
    for place in ("int8", "int32", "int64", "uint64"):
        one, two = both(np.array([1, 0, 1], place))
        assert_same(a[one], as_strict(as_numpy(c)[as_numpy(two)]))
        assert_same(a[0, one], as_strict(as_numpy(c)[0, as_numpy(two)]))


def as_strict(array):
    return strict.asarray(array)


def test_masks_as_keys():
    x = values("float64", 3, 4)
    for mask in (x > 0, x > 9, values("bool", 3), np.array(True), np.array(False)):
        a, c = both(x)
        one, two = both(mask)
        assert_same(a[one], c[two])
        a[one], c[two] = 5.0, 5.0
        assert_same(a, c)


def test_numbers_of_one_element():
    assert bool(xp.asarray(0.5)) and int(xp.asarray(2.75)) == 2 and float(xp.asarray(3)) == 3.0
    assert complex(xp.asarray(1 - 2j)) == 1 - 2j and complex(xp.asarray([2.5])) == 2.5
    assert operator.index(xp.asarray(7, dtype=xp.uint8)) == 7 and complex(xp.asarray(True)) == 1
    for convert in (int, operator.index):
        assert isinstance(convert(xp.asarray(3)), int)
    with pytest.raises(ValueError, match=r"complex: tensor must have one element, got f32\[2\]"):
        complex(xp.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match="float"):
        float(xp.asarray(1j))
    for value in (np.nan, np.inf):
        with pytest.raises((ValueError, OverflowError)):
            int(xp.asarray(value))


def test_attributes():
    x = xp.asarray(values("float64", 2, 3, 4))
    assert x.dtype == xp.float64 and x.ndim == 3 and x.size == 24 and x.shape == (2, 3, 4)
    assert x.device == "cpu0" and x.mT.shape == (2, 4, 3) and x[0].T.shape == (4, 3)
    assert np.array_equal(x.mT.numpy(), np.swapaxes(x.numpy(), -1, -2))
    with pytest.raises(ValueError, match="mT: tensor must have at least two axes, got 1"):
        _ = x[0, 0].mT


def test_devices():
    x = xp.asarray([1.0, 2.0])
    assert x.to_device("sim0").device == "sim0" and x.to_device("sim0").tolist() == [1, 2]
    assert x.to_device(x.device).tolist() == [1, 2]
    with pytest.raises(ValueError, match="to_device: stream must be None, because there are none"):
        x.to_device("cpu0", stream=1)
    for make in (xp.zeros, xp.ones, xp.empty):
        assert make((2,), device="sim0").device == "sim0"
    assert xp.zeros_like(x.to("sim0")).device == "sim0" == xp.full_like(x.to("sim0"), 3).device
    assert xp.arange(3, device="sim0").device == "sim0" == xp.eye(2, k=1, device="sim0").device
    assert xp.linspace(0, 1j, 3, device="sim0").device == "sim0"


def test_namespace():
    x = xp.asarray(1.0)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match="__array_namespace__: api_version must be None or one of "
                       r"\('2021.12', .*\), got '2031.12'"):  # fmt: skip
        x.__array_namespace__(api_version="2031.12")


def test_info():
    info = xp.__array_namespace_info__()
    assert info.default_device() == "cpu0" and info.default_device() in info.devices()
    capabilities = info.capabilities()
    assert capabilities["boolean indexing"] and capabilities["data-dependent shapes"]
    assert xp.zeros((1,) * capabilities["max dimensions"]).ndim == 8
    assert capabilities["extensions"] == ("fft", "linalg")
    assert info.default_dtypes() == {
        "real floating": xp.asarray(1.0).dtype, "complex floating": xp.asarray(1j).dtype,
        "integral": xp.asarray(1).dtype, "indexing": xp.argmax(xp.asarray([1])).dtype,
    }  # fmt: skip
    theirs = strict.__array_namespace_info__()
    for kind in (None, "bool", "signed integer", "unsigned integer", "integral", "real floating",
                 "complex floating", "numeric", ("bool", "integral")):  # fmt: skip
        assert sorted(info.dtypes(kind=kind)) == sorted(theirs.dtypes(kind=kind))
        assert all(getattr(xp, name) == dtype for name, dtype in info.dtypes(kind=kind).items())
    with pytest.raises(ValueError, match="dtypes: kind must be one of .*, got 'long'"):
        info.dtypes(kind="long")


ALL = dtypes_of("biufc")


def test_promotion():
    for one, two in itertools.product(ALL, repeat=2):
        try:
            want = strict.result_type(getattr(strict, one), getattr(strict, two))
        except TypeError:  # of two kinds: Tessera's own matter
            continue
        a, b = np.dtype(one), np.dtype(two)
        assert str(xp.result_type(a, b)) == str(want).rpartition(".")[2]
        assert xp.result_type(xp.zeros(2, dtype=a), b) == xp.result_type(a, b)
        assert xp.can_cast(a, b) == (xp.result_type(a, b) == b)
        assert xp.can_cast(a, b) == strict.can_cast(getattr(strict, one), getattr(strict, two))
    assert xp.result_type(xp.float32, 1.0, 2) == xp.float32 == xp.result_type(xp.float32, True)
    assert xp.result_type(xp.float64, 1j) == xp.complex128 and xp.result_type(xp.int8, 3) == xp.int8
    assert xp.result_type(xp.bool, True) == xp.bool
    with pytest.raises(
        TypeError, match="result_type: one value must be a tensor or a dtype, got o"
    ):
        xp.result_type(1, 2.0)
    with pytest.raises(TypeError, match="must have a common dtype"):
        xp.result_type(xp.uint64, xp.int8)
    assert not xp.can_cast(xp.uint64, xp.int8)


def test_facts_of_dtypes():
    for dtype in (*KINDS["f"], *KINDS["c"]):
        got, want = xp.finfo(getattr(xp, dtype)), strict.finfo(getattr(strict, dtype))
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(got, name) == getattr(want, name)
            assert type(getattr(got, name)) is (int if name == "bits" else float)
        assert str(got.dtype) == str(want.dtype).rpartition(".")[2]
    for dtype in (*KINDS["i"], *KINDS["u"]):
        got, want = xp.iinfo(xp.zeros(1, dtype=dtype)), strict.iinfo(getattr(strict, dtype))
        assert (got.bits, got.max, got.min) == (want.bits, want.max, want.min)
        assert got.dtype == dtype and type(got.max) is int
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric", ("bool", "integral")]  # fmt: skip
    for dtype, kind in itertools.product(ALL, kinds):
        want = strict.isdtype(getattr(strict, dtype), kind)
        assert xp.isdtype(getattr(xp, dtype), kind) is want
    for half in (np.dtype("float16"), tessera.bfloat16):
        assert [kind for kind in kinds if xp.isdtype(half, kind)] == ["real floating", "numeric"]
    assert xp.isdtype(xp.int8, xp.int8) and not xp.isdtype(xp.int8, (xp.int16, "bool"))
    with pytest.raises(ValueError, match="isdtype: kind must be one of .*, got 'float'"):
        xp.isdtype(xp.int8, "float")


def test_asarray():
    numbers = {True: "bool", 3: "int32", 2.5: "float32", 1j: "complex64"}
    lists = [([1, 2.0], "float32"), ([[1], [2]], "int32"), ([], "float32")]
    for value, dtype in [*numbers.items(), *lists]:
        x = xp.asarray(value)
        assert x.dtype == dtype and np.array_equal(x.numpy(), np.asarray(value))
    for dtype in ALL:
        array = special(dtype)
        x = xp.asarray(array)
        assert x.dtype == dtype and x.numpy().tobytes() == array.tobytes()
        assert xp.asarray(memoryview(array) if dtype[0] != "c" else array).dtype == dtype
        assert xp.asarray(x, dtype=x.dtype) is x
    assert xp.asarray([2**40], dtype=xp.int64).tolist() == [2**40]
    assert xp.asarray([2**64 - 1], dtype=xp.uint64).tolist() == [2**64 - 1]
    for value, dtype in [(2**40, None), ([1, 2**31], None), (-1, xp.uint8), (300, xp.int8)]:
        with pytest.raises(OverflowError, match="asarray: ints must be numbers of .*, got some in"):
            xp.asarray(value, dtype=dtype)


def test_arange_refuses_numbers_that_its_dtype_does_not_hold():
    outside = [(2**31 - 1, 2**31 + 1, None), (0, 300, xp.uint8), (-1, 1, xp.uint8)]
    for start, stop, dtype in outside:
        with pytest.raises(OverflowError, match="arange: ints must be numbers of .*, got some in"):
            xp.arange(start, stop, dtype=dtype)
    assert xp.arange(2**53, 2**53 + 2, dtype=xp.int64).tolist() == [2**53, 2**53 + 1]
    assert xp.arange(5, 5, dtype=xp.uint8).shape == (0,)


def test_asarray_copies_when_wanted():
    array = values("float64", 3)
    shared, own = xp.asarray(array, copy=False), xp.asarray(array, copy=True)
    array[0] = 99
    assert shared.tolist()[0] == 99 != own.tolist()[0]
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x) is x is xp.asarray(x, copy=False) and xp.asarray(x, copy=True) is not x
    for value, key in [([1.0], {}), (2, {}), (array, {"dtype": xp.float32})]:
        with pytest.raises(ValueError, match="asarray: copy must be allowed for such data, got "):
            xp.asarray(value, copy=False, **key)
    with pytest.raises(ValueError, match="asarray: copy must be allowed where dtype or "):
        xp.asarray(x, dtype=xp.float64, copy=False)
    read_only = np.zeros(2)
    read_only.flags.writeable = False
    assert xp.asarray(read_only, copy=False).tolist() == [0, 0]


def test_from_dlpack_and_back():
    for dtype in ALL:
        array = values(dtype, 3, 4)
        x = xp.from_dlpack(array)
        assert x.dtype == dtype and np.from_dlpack(x).ctypes.data == array.ctypes.data
        assert_same(x, strict.from_dlpack(strict.asarray(array)))
        assert np.array_equal(np.from_dlpack(xp.from_dlpack(array, copy=True)), array)
    assert xp.from_dlpack(array, device="sim0").device == "sim0"


def test_from_dlpack_of_a_tensor_reads_no_memory():
    """So that it may stand in a trace, or on a device that the host does not address."""
    x = xp.asarray([1.0, 2.0])
    shared, copied = xp.from_dlpack(x), xp.from_dlpack(x, copy=True)
    x[0] = 5
    assert shared.tolist() == [5, 2] and copied.tolist() == [1, 2]
    traced = jit.trace(lambda y: xp.from_dlpack(y * 2) + 1)
    assert [traced(x + n).tolist() for n in range(3)] == [[11, 5], [13, 7], [15, 9]]
    assert xp.from_dlpack(x.to("sim0")).device == "sim0"
    with pytest.raises(ValueError, match="from_dlpack: copy must be allowed .+, got .+ on cpu0"):
        xp.from_dlpack(x, device="sim0", copy=False)


def test_empty_tensors_have_shapes_and_dtypes():
    for dtype in ALL:
        x = xp.empty((2, 3), dtype=getattr(xp, dtype))
        assert x.shape == (2, 3) and x.dtype == dtype
        assert xp.empty_like(x).dtype == dtype and xp.empty_like(x, dtype=xp.int8).dtype == "int8"
    assert xp.empty(3).dtype == xp.float32


def test_constants():
    assert (xp.e, xp.pi, xp.inf) == (np.e, np.pi, np.inf) and np.isnan(xp.nan)
    assert xp.asarray([1, 2])[:, xp.newaxis].shape == (2, 1)


def test_full_takes_a_tensor():
    value = xp.asarray(2.5, dtype=xp.float64)
    assert xp.full((2,), value).dtype == xp.float64
    assert xp.full((2,), value, dtype=xp.int32).tolist() == [2, 2]


REFUSED = [
    (lambda: xp.take(xp.zeros((2, 2)), xp.asarray([0])), ValueError, "take: axis must be given"),
    (lambda: xp.nonzero(xp.asarray(1)), ValueError, "nonzero: x must have at least one axis"),
    (lambda: xp.cumulative_sum(xp.zeros((2, 2))), ValueError, "cumulative_sum: axis must be given"),
    (lambda: xp.cumulative_prod(xp.asarray(1)), ValueError, "cumulative_prod: axis must be given"),
    (lambda: xp.sum(xp.zeros(2), axis=1), ValueError, r"sum: axes must be in \[-1, 0\], got 1"),
    (lambda: xp.flip(xp.zeros(2), axis=-2), ValueError, r"flip: axis must be in \[-1, 0\], got -2"),
    (lambda: xp.moveaxis(xp.zeros((2, 2)), 0, (0, 1)), ValueError, "moveaxis: source and desti"),
    (lambda: xp.diff(xp.zeros(2), n=-1), ValueError, "diff: n must not be negative, got -1"),
    (lambda: xp.linspace(0, 1, -1), ValueError, "linspace: num must not be negative, got -1"),
    (lambda: xp.pow(xp.asarray([2]), -1), ValueError, "pow: exponent of integers must not be neg"),
    (lambda: xp.squeeze(xp.zeros((2, 1)), 0), ValueError, "squeeze: "),
    (lambda: xp.max(xp.zeros(0)), ValueError, "max: "),
    (lambda: xp.vecdot(xp.zeros(2), xp.zeros(3)), ValueError, "vecdot: sizes along axis must be e"),
    (lambda: xp.matmul(xp.zeros((2, 3)), xp.zeros((2, 3))), ValueError, "matmul: "),
    (lambda: xp.matmul(xp.zeros((2, 3), dtype="int8"), xp.zeros((2, 3), dtype="int8")), ValueError,
     "matmul: "),
    (lambda: xp.tensordot(xp.zeros((2, 3)), xp.zeros((3, 2))), ValueError, "tensordot: sizes of c"),
    (lambda: xp.reshape(xp.zeros((2, 3)).mT, (6,), copy=False), ValueError, "reshape: copy must"),
    (lambda: xp.searchsorted(xp.zeros(2), xp.zeros(2), side="up"), ValueError, "searchsorted: "),
    (lambda: xp.astype(xp.asarray(1j), xp.float32), ValueError, "cast: x must be real where dt"),
    (lambda: xp.meshgrid(xp.zeros(2), indexing="yx"), ValueError, "meshgrid: indexing must be one"),
    (lambda: xp.broadcast_arrays(xp.zeros(2), xp.zeros(3)), ValueError, "logical_or: "),
    (lambda: xp.take(xp.zeros(2), xp.asarray([5])).numpy(), IndexError, "index_get: "),
    (lambda: xp.sin([1.0]), TypeError, "sin: arguments must be as its documentation says"),
    (lambda: xp.linalg.cross(xp.zeros(2), xp.zeros(2)), ValueError, "cross: vectors must"),
    (lambda: xp.linalg.qr(xp.zeros((2, 2)), mode="raw"), ValueError, 'qr: mode must be '),
    (lambda: xp.linalg.matrix_norm(xp.zeros((2, 2)), ord=3), ValueError, "matrix_norm: ord "),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number):
    call, error, message = REFUSED[number]
    with pytest.raises(error, match=message) as caught:
        call()
    assert ", got " in str(caught.value)


def test_operators_that_have_a_meaning_of_their_own():
    x, z = xp.asarray([2, 3]), xp.asarray([1j, 2.0])
    assert (x**2).dtype == "float32" and xp.pow(x, 2).dtype == "int32"
    assert xp.pow(z, 2).dtype == "complex64" and xp.matmul(x, x).item() == 13
    assert (z**2).dtype == "complex64"
    with pytest.raises(TypeError, match=r"matmul: .* must be .*, got"):
        x @ x


def test_a_nan_has_a_sign():
    x = xp.asarray(np.copysign(np.nan, [-1.0, 1.0]))
    assert xp.signbit(x).tolist() == [True, False]
    assert xp.copysign(2.0, x).tolist() == [-2.0, 2.0]
