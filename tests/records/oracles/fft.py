"""Oracles of Fourier transforms: SciPy's, which keep single precision."""

import scipy.fft


def fft_c2c(x, axis, norm, inverse):
    """The transform of complex numbers along one axis, or its inverse."""
    return (scipy.fft.ifft if inverse else scipy.fft.fft)(x, axis=axis, norm=norm)


def fft_r2c(x, axis, norm):
    """The first half of the transform of real numbers."""
    return scipy.fft.rfft(x, axis=axis, norm=norm)


def fft_c2r(x, length, axis, norm):
    """The real numbers whose transform has this first half."""
    return scipy.fft.irfft(x, n=length, axis=axis, norm=norm)
