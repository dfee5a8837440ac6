"""Calls of Fourier transforms, as calls.py."""

from tests.frontends.python.array_api.calls import COMPLEX, REALS, Call, values

NORMS = ("backward", "ortho", "forward")


def along_one_axis(name, dtype):
    x = values(dtype, 2, 6, 5)
    for norm in NORMS:
        yield Call(f"fft.{name}", (x,), {"norm": norm})
    for axis, n in ((1, None), (0, 3), (-1, 8), (-1, 2)):
        yield Call(f"fft.{name}", (x,), {"axis": axis, "n": n})


def along_several_axes(name, dtype):
    x = values(dtype, 3, 4, 5)
    for norm in NORMS:
        yield Call(f"fft.{name}", (x,), {"norm": norm})
    yield Call(f"fft.{name}", (x,), {"axes": (0, 2)})
    yield Call(f"fft.{name}", (x,), {"axes": (-1, 0), "s": (6, 2)})


def transforms():
    for dtype in COMPLEX:
        for name in ("fft", "ifft", "irfft", "hfft"):
            yield from along_one_axis(name, dtype)
        for name in ("fftn", "ifftn", "irfftn"):
            yield from along_several_axes(name, dtype)
    for dtype in REALS:
        for name in ("rfft", "ihfft"):
            yield from along_one_axis(name, dtype)
        yield from along_several_axes("rfftn", dtype)
    for dtype in REALS + COMPLEX:
        for name in ("fftshift", "ifftshift"):
            for axes in (None, 1, (0, 2)):
                yield Call(f"fft.{name}", (values(dtype, 3, 4, 5),), {"axes": axes})
    for n in (1, 4, 7):
        for name in ("fftfreq", "rfftfreq"):
            yield Call(f"fft.{name}", (n,), {"d": 0.5})
