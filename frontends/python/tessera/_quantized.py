"""Quantized dtypes: integers q that stand for (q - zero_point) * scale.

Of `scale` and `zero_point` there is one each, or one for each index along `axis`, the channels.
Scales are float32. The dtypes and their names are MegEngine's, which has no `axis`.
"""

import numpy as np

from . import _core
from ._foreign_dtypes import as_dtype


def _dtype(kind, scale, zero_point, axis):
    scales, zero_points = np.atleast_1d(scale), np.atleast_1d(zero_point)
    if zero_points.dtype.kind not in "iu":
        raise ValueError(f"{kind}: zero_point must be an integer, got {zero_point!r}")
    if axis is not None:
        zero_points = np.broadcast_to(zero_points, scales.shape)
    return _core.quantized_dtype(
        kind, scales.tolist(), zero_points.tolist(), -1 if axis is None else axis
    )


def _symmetric(kind, low, high):
    def _make(scale, axis=None):
        return _dtype(kind, scale, 0, axis)

    _make.__doc__ = f"""The dtype of integers in [{low}, {high}]: `q * scale` is meant.

    Args:
        scale: a number above 0, or a list of one for each index along `axis`
        axis: the axis of the channels, counted from the first

    Raises:
        ValueError: scale must be finite and above 0; without an axis it must be one number

    >>> import tessera as ts
    >>> ts.dtype.get_scale(ts.dtype.{kind}(0.5))
    0.5
    """
    return _named(_make, kind)


def _with_zero_point(kind, high):
    def _make(scale, zero_point, axis=None):
        return _dtype(kind, scale, zero_point, axis)

    _make.__doc__ = f"""The dtype of integers in [0, {high}]: `(q - zero_point) * scale` is meant.

    Args:
        scale: a number above 0, or a list of one for each index along `axis`
        zero_point: what stands for 0, an integer in [0, {high}]; or a list of one for each scale
        axis: the axis of the channels, counted from the first

    Raises:
        ValueError: scale must be finite and above 0, zero_point in range; without an axis they
            must be one number each

    >>> import tessera as ts
    >>> ts.dtype.get_zero_point(ts.dtype.{kind}(0.5, 3))
    3
    """
    return _named(_make, kind)


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    return function


qint8 = _symmetric("qint8", -128, 127)
qint8_narrow = _symmetric("qint8_narrow", -127, 127)
quint8 = _with_zero_point("quint8", 255)
qint32 = _symmetric("qint32", -(2**31), 2**31 - 1)
qint4 = _symmetric("qint4", -8, 7)
quint4 = _with_zero_point("quint4", 15)
qint1 = _symmetric("qint1", 0, 1)


def _described(asking, dtype):
    found = _core.quantization(dtype)
    if found is None:
        raise ValueError(f"{asking}: dtype must be quantized, got {dtype}")
    return found


def is_quantize(dtype):
    """Whether the dtype is quantized.

    >>> import numpy as np
    >>> import tessera as ts
    >>> ts.dtype.is_quantize(ts.dtype.qint8(0.5)), ts.dtype.is_quantize(np.dtype("int8"))
    (True, False)
    """
    return _core.quantization(dtype) is not None


def get_scale(dtype):
    """The scale of a quantized dtype; a list where each channel has one.

    ValueError: the dtype must be quantized.

    >>> import tessera as ts
    >>> ts.dtype.get_scale(ts.dtype.qint8([0.5, 0.1], axis=0))
    [0.5, 0.1]
    """
    return _described("get_scale", dtype)[1]


def get_zero_point(dtype):
    """The zero point of a quantized dtype; a list where each channel has one.

    ValueError: the dtype must be quantized and have a zero point.

    >>> import tessera as ts
    >>> ts.dtype.get_zero_point(ts.dtype.quint8(0.5, 128))
    128
    """
    kind, _, zero_point, _ = _described("get_zero_point", dtype)
    if zero_point is None:
        raise ValueError(f"get_zero_point: dtype must have a zero point, got {kind}")
    return zero_point


def is_dtype_equal(first, second):
    """Whether two dtypes are equal, metadata too (scale, zero point, intb), which `==` leaves out.

    >>> import tessera as ts
    >>> coarse, fine = ts.dtype.qint8(0.5), ts.dtype.qint8(0.25)
    >>> ts.dtype.is_dtype_equal(coarse, fine), coarse == fine
    (False, True)
    """
    if _core.described_name(first) != _core.described_name(second):
        return False
    return as_dtype(first) == as_dtype(second)


def _check(name, kind, array, dtype):
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name}: arr must be a numpy.ndarray, got {type(array).__name__}")
    found = _core.quantization(dtype)
    if found is None or found[0] != kind:
        raise ValueError(f"{name}: the dtype must be a {kind}, got {found[0] if found else dtype}")


def _convert_to(kind):
    name = f"convert_to_{kind}"

    def _convert(arr, q):
        _check(name, kind, arr, q)
        return _core.Tensor(arr.astype(np.float32, copy=False)).astype(q).numpy()

    _convert.__doc__ = f"""The numbers of an array as integers of the {kind} dtype `q`.

    `saturate(round(arr / scale) + zero_point)` in float32, halves away from zero; NaN becomes 0.

    Args:
        arr: real numbers, numpy.ndarray[*D]
        q: a {kind} dtype, the dtype of the result

    Raises:
        ValueError: arr must be a numpy.ndarray, q a {kind} dtype

    >>> import numpy as np
    >>> import tessera as ts
    >>> dtype = ts.dtype.{_EXAMPLES[kind]}
    >>> ts.dtype.convert_to_{kind}(np.array([0.0, 0.5]), dtype).tolist()
    {_RESULTS[kind]}
    """
    return _named(_convert, name)


def _convert_from(kind):
    name = f"convert_from_{kind}"

    def _convert(arr):
        _check(name, kind, arr, getattr(arr, "dtype", None))
        return _core.Tensor(arr).astype("float32").numpy()

    _convert.__doc__ = f"""What the integers of an array of a {kind} dtype stand for, as float32.

    Args:
        arr: integers, numpy.ndarray[*D] of a {kind} dtype

    Raises:
        ValueError: arr must be a numpy.ndarray of a {kind} dtype

    >>> import numpy as np
    >>> import tessera as ts
    >>> integers = np.array([0, 1], ts.dtype.{_EXAMPLES[kind]})
    >>> ts.dtype.convert_from_{kind}(integers).tolist()
    {_STANDS_FOR[kind]}
    """
    return _named(_convert, name)


_EXAMPLES = {kind: f"{kind}(0.5)" for kind in _core.dtype_storage() if kind[0] == "q"}
_EXAMPLES |= {kind: f"{kind}(0.5, 1)" for kind in ("quint8", "quint4")}
_RESULTS = {kind: [1, 2] if "1)" in each else [0, 1] for kind, each in _EXAMPLES.items()}
_STANDS_FOR = {
    kind: [-0.5, 0.0] if "1)" in each else [0.0, 0.5] for kind, each in _EXAMPLES.items()
}

convert_to_qint8, convert_from_qint8 = _convert_to("qint8"), _convert_from("qint8")
convert_to_qint8_narrow = _convert_to("qint8_narrow")
convert_from_qint8_narrow = _convert_from("qint8_narrow")
convert_to_quint8, convert_from_quint8 = _convert_to("quint8"), _convert_from("quint8")
convert_to_qint32, convert_from_qint32 = _convert_to("qint32"), _convert_from("qint32")
convert_to_qint4, convert_from_qint4 = _convert_to("qint4"), _convert_from("qint4")
convert_to_quint4, convert_from_quint4 = _convert_to("quint4"), _convert_from("quint4")
convert_to_qint1, convert_from_qint1 = _convert_to("qint1"), _convert_from("qint1")
