"""Fourier transforms."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import Row, moving

_fft = F.fft


def _along(name):
    function = getattr(_fft, name)

    def call(x, n=None, dim=-1, norm=None):
        return function(x, n, dim, norm or "backward")

    return call


def _along_axes(name, default):
    function = getattr(_fft, name)

    def call(x, s=None, dim=default, norm=None):
        axes = [dim] if isinstance(dim, int) else dim
        sizes = [s] if isinstance(s, int) else s
        return function(x, sizes, axes, norm or "backward")

    return call


def _shift(name):
    function = getattr(_fft, name)

    def call(x, dim=None):
        return function(x, [dim] if isinstance(dim, int) else dim)

    return call


_CALLS = {
    **{name: _along(name) for name in ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")},
    **{name: _along_axes(name, (-2, -1)) for name in ("fft2", "ifft2", "irfft2", "rfft2")},
    **{name: _along_axes(name, None) for name in ("fftn", "ifftn", "irfftn", "rfftn")},
}
ROWS = {
    f"fft.{name}": Row(call, terms=16, gradient_terms=32) for name, call in _CALLS.items()
} | moving({f"fft.{name}": _shift(name) for name in ("fftshift", "ifftshift")})
