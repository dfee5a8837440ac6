"""Fourier transforms: SciPy's results, sizes, gradients; no batch or thread changes a bit."""

import numpy as np
import pytest
import scipy.fft
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit, tensor
from tessera.autodiff import grad

from tests.support.helper import num_threads, same_bits

RANDOM = np.random.RandomState(0)
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
NORMS = ("backward", "ortho", "forward")
EPSILON = {"float32": 1.2e-7, "float64": 2.3e-16}


def values(name, dtype, *shape):
    """Random input of a transform: complex, but for those of real numbers."""
    x = RANDOM.standard_normal(shape)
    if not name.startswith(("rfft", "ihfft")):
        x = x + 1j * RANDOM.standard_normal(shape)
    return x.astype({"float32": "complex64", "float64": "complex128"}[dtype]) if np.iscomplexobj(
        x
    ) else x.astype(dtype)  # fmt: skip


def compare(name, x, dtype, **options):
    """One call beside SciPy's in float64."""
    wide = x.astype("complex128" if np.iscomplexobj(x) else "float64")
    want = getattr(scipy.fft, name)(wide, **options)
    got = getattr(F.fft, name)(Tensor(x, dtype=x.dtype.name), **options)
    assert got.dtype == ("complex" if np.iscomplexobj(want) else "float") + (
        {"float32": "64", "float64": "128"}[dtype] if np.iscomplexobj(want) else dtype[5:]
    )
    assert got.shape == want.shape
    limit = 8 * EPSILON[dtype] * np.linalg.norm(want) * (1 + np.log2(x.size))
    np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=limit)


@pytest.mark.parametrize("dtype", EPSILON)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 11, 13, 30, 64, 101, 211, 360, 1009, 1024])
def test_one_axis(name, norm, dtype, size):
    compare(name, values(name, dtype, 3, size), dtype, norm=norm)
    compare(name, values(name, dtype, 2, size, 3), dtype, norm=norm, axis=1)
    for n in (max(1, size - 2), size + 3):
        compare(name, values(name, dtype, size), dtype, norm=norm, n=n)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", MANY)
def test_several_axes(name, norm):
    x = values(name, "float64", 4, 6, 5)
    compare(name, x, "float64", norm=norm)
    compare(name, x, "float64", norm=norm, axes=(0, 2))
    compare(name, x, "float64", norm=norm, s=(3, 8), axes=(-1, 0))
    if name.endswith("n"):
        compare(name, x, "float64", norm=norm, s=(4, 4))


def test_real_numbers_and_integers_become_complex():
    x = np.arange(6)
    for dtype, want in (
        ("int32", "complex64"),
        ("float16", "complex64"),
        ("float64", "complex128"),
    ):
        found = F.fft.fft(Tensor(x, dtype=dtype))
        assert found.dtype == want
        np.testing.assert_allclose(found.numpy(), np.fft.fft(x), rtol=1e-5, atol=1e-5)
    assert F.fft.rfft(Tensor(x, dtype="int32")).dtype == "complex64"


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_frequencies_and_shifts(n):
    np.testing.assert_allclose(F.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5), rtol=1e-6)
    np.testing.assert_allclose(F.fft.rfftfreq(n, 0.5).numpy(), np.fft.rfftfreq(n, 0.5), rtol=1e-6)
    x = RANDOM.standard_normal((n, 3)).astype("float32")
    for axes in (None, 0, (1,), (0, 1)):
        for name in ("fftshift", "ifftshift"):
            want = getattr(np.fft, name)(x, axes)
            np.testing.assert_array_equal(getattr(F.fft, name)(tensor(x), axes).numpy(), want)


@pytest.mark.parametrize("size", [1, 8, 13, 101, 1536])
def test_batches_and_threads_change_no_bit(size):
    x = tensor(RANDOM.standard_normal((53, size)).astype("float32"))

    def function(x):
        half = F.fft.rfft(x)
        return [half, F.fft.fft(x), F.fft.irfft(half, n=size)]

    results = []
    for count in (1, 2, 3):
        with num_threads(count):
            results.append(function(x))
    assert same_bits(results[0], results[1]) and same_bits(results[0], results[2])
    for i in (0, 5, 52):
        assert same_bits(function(x[i : i + 1]), [part[i : i + 1] for part in results[0]])
    columns = F.fft.fft(F.swapaxes(x, 0, 1), axis=0)
    assert same_bits(F.swapaxes(columns, 0, 1), results[0][1])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 4, 5])
def test_gradients(norm, n):
    """By differences, of what is linear: a step of 1 has no rounding that counts."""
    weights = RANDOM.standard_normal((2, n))
    x = RANDOM.standard_normal((2, n))

    def loss(x):
        half = F.fft.rfft(x, norm=norm)
        back = F.fft.irfft(half * (1 + 2j), n=n, norm=norm)
        whole = F.real(F.fft.ifft(F.fft.fft(x, norm=norm) * 1j, axis=0, norm=norm))
        return ((back + F.imag(F.fft.fft(x)) + whole) * Tensor(weights, dtype="float64")).sum()

    found = grad(loss)(Tensor(x, dtype="float64")).numpy()
    at = loss(Tensor(x, dtype="float64")).item()
    for place in np.ndindex(x.shape):
        moved = x.copy()
        moved[place] += 1
        difference = loss(Tensor(moved, dtype="float64")).item() - at
        np.testing.assert_allclose(found[place], difference, rtol=1e-9, atol=1e-9)


def test_free_sizes_are_traced_and_dumped(tmp_path):
    def function(x):
        half = F.fft.rfft(x)
        return F.fft.irfft(half * half, n=x.shape[-1]), grad(lambda x: F.real(half).sum())(x)

    traced = jit.trace(function, capture_as_const=True)
    for size in (6, 9, 12):
        x = tensor(RANDOM.standard_normal((2, size)).astype("float32"))
        assert same_bits(traced(x), function(x))
    traced.dump(tmp_path / "fft.tess", arg_names=["x"], dims={"x": {1: jit.Dim("n", 2, 64)}})
    loaded = jit.load(tmp_path / "fft.tess")
    x = tensor(RANDOM.standard_normal((2, 15)).astype("float32"))
    assert same_bits(list(loaded(x)), list(function(x)))


REFUSED = {
    "empty": (
        lambda: F.fft.fft(F.zeros((2, 0))),
        "fft_c2c: the transformed axis must not be empty",
    ),
    "n": (lambda: F.fft.rfft(F.zeros(4), n=0), "rfft: n must be at least 1, got 0"),
    "norm": (lambda: F.fft.fft(F.zeros(4), norm="both"), "fft_c2c: norm must be"),
    "hfft": (lambda: F.fft.hfft(F.zeros(4), norm="both"), "hfft: norm must be one of"),
    "axes": (lambda: F.fft.fftn(F.zeros((2, 2)), axes=(0, -2)), "fftn: axes must be distinct"),
    "sizes": (
        lambda: F.fft.fftn(F.zeros((2, 2)), s=(2,), axes=(0, 1)),
        "fftn: s must have a size for each of axes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()
