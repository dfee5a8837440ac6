"""Every dtype in every mode, and what is particular to unsigned integers, float8 and complex."""

import io
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, jit
from tessera.autodiff import GradManager

from tests.support.helper import bits, loaded, same_bits

# Of few bits none has a zero: tests of their own tell of them.
ALL = [name for name in _core.dtype_table().values() if not name.startswith("intb")]
TESS_RUN = Path("tools/tess-run").absolute()  # of the runfiles, where tests start
UNSIGNED = ("uint16", "uint32", "uint64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
COMPLEX = ("complex64", "complex128")
FOREIGN = {"bfloat16": np.uint16, "float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if name in FOREIGN else name)


def numbers(name, *shape, seed=0):
    """Numbers that every dtype but bool has exactly, complex where it is."""
    random = np.random.RandomState(seed)
    whole = random.randint(0, 8, shape)
    if name in COMPLEX:
        return (whole + 1j * random.randint(-4, 4, shape)).astype(name)
    return whole.astype(numpy_dtype(name))


def moved(x):
    """What only moves elements, through views, kernels and the loops of the runtime."""
    turned = F.concat([F.transpose(x, (1, 0))[::-1], F.zeros((1, x.shape[0]), dtype=x.dtype)], 0)
    picked = turned[np.array([0, 2, -1])]
    return F.where(picked == picked if x.dtype.name not in FLOAT8 else picked.astype("bool"),
                   picked, F.copy(picked)), F.repeat(x, 2, 1), F.roll(x, 1, 0)  # fmt: skip


def by_tool(path, arrays, outputs, folder):
    """The results of tess-run, as the bits that its files have."""
    command = [TESS_RUN, path]
    for name, array in arrays.items():
        stored = FOREIGN.get(array.dtype.name)
        np.save(folder / f"{name}.npy", array.view(stored) if stored else array)
        command += ["--input", f"{name}={folder / name}.npy"]
    for name in outputs:
        command += ["--output", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / f"{name}.npy") for name in outputs]


@pytest.mark.parametrize("name", ALL)
def test_every_dtype_moves_alike_in_every_mode(name, tmp_path):
    array = numbers(name, 3, 4)
    x = tessera.Tensor(array, dtype=name)
    eager = moved(x)
    traced = jit.trace(moved, capture_as_const=True)
    assert same_bits(traced(x), eager) and same_bits(traced(x), eager)
    assert same_bits(loaded(traced, 1)(x), eager)
    path = str(tmp_path / "f.tess")
    traced.dump(path, arg_names=["x0"], output_names=["a", "b", "c"])
    for got, want in zip(by_tool(path, {"x0": array}, "abc", tmp_path), eager, strict=True):
        assert got.tobytes() == want.numpy().tobytes()
        assert got.dtype == FOREIGN.get(name, want.dtype)


@pytest.mark.parametrize("name", ALL)
def test_every_dtype_goes_to_numpy_dlpack_and_files(name):
    array = numbers(name, 2, 3)
    x = tessera.Tensor(array, dtype=name)
    assert x.dtype == numpy_dtype(name) and x.dtype == name
    assert x.numpy().dtype == array.dtype and x.numpy().tobytes() == array.tobytes()
    assert x[1, 2].item() == array[1, 2].item() and f"dtype={name}" in repr(x)
    again = tessera.Tensor._from_dlpack(x)
    assert again.dtype == name and same_bits(again, x)
    file = io.BytesIO()
    tessera.save({"x": x, "array": array}, file)
    file.seek(0)
    back = tessera.load(file)
    assert back["x"].dtype == name and same_bits(back["x"], x)
    assert back["array"].dtype == array.dtype and back["array"].tobytes() == array.tobytes()


@pytest.mark.parametrize("name", [d for d in ALL if d not in FOREIGN])
def test_numpy_reads_the_memory_of_every_dtype_that_it_has(name):
    x = tessera.Tensor(numbers(name, 5), dtype=name)
    assert np.from_dlpack(x).dtype == name and same_bits(np.from_dlpack(x), x)


# Unsigned integers.


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_reach_their_ends(name):
    info = np.iinfo(name)
    x = tessera.Tensor([0, 1, info.max], dtype=name)
    assert x.tolist() == [0, 1, info.max] and x[2].item() == info.max
    assert (x + 1).tolist() == [1, 2, 0] and (x - 1).tolist() == [info.max, 0, info.max - 1]
    assert (-x).tolist() == [0, info.max, 1] and (~x).tolist() == [info.max, info.max - 1, 0]
    assert (x > 1).tolist() == [False, False, True] and x.max().item() == info.max
    assert (x // 2).tolist() == [0, 0, info.max // 2] and (x % 10).tolist()[2] == info.max % 10
    assert (x >> 1).tolist() == [0, 0, info.max >> 1]
    assert F.argmax(x).item() == 2 and F.sort(x, descending=True)[0].tolist() == [info.max, 1, 0]
    assert x.astype("float64").tolist() == [0, 1, float(info.max)]
    assert tessera.Tensor([-1.0, 2.9, 1e30, np.nan]).astype(name).tolist() == [0, 2, info.max, 0]
    with pytest.raises(IndexError, match=f"add: a number must fit its dtype u{info.bits}, got -1"):
        x + -1


def test_uint64_holds_what_no_int64_holds():
    x = tessera.Tensor(2**63 + 5, dtype="uint64")
    assert x.item() == 2**63 + 5 and (x // 3).item() == (2**63 + 5) // 3
    assert np.array(x) == np.uint64(2**63 + 5) and int(x) == 2**63 + 5
    with pytest.raises(ValueError, match="tensor: an int must fit its dtype"):
        tessera.Tensor(2**64, dtype="uint64")


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**40])
def test_int64_that_no_int32_holds_needs_a_dtype(number):
    array = np.array([1, number])
    x = tessera.Tensor([1, 2, 3])
    for call in (
        lambda: tessera.tensor([1, number]),
        lambda: tessera.tensor(array),
        lambda: tessera.Parameter(array),
        lambda: x[:2] + array,
        lambda: x[array],
    ):
        with pytest.raises(
            ValueError, match=f"tensor: an int must fit its dtype.*got int {number}"
        ):
            call()
    assert tessera.tensor(array, dtype="int64").tolist() == [1, number]
    assert tessera.tensor(np.array([2**31 - 1, -(2**31)])).tolist() == [2**31 - 1, -(2**31)]


def test_uint64_and_a_signed_integer_have_no_common_dtype():
    x, y = tessera.Tensor([1], dtype="uint64"), tessera.Tensor([2], dtype="int64")
    for call in (lambda: x + y, lambda: F.concat([y, x]), lambda: F.where(x > 0, x, y)):
        with pytest.raises(TypeError, match="must have a common dtype, got (u64 and i64|i64 and)"):
            call()
    assert (x + 1).dtype == "uint64" and (x + y.astype("uint64")).tolist() == [3]


def test_unsigned_integers_index():
    x = tessera.Tensor([10, 20, 30])
    for name in ("uint8", *UNSIGNED):
        assert x[tessera.Tensor([2, 0], dtype=name)].tolist() == [30, 10]


# float8.


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_is_read_and_written_as_ml_dtypes_does(name):
    patterns = np.arange(256, dtype=np.uint8).view(numpy_dtype(name))
    x = tessera.Tensor(patterns, dtype=name)
    wide = patterns.astype(np.float32)
    assert same_bits(x.astype("float32"), wide) and same_bits(x.astype("float32").astype(name), x)
    assert np.array_equal([each.item() for each in x], wide, equal_nan=True)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    around = np.concatenate([np.nextafter(wide, np.float32(way)) for way in (np.inf, -np.inf)])
    ends = np.float32([448, 464, np.nextafter(np.float32(464), np.float32(500)), 480, 57344, 61439,
                       61440, 65536, 1e30, np.inf, 2**-10, 2**-17, 1e-40])  # fmt: skip
    for array in (halves, np.concatenate([around, ends, -ends])):
        want = array.astype(numpy_dtype(name))
        assert same_bits(tessera.Tensor(array, dtype=array.dtype.name).astype(name), want)


@pytest.mark.parametrize("name", FLOAT8)
def test_a_float64_becomes_float8_by_one_rounding(name):
    tie = 1.0625 if name == "float8_e4m3fn" else 1.125
    array = np.array([tie, tie + 1e-12, tie - 1e-12])
    step = 0.125 if name == "float8_e4m3fn" else 0.25
    x = tessera.Tensor(array, dtype="float64").astype(name)
    assert x.astype("float32").tolist() == [1, 1 + step, 1]
    assert same_bits(tessera.Tensor(array, dtype=name), x)


@pytest.mark.parametrize("name", FLOAT8)
def test_nothing_computes_with_float8(name):
    x, short = (
        tessera.Tensor([1.0, 2.0], dtype=name),
        {"float8_e4m3fn": "f8e4m3fn"}.get(name, "f8e5m2"),
    )
    for call, operator, kind in (
        (lambda: x + x, "add", "a number or complex"),
        (lambda: x * 2, "mul", "a number or complex"),
        (lambda: F.exp(x), "exp", "a float or complex"),
        (lambda: x < x, "less", "a number or bool"),
        (lambda: x.sum(), "sum", "a number, bool or complex"),
        (lambda: F.matmul(x, x), "matmul", "a float or complex"),
    ):
        with pytest.raises(TypeError, match=rf"{operator}: .* must be {kind}, got {short}\["):
            call()
    with pytest.raises(TypeError, match=f"add: operands must have a common dtype, got {short} and"):
        x + tessera.Tensor([1.0])
    assert x.astype("float32").tolist() == [1.0, 2.0]  # nothing is lost


# Complex numbers.


def complexes(*shape, seed=0, name="complex64"):
    random = np.random.RandomState(seed)
    return (random.uniform(-2, 2, shape) + 1j * random.uniform(-2, 2, shape)).astype(name)


FORMULAS = {
    "add": (lambda x, y: x + y, lambda x, y: x + y),
    "sub": (lambda x, y: x - y, lambda x, y: x - y),
    "mul": (lambda x, y: x * y, lambda x, y: x * y),
    "div": (lambda x, y: x / y, lambda x, y: x / y),
    "neg": (lambda x, y: -x * y, lambda x, y: -x * y),
    "square": (lambda x, y: F.square(x) + y, lambda x, y: x * x + y),
    "exp": (lambda x, y: F.exp(x) * y, lambda x, y: np.exp(x) * y),
    "abs": (lambda x, y: F.abs(x) * y, lambda x, y: np.abs(x) * y),
    "conj": (lambda x, y: F.conj(x) * y, lambda x, y: np.conj(x) * y),
    "angle": (lambda x, y: F.angle(x) * y, lambda x, y: np.angle(x) * y),
    "parts": (lambda x, y: F.real(x) * y + F.imag(x), lambda x, y: x.real * y + x.imag),
    "complex": (lambda x, y: F.complex(F.imag(x), F.real(y)), lambda x, y: x.imag + 1j * y.real),
    "polar": (
        lambda x, y: F.polar(F.abs(x), F.real(y)) * x,
        lambda x, y: np.abs(x) * np.exp(1j * y.real) * x,
    ),
    "matmul": (lambda x, y: F.matmul(x, y), lambda x, y: x @ y),
    "sum": (lambda x, y: (x * y).sum(0), lambda x, y: (x * y).sum(0)),
    "mean": (lambda x, y: (x * y).mean(1), lambda x, y: (x * y).mean(1)),
    "number": (lambda x, y: (x * 1j + (2 - 3j)) / y, lambda x, y: (x * 1j + (2 - 3j)) / y),
    "index": (lambda x, y: x[np.array([2, 0, 2])] * y, lambda x, y: x[[2, 0, 2]] * y),
    "broadcast": (lambda x, y: x[0] * y[:, :1], lambda x, y: x[0] * y[:, :1]),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("formula", FORMULAS)
def test_complex_formulas(formula, name, tmp_path):
    ours, numpys = FORMULAS[formula]
    arrays = complexes(3, 3, name=name), complexes(3, 3, seed=1, name=name)
    x, y = (tessera.Tensor(each, dtype=name) for each in arrays)
    eager = ours(x, y)
    want = numpys(*(each.astype(np.complex128) for each in arrays))
    limit = 1e-5 if name == "complex64" else 1e-13
    assert eager.dtype == np.result_type(name if np.iscomplexobj(want) else "float32", eager.dtype)
    np.testing.assert_allclose(eager.numpy(), want, rtol=limit, atol=limit)
    traced = jit.trace(ours, capture_as_const=True)
    assert same_bits(traced(x, y), eager) and same_bits(traced(x, y), eager)
    assert same_bits(loaded(traced, 2)(x, y), eager)
    path = str(tmp_path / "f.tess")
    traced.dump(path, arg_names=["x0", "x1"], output_names=["a"])
    (got,) = by_tool(path, dict(zip(("x0", "x1"), arrays, strict=True)), "a", tmp_path)
    assert bits(got) == bits(eager)


def gradients(function, arrays):
    """Of the sum of |function|^2, by backward."""
    tensors = [tessera.Parameter(each, dtype=each.dtype.name) for each in arrays]
    with GradManager().attach(tensors) as manager:
        manager.backward(loss_of(function(*tensors)))
    return [each.grad for each in tensors]


def loss_of(value):
    return F.square(F.real(value)).sum() + F.square(F.imag(value)).sum()


def differences(function, arrays, number, step=1e-6):
    """dL/da + i dL/db of each element a + b i, by central differences."""
    result = np.zeros(arrays[number].shape, np.complex128)
    for index in np.ndindex(result.shape):
        for way in (1, 1j):
            moved = [each.copy() for each in arrays]
            values = []
            for sign in (1, -1):
                moved[number][index] = arrays[number][index] + sign * step * way
                values.append((np.abs(function(*moved)) ** 2).sum())
            result[index] += way * (values[0] - values[1]) / (2 * step)
    return result


@pytest.mark.parametrize("formula", FORMULAS)
def test_complex_gradients(formula):
    ours, numpys = FORMULAS[formula]
    arrays = complexes(3, 3, name="complex128"), complexes(3, 3, seed=1, name="complex128")
    for number, grad in enumerate(gradients(ours, arrays)):
        want = differences(numpys, arrays, number)
        assert grad.dtype == "complex128"
        np.testing.assert_allclose(grad.numpy(), want, rtol=1e-6, atol=1e-6)


def test_a_real_operand_gets_a_real_gradient():
    real, whole = np.array([0.5, -1.5, 2.0], np.float32), complexes(3)
    x, z = tessera.Parameter(real), tessera.Parameter(whole, dtype="complex64")
    with GradManager().attach([x, z]) as manager:
        manager.backward(loss_of(x * z + x))
    assert x.grad.dtype == "float32" and z.grad.dtype == "complex64"
    np.testing.assert_allclose(x.grad.numpy(), 2 * real * np.abs(whole + 1) ** 2, rtol=1e-5)
    np.testing.assert_allclose(z.grad.numpy(), 2 * real**2 * (whole + 1), rtol=1e-5)


def test_complex_promotion():
    f, d = tessera.Tensor([1.0]), tessera.Tensor([1.0], dtype="float64")
    z, half = tessera.Tensor([1j]), f.astype("float16")
    assert z.dtype == "complex64" and tessera.asarray(np.zeros(1, complex)).dtype == "complex128"
    assert (f + z).dtype == "complex64" and (d + z).dtype == "complex128"
    assert (f * 1j).dtype == "complex64" and (d * 0.1j).dtype == "complex128"
    assert (d * 0.1j).numpy()[0] == 0.1j and (half * 1j).dtype == "complex64"
    assert (tessera.Tensor([1]) + z).dtype == "complex64" and (z * 2.5).dtype == "complex64"
    assert F.abs(z).dtype == "float32" and (z == z).dtype == "bool"
    assert F.complex(half, half).dtype == "complex64" and F.complex(d, f).dtype == "complex128"
    assert f.astype("complex64").numpy()[0] == 1 and z.astype("bool").tolist() == [True]


def test_complex_numbers_at_the_edges():
    huge = tessera.Tensor([3e38 + 0j, 3e38 + 3e38j, 0, 1e-30 + 1e-30j, complex(np.inf, 1)])
    sizes = F.abs(huge).numpy()
    np.testing.assert_allclose(sizes[[0, 3]], [3e38, 2**0.5 * 1e-30], rtol=1e-6)
    assert sizes[1] == np.inf and sizes[2] == 0 and sizes[4] == np.inf
    np.testing.assert_allclose((huge[:2] / huge[:2]).numpy(), [1, 1], rtol=1e-6)
    x = tessera.Parameter(np.array([0j, 3 + 4j], np.complex64), dtype="complex64")
    with GradManager().attach([x]) as manager:
        manager.backward(F.abs(x).sum())
    np.testing.assert_allclose(x.grad.numpy(), [0, 0.6 + 0.8j], rtol=1e-6)
    z = tessera.Tensor([1 + 2j, 1 + 2j, 1 - 2j])
    assert (z == z[0]).tolist() == [True, True, False] and (z != 1).tolist() == [True] * 3
    assert F.non_zero(tessera.Tensor([0j, 1j])).tolist() == [[1]]


def test_complex_numbers_are_refused_where_only_real_ones_go():
    z = tessera.Tensor([1 + 2j])
    for call, message in (
        (lambda: F.sin(z), r"sin: x must be a float, got c64\[1\]"),
        (lambda: z < z, r"less: x must be a number or bool, got c64\[1\]"),
        (lambda: F.sort(z), r"argsort: x must be a number, got c64\[1\]"),
        (lambda: z.max(), r"max: x must be a number or bool, got c64\[1\]"),
        (
            lambda: tessera.Tensor(1j, dtype="float32"),
            "complex number must have a complex dtype, got",
        ),
        (
            lambda: tessera.Tensor(np.array([1j]), dtype="float32"),
            "complex data must have a complex",
        ),
        (lambda: F.arange(3, dtype="complex64"), "arange: dtype must be a number, got c64"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match=r"cast: x must be real where .*, got x c64\[1\]"):
        z.astype("float32")
    with pytest.raises(TypeError):
        float(z)
    refused = pytest.raises(ValueError, match=r"backward: y must be real where no dy is given, got")
    with GradManager().attach([z]) as manager, refused:
        manager.backward(z * 2)
    assert z.numpy()[0] == 1 + 2j  # nothing is lost
