"""Complex numbers as pairs of real ones along a last axis of size 2, as ONNX's DFT has them."""

from ..sizes import of_float
from ..values import element_type_of
from ..writer import exporter
from .elementwise import number

_AXIS_IS_INPUT = 20  # the opset from which DFT has its axis as an input


def _parts(writer, pair):
    """The real and the imaginary parts."""
    return [
        writer.node("Gather", [pair, writer.constant(part, "int64")], axis=-1) for part in (0, 1)
    ]


def _dft(writer, row, pair, axis, size, **flags):
    """The transform of pairs, or of real numbers with a last axis of size 1, by the row's norm."""
    if writer.opset >= _AXIS_IS_INPUT:
        inputs = [pair, None, writer.constant(axis, "int64")]
        out = writer.node("DFT", inputs, **flags)
    else:
        out = writer.node("DFT", [pair], axis=axis, **flags)
    norm, inverse = row["norm"], flags.get("inverse", 0)
    if norm != "backward":
        count = of_float(writer, size, _part_dtype(row.results[0].dtype))
        scale = writer.node("Sqrt", [count]) if norm == "ortho" else count
        out = writer.node("Mul" if inverse else "Div", [out, scale])
    return out


def _part_dtype(dtype):
    return "float64" if dtype == "complex128" else "float32"


@exporter("fft_r2c", needs=("DFT",))
def _fft_r2c(writer, row, x):
    axis, dtype = row["axis"] % len(x.shape), _part_dtype(row.results[0].dtype)
    real = x if x.dtype == dtype else writer.cast(x, dtype)
    column = writer.node("Unsqueeze", [real, writer.ints([-1])])
    return writer.pair(_dft(writer, row, column, axis, x.shape[axis], onesided=1))


@exporter("fft_c2c", needs=("DFT",))
def _fft_c2c(writer, row, x):
    writer.want_pair(x)
    axis = row["axis"] % len(x.shape)
    inverse = int(row["inverse"])
    return writer.pair(_dft(writer, row, x, axis, x.shape[axis], inverse=inverse))


@exporter("complex")
def _complex(writer, row, real, imag):
    sizes = writer.ints(row.results[0].shape)
    parts = [writer.node("Expand", [part, sizes]) for part in (real, imag)]
    columns = [writer.node("Unsqueeze", [part, writer.ints([-1])]) for part in parts]
    return writer.pair(writer.node("Concat", columns, axis=-1))


@exporter("real")
def _real(writer, row, x):
    if "complex" not in x.dtype:
        return writer.node("Identity", [x])
    return _parts(writer, writer.want_pair(x))[0]


@exporter("imag")
def _imag(writer, row, x):
    return _parts(writer, writer.want_pair(x))[1]


@exporter("conj")
def _conj(writer, row, x):
    if "complex" not in x.dtype:
        return writer.node("Identity", [x])
    signs = writer.constant([1, -1], _part_dtype(x.dtype))
    return writer.pair(writer.node("Mul", [writer.want_pair(x), signs]))


@exporter("abs")
def _abs(writer, row, x):
    """The larger part of a complex number times sqrt(1 + ratio^2), which does not overflow."""
    if "complex" not in x.dtype:
        return writer.node("Abs", [x])
    real, imag = (writer.node("Abs", [part]) for part in _parts(writer, writer.want_pair(x)))
    larger, smaller = writer.node("Max", [real, imag]), writer.node("Min", [real, imag])
    like = row.results[0]
    zero, one = number(writer, 0, like), number(writer, 1, like)
    is_zero = writer.node("Equal", [larger, zero])
    ratio = writer.node("Div", [smaller, writer.node("Where", [is_zero, one, larger])])
    above = writer.node("Add", [one, writer.node("Mul", [ratio, ratio])])
    return writer.node("Mul", [larger, writer.node("Sqrt", [above])])


@exporter("cast")
def _cast(writer, row, x):
    dtype = row.results[0].dtype
    if "complex" in x.dtype and x.dtype == dtype:
        return writer.node("Identity", [x])
    if "complex" in x.dtype:
        raise NotImplementedError("ONNX converts no complex numbers")
    if "complex" not in dtype:
        return writer.node("Cast", [x], to=element_type_of(dtype))
    column = writer.node("Unsqueeze", [writer.cast(x, _part_dtype(dtype)), writer.ints([-1])])
    behind = writer.ints([0] * (len(x.shape) + 1) + [0] * len(x.shape) + [1])
    return writer.pair(writer.node("Pad", [column, behind]))
