"""Tensors from numbers, arrays and nothing."""

import math

import numpy as np

from .. import functional as _functional
from .._core import Tensor
from .._core import ops as _ops
from ..functional._making import made as _made
from ..utils.dlpack import from_dlpack as _from_dlpack
from ._dtypes import DEFAULTS, cast, complex64, float32, float64, int32, int64, part_of

_EXACT = 1 << 53  # integers up to here are numbers of float64


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """A tensor of a number, nested sequences, an array with DLPack or the buffer protocol, or a
    tensor.

    Python numbers become int32, float32, complex64 or bool; arrays keep their dtypes. With
    copy=False the memory of `obj` is shared. ValueError: it must then be possible. OverflowError:
    ints must be numbers of their dtype.

    >>> from tessera import array_api as xp
    >>> xp.asarray([1, 2]).dtype
    dtype('int32')
    """
    if isinstance(obj, Tensor):
        return _of_tensor(obj, dtype, device, copy)
    if not isinstance(obj, np.ndarray) and hasattr(obj, "__dlpack__"):
        return _of_tensor(_from_dlpack(obj, copy=copy), dtype, device, None)
    array = np.asarray(obj)
    if copy is False:
        return _shared(obj, array, dtype, device)
    if dtype is None:
        dtype = array.dtype if hasattr(obj, "dtype") or _has_buffer(obj) else _default(array)
    return Tensor(_in_range(array, np.dtype(dtype)), dtype=dtype, device=device)


def _of_tensor(x, dtype, device, copy, name="asarray"):
    isconverted = dtype is not None and x.dtype != dtype
    ismoved = device is not None and x.device != device
    if copy is False and (isconverted or ismoved):
        raise ValueError(
            f"{name}: copy must be allowed where dtype or device differ, got {x.dtype} on "
            f"{x.device} for dtype={dtype}, device={device}"
        )
    result = cast(x, dtype)
    result = result.to(device) if ismoved else result
    return _ops.copy(result) if copy and not (isconverted or ismoved) else result


def _has_buffer(obj):
    try:
        memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _shared(obj, array, dtype, device):
    if not _has_buffer(obj) or (dtype is not None and array.dtype != dtype):
        raise ValueError(f"asarray: copy must be allowed for such data, got {type(obj).__name__}")
    return _from_dlpack(array, device=device, copy=False)


def _default(array):
    kinds = {"b": bool, "i": int, "u": int, "O": int, "c": complex}
    return DEFAULTS[kinds.get(array.dtype.kind, float)]


def _in_range(array, dtype, name="asarray"):
    if dtype.kind not in "iu" or array.dtype.kind not in "iuO" or array.size == 0:
        return array
    lowest, highest = int(array.min()), int(array.max())
    if lowest < np.iinfo(dtype).min or highest > np.iinfo(dtype).max:
        raise OverflowError(
            f"{name}: ints must be numbers of {dtype}, got some in [{lowest}, {highest}]"
        )
    return array.astype(dtype)


def from_dlpack(x, /, *, device=None, copy=None):
    """A tensor over the memory of an array of another library, as
    `tessera.utils.dlpack.from_dlpack`; of a tensor the tensor itself, on any device and in a trace.

    >>> import numpy as np
    >>> from tessera import array_api as xp
    >>> xp.from_dlpack(np.zeros(2)).dtype
    dtype('float64')
    """
    if isinstance(x, Tensor):
        return _of_tensor(x, None, device, copy, "from_dlpack")
    return _from_dlpack(x, device=device, copy=copy)


def full(shape, fill_value, *, dtype=None, device=None):
    """A tensor with one value everywhere: a number, or a tensor of rank 0.

    >>> from tessera import array_api as xp
    >>> xp.full((2,), 7).tolist()
    [7, 7]
    """
    if isinstance(fill_value, Tensor):
        return _functional.full(shape, fill_value, dtype=dtype, device=device)
    dtype = DEFAULTS[type(fill_value)] if dtype is None else np.dtype(dtype)
    if dtype.kind != "c" and abs(fill_value) <= _EXACT:
        return _functional.full(shape, fill_value, dtype=dtype, device=device)
    value = Tensor(np.asarray(fill_value, dtype=dtype), dtype=dtype)
    return _functional.full(shape, value, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """As `full`, in the shape of `x`, and in its dtype and on its device where none is given.

    >>> from tessera import array_api as xp
    >>> xp.full_like(xp.asarray([1.5, 2.5]), 7).tolist()
    [7.0, 7.0]
    """
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def zeros(shape, *, dtype=None, device=None):
    """A tensor of zeros, float32 where no dtype is given.

    >>> from tessera import array_api as xp
    >>> xp.zeros(2).tolist()
    [0.0, 0.0]
    """
    return _made(device, _ops.full, shape, 0, dtype or float32)


def zeros_like(x, /, *, dtype=None, device=None):
    """As `zeros`, in the shape of `x`, and in its dtype and on its device where none is given.

    >>> from tessera import array_api as xp
    >>> xp.zeros_like(xp.asarray([1, 2])).tolist()
    [0, 0]
    """
    return zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def ones(shape, *, dtype=None, device=None):
    """A tensor of ones, float32 where no dtype is given.

    >>> from tessera import array_api as xp
    >>> xp.ones(2).tolist()
    [1.0, 1.0]
    """
    return _made(device, _ops.full, shape, 1, dtype or float32)


def ones_like(x, /, *, dtype=None, device=None):
    """As `ones`, in the shape of `x`, and in its dtype and on its device where none is given.

    >>> from tessera import array_api as xp
    >>> xp.ones_like(xp.asarray([1, 2])).tolist()
    [1, 1]
    """
    return ones(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def empty(shape, *, dtype=None, device=None):
    """A tensor whose elements are not said: zeros.

    >>> from tessera import array_api as xp
    >>> xp.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """As `empty`, in the shape of `x`, and in its dtype and on its device where none is given.

    >>> from tessera import array_api as xp
    >>> xp.empty_like(xp.asarray([1, 2])).dtype
    dtype('int32')
    """
    return zeros_like(x, dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """The numbers from `start` to below `stop`, `step` apart; arange(n) from 0.

    int32 of ints, else float32, where no dtype is given. ValueError: step must not be 0.
    OverflowError: ints must be numbers of their dtype.

    >>> from tessera import array_api as xp
    >>> xp.arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    start, stop = (0, start) if stop is None else (start, stop)
    ofints = not any(isinstance(each, float) for each in (start, stop, step))
    dtype = np.dtype(dtype or (int32 if ofints else float32))
    if dtype.kind == "f" or not ofints:
        return _functional.arange(start, stop, step, dtype=dtype, device=device)
    numbers = range(start, stop, step)
    _in_range(np.array([numbers[0], numbers[-1]] if numbers else [], object), dtype, "arange")
    places = _functional.arange(0, len(numbers), dtype=int64, device=device)
    return cast(places * step + start, dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` evenly spaced numbers from `start` to `stop`, which is the last one, or with
    endpoint=False the next one.

    float32, or complex64 where an end is complex. ValueError: num must not be negative.

    >>> from tessera import array_api as xp
    >>> xp.linspace(0, 1, 4, endpoint=False).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    iscomplex = isinstance(start, complex) or isinstance(stop, complex)
    dtype = np.dtype(dtype or (complex64 if iscomplex else float32))
    if dtype.kind == "c":
        ends = [
            (complex(start).real, complex(stop).real),
            (complex(start).imag, complex(stop).imag),
        ]
        parts = [_line(*end, num, part_of(dtype), device, endpoint) for end in ends]
        return _ops.complex(*parts)
    return cast(_line(start, stop, num, dtype, device, endpoint), dtype)


def _line(start, stop, num, dtype, device, endpoint):
    """Computed in float64 and rounded once; the last number is `stop` itself."""
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, got {num}")
    gaps = num - 1 if endpoint else num
    places = _functional.arange(0, num, dtype=float64, device=device)
    line = places * ((stop - start) / gaps if gaps > 0 else math.nan) + float(start)
    first = _ops.where(places == 0, float(start), line)
    return cast(_ops.where(places == gaps, float(stop), first) if gaps > 0 else first, dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """A matrix with ones on the diagonal `k` and zeros elsewhere, float32 where no dtype is given.

    >>> from tessera import array_api as xp
    >>> xp.eye(2, 3, k=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    n_cols = n_rows if n_cols is None else n_cols
    if k == 0:
        return _functional.eye(n_rows, n_cols, dtype=dtype or float32, device=device)
    rows = _functional.arange(k, k + n_rows, dtype=int64, device=device)
    columns = _functional.arange(0, n_cols, dtype=int64, device=device)
    return cast(_ops.expand_dims(rows, 1) == columns, dtype or float32)


def meshgrid(*arrays, indexing="xy"):
    """The coordinates of a grid: each vector along an axis of its own, the others' repeated.

    ValueError: arrays must have one axis; indexing must be "xy" or "ij".

    >>> from tessera import array_api as xp
    >>> [each.tolist() for each in xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3]))]
    [[[1, 2]], [[3, 3]]]
    """
    return tuple(_ops.copy(each) for each in _functional.meshgrid(*arrays, indexing=indexing))


def tril(x, /, *, k=0):
    """Matrices with zeros above the diagonal `k`.

    >>> from tessera import array_api as xp
    >>> xp.tril(xp.ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _ops.tril(x, k)


def triu(x, /, *, k=0):
    """Matrices with zeros below the diagonal `k`.

    >>> from tessera import array_api as xp
    >>> xp.triu(xp.ones((2, 2))).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return _ops.triu(x, k)
