"""Discrete Fourier transforms, with the names and meanings of the array API 2024.12.

Real input of the complex transforms becomes complex64, float64 becomes complex128; transforms of
real numbers compute float16 and bfloat16 in float32. `norm` says which direction is divided by the
number n of elements: "backward" the inverse one, "forward" the other, "ortho" both by sqrt(n).
"""

from .._core import ops as _ops
from .creation import arange as _arange
from .generated import check_choice, export

_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _opposite(name, norm):
    check_choice(name, "norm", norm, tuple(_OPPOSITE))
    return _OPPOSITE[norm]


def _as_complex(x):
    if x.dtype in ("complex64", "complex128"):
        return x
    return _ops.astype(x, "complex128" if x.dtype == "float64" else "complex64")


def _as_float(x):
    is_float = x.dtype in ("float16", "bfloat16", "float32", "float64")
    return x if is_float else _ops.astype(x, "float32")


def _resized(name, x, n, axis):
    """x with n elements along axis: cut off, or with zeros behind; None: as it is."""
    if n is None:
        return x
    if isinstance(n, int) and n < 1:
        raise ValueError(f"{name}: n must be at least 1, got {n}")
    if isinstance(n, int) and isinstance(x.shape[axis], int) and x.shape[axis] == n:
        return x
    high = [0] * x.ndim
    high[axis] = n - x.shape[axis]
    return _ops.pad(x, [0] * x.ndim, high)


def _axes(name, x, s, axes):
    """The sizes (None: as they are) and axes of a transform of several axes."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = tuple(axes)
    sizes = (None,) * len(axes) if s is None else tuple(s)
    if not axes or len(sizes) != len(axes):
        raise ValueError(f"{name}: s must have a size for each of axes, got {s} and {axes}")
    if len({axis % max(x.ndim, 1) for axis in axes}) != len(axes):
        raise ValueError(f"{name}: axes must be distinct, got {axes}")
    return sizes, axes


def _along(name, x, pairs, norm, inverse):
    for n, axis in pairs:
        x = _ops.fft_c2c(_resized(name, _as_complex(x), n, axis), axis, norm, inverse)
    return x


def fft(x, n=None, axis=-1, norm="backward"):
    """The transform along one axis: `out[k] = sum(x[j] * exp(-2 pi i j k / n))`.

    Args:
        x: number[*D]
        n: size of axis in the result; x is cut off or gets zeros; None: that of x
        axis: the axis to transform
        norm: "backward", "ortho" or "forward"

    Returns:
        complex[*D], axis of size n

    Raises:
        ValueError: an empty axis, an axis out of range, another norm

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.real(F.fft.fft(ts.tensor([1.0, 2.0, 3.0, 4.0]))).tolist()
    [10.0, -2.0, -2.0, -2.0]
    """
    return _along("fft", x, [(n, axis)], norm, False)


def ifft(x, n=None, axis=-1, norm="backward"):
    """The inverse of `fft`, with its arguments and errors."""
    return _along("ifft", x, [(n, axis)], norm, True)


def fftn(x, s=None, axes=None, norm="backward"):
    """`fft` along each of axes, as complex[*D].

    Args:
        x: number[*D]
        s: sizes of the axes in the result; None: those of x
        axes: None: all, or the last ones where s is given

    Raises:
        ValueError: axes that repeat or are not as many as s, and what fft raises
    """
    return _along("fftn", x, zip(*_axes("fftn", x, s, axes), strict=True), norm, False)


def ifftn(x, s=None, axes=None, norm="backward"):
    """The inverse of `fftn`, with its arguments and errors."""
    return _along("ifftn", x, zip(*_axes("ifftn", x, s, axes), strict=True), norm, True)


def rfft(x, n=None, axis=-1, norm="backward"):
    """The first `n // 2 + 1` elements of `fft` of real numbers; the others are their conjugates.

    Args, errors: those of fft, x being float[*D] or integers.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.imag(F.fft.rfft(ts.tensor([1.0, 2.0, 3.0, 4.0]))).tolist()
    [0.0, 2.0, 0.0]
    """
    return _ops.fft_r2c(_resized("rfft", _as_float(x), n, axis), axis, norm)


def irfft(x, n=None, axis=-1, norm="backward"):
    """The inverse of `rfft`: float[*D], axis of size n; None: `2 * (x.shape[axis] - 1)`.

    Args, errors: those of fft, x being complex[*D].
    """
    if n is None:
        n = 2 * (x.shape[axis] - 1)
    x = _resized("irfft", _as_complex(x), n // 2 + 1, axis)
    return _ops.fft_c2r(x, n, axis, norm)


def rfftn(x, s=None, axes=None, norm="backward"):
    """`rfft` along the last of axes, then `fft` along the others; errors are those of both."""
    sizes, axes = _axes("rfftn", x, s, axes)
    x = rfft(x, sizes[-1], axes[-1], norm)
    return _along("rfftn", x, zip(sizes[:-1], axes[:-1], strict=True), norm, False)


def irfftn(x, s=None, axes=None, norm="backward"):
    """The inverse of `rfftn`, with the arguments and errors of `fftn`; the last size is irfft's."""
    sizes, axes = _axes("irfftn", x, s, axes)
    x = _along("irfftn", x, zip(sizes[:-1], axes[:-1], strict=True), norm, True)
    return irfft(x, sizes[-1], axes[-1], norm)


def fft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`fftn` along two axes."""
    return fftn(x, s, axes, norm)


def ifft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`ifftn` along two axes."""
    return ifftn(x, s, axes, norm)


def rfft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`rfftn` along two axes."""
    return rfftn(x, s, axes, norm)


def irfft2(x, s=None, axes=(-2, -1), norm="backward"):
    """`irfftn` along two axes."""
    return irfftn(x, s, axes, norm)


def hfft(x, n=None, axis=-1, norm="backward"):
    """The real transform of what is its own conjugate backwards, of which x is the first half.

    Args, errors: those of irfft; float[*D], axis of size n; None: `2 * (x.shape[axis] - 1)`.
    """
    return irfft(_ops.conj(_as_complex(x)), n, axis, _opposite("hfft", norm))


def ihfft(x, n=None, axis=-1, norm="backward"):
    """The inverse of `hfft`, with the arguments and errors of `rfft`."""
    return _ops.conj(rfft(x, n, axis, _opposite("ihfft", norm)))


def fftfreq(n, d=1.0, dtype="float32", device=None):
    """The frequencies that the elements of `fft` stand for: `[0, 1, ..., -2, -1] / (n * d)`.

    Args:
        n: number of elements, at least 1
        d: distance of samples
        dtype: of the float[n] that is returned
        device: where it is
    """
    index = _arange(n, dtype=dtype, device=device)
    return _ops.where(index < (n + 1) // 2, index, index - n) / (n * d)


def rfftfreq(n, d=1.0, dtype="float32", device=None):
    """The frequencies of the elements of `rfft`: `[0, 1, ..., n // 2] / (n * d)`."""
    return _arange(n // 2 + 1, dtype=dtype, device=device) / (n * d)


def fftshift(x, axes=None):
    """x with its first half behind its second one along axes (None: all), as any[*D]."""
    return _shifted(x, axes, lambda size: size // 2)


def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shifted(x, axes, lambda size: -(size // 2))


def _shifted(x, axes, distance):
    axes = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in axes:
        x = _ops.roll(x, distance(x.shape[axis]), axis)
    return x


export(globals())
