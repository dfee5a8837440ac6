"""Operators of quantized tensors: sums of products over the integers, others through float32.

Each gives the float32 operator of the numbers that its operands stand for, quantized once at the
end. Scales are those of the dtypes.
"""

from .. import _core
from .._core import ops as _ops
from ..dtype import is_dtype_equal as _is_dtype_equal
from ._integer_sums import add_bias as _add_bias
from ._integer_sums import as_operand as _as_operand
from ._integer_sums import finished as _finished
from ._integer_sums import one_scale as _one_scale
from ._integer_sums import quantization_of as _quantization_of
from ._integer_sums import through_floats as _through_floats
from ._integer_sums import weight_scale as _weight_scale
from ._quantized_modes import function_of as _function_of
from .generated import export
from .nn import pad as _pad
from .pool import avg_pool2d as _avg_pool2d
from .pool import max_pool2d as _max_pool2d
from .quantized_conv import (
    batch_conv_bias_activation,  # noqa: F401
    conv1d,  # noqa: F401
    conv2d,  # noqa: F401
    conv3d,  # noqa: F401
    conv_bias_activation,  # noqa: F401
    conv_transpose1d,  # noqa: F401
    conv_transpose2d,  # noqa: F401
    conv_transpose3d,  # noqa: F401
)
from .vision import interpolate as _interpolate


def linear(inp, weight, bias=None, dtype=None, nonlinear_mode="identity", residual=None):
    """inp @ weight.T + bias over the last axis, plus residual, then an activation.

    The sum of products and the bias are int32, exact; the rest is float32, quantized at the end.

    Args:
        inp: quantized[*B, I], of 8 bits, with one scale
        weight: quantized[O, I], of 8 bits, without a zero point, with one scale or one for each
            index of axis 0
        bias: float32 or qint32[O], or None
        dtype: quantized dtype of the result, with one scale
        nonlinear_mode: "identity", "relu", "hswish" or "sigmoid", in any case
        residual: quantized[*B, O] with one scale, or None

    Returns:
        quantized[*B, O] of `dtype`

    Raises:
        DTypeError: operands and dtype must be quantized as above
        ValueError: shapes must fit, nonlinear_mode must be among its values

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> x, weight = F.ones((4, 3)).astype(qint8(0.5)), F.ones((2, 3)).astype(qint8(0.1))
        >>> F.quantized.linear(x, weight, F.ones(2), qint8(0.5))[0].tolist()
        [8, 8]
    """
    x_scale, x_zero = _one_scale("linear", "inp", inp)
    scale = _as_operand(x_scale * _weight_scale("linear", weight, 0), inp)
    rows = _ops.expand_dims(inp, [0]) if inp.ndim == 1 else inp
    sums = _ops.integer_matmul(rows, weight, x_zero, None, transpose_y=True)
    sums = _ops.squeeze(sums, [0]) if inp.ndim == 1 else sums
    y = _add_bias("linear", sums, bias, scale, weight.shape[1], inp).astype("float32") * scale
    return _finished("linear", y, dtype, nonlinear_mode, residual)


def matmul(inp1, inp2, dtype=None, transpose_a=False, transpose_b=False, bias=None,
           nonlinear_mode="identity", residual=None):  # fmt: skip
    """Matrix products of two quantized tensors, plus bias, plus residual, then an activation.

    Sums of products are int32, exact; the rest is float32, quantized at the end. A bias is a
    float32 operand as the residual is: none of its axes need be the product's channels.

    Args:
        inp1, inp2: quantized[*B, M, K] and [*B, K, N], of 8 bits, each with one scale
        dtype: quantized dtype of the result, with one scale
        transpose_a, transpose_b: whether the last two axes of inp1, of inp2 change places first
        bias: float32 that broadcasts to [*B, M, N], or None
        nonlinear_mode: "identity", "relu", "hswish" or "sigmoid", in any case
        residual: quantized[*B, M, N] with one scale, or None

    Returns:
        quantized[*B, M, N] of `dtype`

    Raises:
        DTypeError: operands and dtype must be quantized as above
        ValueError: shapes must fit, nonlinear_mode must be among its values

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8, quint8
        >>> x, y = F.ones((4, 3)).astype(quint8(0.5, 9)), F.ones((3, 2)).astype(quint8(0.1, 3))
        >>> F.quantized.matmul(x, y, qint8(0.5))[0].tolist()
        [6, 6]
    """
    scale1, zero1 = _one_scale("matmul", "inp1", inp1)
    scale2, zero2 = _one_scale("matmul", "inp2", inp2)
    if zero2 is not None and zero1 is None:  # a second one comes with a first one
        zero1 = 0
    sums = _ops.integer_matmul(inp1, inp2, zero1, zero2, transpose_a, transpose_b)
    y = sums.astype("float32") * float(scale1 * scale2)
    y = y if bias is None else y + bias
    return _finished("matmul", y, dtype, nonlinear_mode, residual)


def elemwise(mode, *inputs, dtype=None):
    """The elementwise function of MegEngine's mode `mode`: QADD, QMUL, QFUSE_ADD_RELU ...

    Args:
        mode: a mode of ElemwiseMultiType, in any case of letters
        inputs: quantized[*D], which broadcast, or Python's numbers
        dtype: quantized dtype of the result, with one scale

    Returns:
        quantized[*D] of `dtype`

    Raises:
        ValueError: mode must be a known one, shapes must broadcast
        DTypeError: inputs must be quantized tensors or numbers, dtype must be quantized

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> x = ts.tensor([1.0, -2.0]).astype(qint8(0.5))
        >>> F.quantized.elemwise("QFUSE_ADD_RELU", x, x, dtype=qint8(0.25)).tolist()
        [8, 0]
    """
    return _through_floats("elemwise", _function_of(mode), inputs, dtype)


def requantize(x, dtype):
    """The numbers of a quantized tensor in another quantized dtype; `x` where it has that one.

    Args:
        x: quantized[*D]
        dtype: quantized dtype of the result, with one scale

    Returns:
        quantized[*D] of `dtype`

    Raises:
        DTypeError: x and dtype must be quantized

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8, quint8
        >>> x = ts.tensor([1.0, -2.0]).astype(qint8(0.5))
        >>> F.quantized.requantize(x, quint8(0.25, 10)).tolist()
        [14, 2]
    """
    _quantization_of("requantize", "x", x)
    if dtype is not None and _is_dtype_equal(x.dtype, dtype):
        return x
    return _through_floats("requantize", lambda numbers: numbers, [x], dtype)


def concat(inps, axis=0, dtype=None):
    """Quantized tensors one after the other along `axis`; those of other dtypes are requantized.

    Args:
        inps: a sequence of quantized[*D] that differ in size along the axis only
        axis: an int
        dtype: quantized dtype of the result, with one scale; that of the first where None

    Returns:
        quantized[*D] of `dtype`

    Raises:
        DTypeError: inps and dtype must be quantized
        ValueError: shapes must fit

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> x, y = F.ones(2).astype(qint8(0.5)), F.ones(1).astype(qint8(0.25))
        >>> F.quantized.concat([x, y]).tolist()
        [2, 2, 2]
    """
    inps = list(inps)
    for each in inps:
        _quantization_of("concat", "each of inps", each)
    dtype = inps[0].dtype if dtype is None and inps else dtype
    return _ops.concat([requantize(each, dtype) for each in inps], axis)


def embedding(inp, weight):
    """Rows of a quantized `weight`, by the indices `inp`.

    Args:
        inp: int32[*D]
        weight: quantized[N, E], with one scale or one for each index of axis 1

    Returns:
        quantized[*D, E] of the dtype of weight

    Raises:
        DTypeError: weight must be quantized
        IndexError: indices must be rows of weight

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> weight = ts.tensor([[1.0, 2.0], [3.0, 4.0]]).astype(qint8(0.5))
        >>> F.quantized.embedding(ts.tensor([1, 0]), weight).tolist()
        [[6, 8], [2, 4]]
    """
    _quantization_of("embedding", "weight", weight)
    return weight[inp]


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of quantized[N, C, H, W], which pads never are.

    DTypeError: inp must be quantized and have one scale. ValueError: windows must fit.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> F.quantized.max_pool2d(F.ones((1, 1, 2, 2)).astype(qint8(0.5)), 2).tolist()
    [[[[2]]]]
    """
    return _same("max_pool2d", _max_pool2d, inp, None, kernel_size, stride, padding)


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding",
               dtype=None):  # fmt: skip
    """The mean of each window of quantized[N, C, H, W]; with mode "average" padding counts.

    The result has the quantized `dtype`, that of inp where None. DTypeError: inp and dtype must be
    quantized and have one scale. ValueError: windows must fit, mode must be one of its values.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x = F.ones((1, 1, 2, 2)).astype(qint8(0.5))
    >>> F.quantized.avg_pool2d(x, 2, dtype=qint8(0.25)).tolist()
    [[[[4]]]]
    """
    return _same("avg_pool2d", _avg_pool2d, inp, dtype, kernel_size, stride, padding, mode)


def mean(inp, axis=None, keepdims=False, dtype=None):
    """The mean of a quantized tensor over axes, an int, a sequence or None for all.

    The result has the quantized `dtype`, that of inp where None. DTypeError: inp and dtype must be
    quantized and have one scale. ValueError: axes must be distinct axes of inp.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> F.quantized.mean(ts.tensor([1.0, 2.0]).astype(qint8(0.5))).tolist()
    3
    """
    return _same("mean", _ops.mean, inp, dtype, axis, keepdims)


def pad(src, pad_width, mode="constant", constant_value=0.0):
    """A border around a quantized tensor: of the number `constant_value` or of elements, as that
    of `functional.pad`.

    DTypeError: src must be quantized and have one scale. ValueError: mode must be one of its
    values, widths must fit.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> from tessera.dtype import quint8
    >>> F.quantized.pad(ts.tensor([1.0]).astype(quint8(0.5, 7)), ((1, 1),)).tolist()
    [7, 9, 7]
    """
    return _same("pad", _pad, src, None, pad_width, mode, constant_value)


def interpolate(inp, size=None, scale_factor=None, mode="bilinear", align_corners=None,
                dtype=None):  # fmt: skip
    """Quantized images of another size, or sequences or volumes, as that of
    `functional.vision.interpolate`.

    The result has the quantized `dtype`, that of inp where None. DTypeError: inp and dtype must be
    quantized and have one scale. ValueError: axes must fit the mode; either size or scale_factor
    must be given.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x = ts.tensor([[[[1.0, 2.0]]]]).astype(qint8(0.25))
    >>> F.quantized.interpolate(x, [1, 4]).tolist()
    [[[[4, 5, 7, 8]]]]
    """
    settings = size, scale_factor, mode, align_corners
    return _same("interpolate", _interpolate, inp, dtype, *settings)


def _same(name, function, inp, dtype, *settings):
    """A function of one quantized tensor as `dtype`: that of `inp` where None."""
    _quantization_of(name, "inp", inp)
    dtype = inp.dtype if dtype is None else dtype
    return _through_floats(name, lambda numbers: function(numbers, *settings), [inp], dtype)


def _rows_of_integers(weight, ids):
    if not isinstance(weight, _core.Tensor) or _core.quantization(weight.dtype) is None:
        return NotImplemented
    return embedding(ids, weight)


_core.call_otherwise(_ops.embedding, _rows_of_integers)

export(globals())
