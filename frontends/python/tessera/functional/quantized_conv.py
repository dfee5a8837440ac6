"""Convolutions of quantized tensors: sums over the integers, the rest in float32."""

import math as _math

import numpy as _np

from .._core import ops as _ops
from ._integer_sums import add_bias as _add_bias
from ._integer_sums import as_operand as _as_operand
from ._integer_sums import bias_numbers as _bias_numbers
from ._integer_sums import check_finish as _check_finish
from ._integer_sums import described as _described
from ._integer_sums import finished as _finished
from ._integer_sums import fused_activation as _fused_activation
from ._integer_sums import one_scale as _one_scale
from ._integer_sums import result_scale as _result_scale
from ._integer_sums import weight_scale as _weight_scale
from ._windows import check_no_text as _check_no_text
from ._windows import each as _each
from ._windows import padding_before as _padding_before
from ._windows import padding_behind as _padding_behind
from .generated import check_conv_modes as _check_conv_modes
from .generated import export


def _convolved(name, operator, inp, weight, bias, dtype, modes, groups, nonlinear_mode, residual,
               *windows):  # fmt: skip
    """A convolution by the operator that sums; `windows`: stride, padding, dilation and, where it
    is transposed, output_padding.
    """
    _check_conv_modes(name, *modes)
    axes, is_transposed = int(operator[-2]), len(windows) == 4
    weight = _ops.flatten(weight, 0, 1) if weight.ndim == axes + 3 else weight
    x_scale, x_zero = _one_scale(name, "inp", inp)
    of_weight = _weight_scale(name, weight, 1 if is_transposed else 0)
    inp, windows = _padded(name, axes, inp, weight, *windows)
    bias = bias if bias is None else _fitting(name, bias, inp, axes)
    depth = _math.prod(weight.shape[2:]) * (
        weight.shape[0] // groups if is_transposed else weight.shape[1]
    )
    if operator == "integer_conv2d" and inp.ndim == 4:
        mode = _check_finish(name, dtype, nonlinear_mode, residual)
        dtypes = [each.dtype for each in (inp, weight, residual) if each is not None]
        activation = _fused_activation(mode, depth, dtype, *dtypes)
        if activation is not None:
            scales = float(x_scale), x_zero or 0, _as_operand(of_weight, inp)
            attrs = *windows, groups, activation, dtype
            return _in_one_operator(name, (inp, weight, *scales), bias, residual, attrs)
    scale = x_scale * of_weight
    if scale.ndim:
        scale = _np.tile(scale, groups if is_transposed else 1).reshape(-1, *(1,) * axes)
    scale = _as_operand(scale, inp)
    sums = getattr(_ops, operator)(inp, weight, x_zero, *windows[:3], groups, *windows[3:])
    y = _add_bias(name, sums, bias, scale, depth, inp).astype("float32") * scale
    return _finished(name, y, dtype, nonlinear_mode, residual)


def _in_one_operator(name, operands, bias, residual, attrs):
    """A convolution of images of bytes and all steps behind it, by the operator that has them;
    `attrs` end with the dtype of the result.
    """
    if bias is None:
        bias = 0.0
    else:
        bias = _ops.reshape(_bias_numbers(name, bias), [] if bias.shape[1] == 1 else [-1])
    added = [None] * 3
    if residual is not None:
        scale, zero = _one_scale(name, "residual", residual)
        added = [residual, float(scale), zero or 0]
    return _ops.quantized_conv2d(*operands, *_result_scale(attrs[-1]), bias, *added, *attrs)


def _fitting(name, bias, inp, axes):
    """The bias, without a batch axis where the input has none."""
    if bias.ndim != axes + 2 or any(size != 1 for size in (*bias.shape[:1], *bias.shape[2:])):
        must = f"must have {axes + 2} axes, all but axis 1 of size 1"
        raise ValueError(f"{name}: bias {must}, got {_described(bias)}")
    return _ops.squeeze(bias, [0]) if inp.ndim == axes + 1 else bias


def _padded(name, axes, inp, weight, stride, padding, dilation, *outside):
    """The input and numbers for each axis; a border where "same" wants more behind than before."""
    stride, dilation, *outside = (_each(value, axes) for value in (stride, dilation, *outside))
    if not isinstance(padding, str):
        return inp, (stride, _each(padding, axes), dilation, *outside)
    if outside:
        _check_no_text(name, "padding", padding)
    before = _padding_before(name, padding, weight.shape[-axes:], stride, dilation)
    behind = _padding_behind(padding, weight.shape[-axes:], dilation)
    if any(behind):
        others = [0] * (inp.ndim - axes)
        numbers = _ops.pad(inp.astype("float32"), others + [0] * axes, [*others, *behind])
        inp = numbers.astype(inp.dtype)
    return inp, (stride, before, dilation, *outside)


def conv_bias_activation(inp, weight, bias, dtype=None, stride=1, padding=0, dilation=1, groups=1,
                         nonlinear_mode="identity", conv_mode="cross_correlation",
                         compute_mode="default", residual=None):  # fmt: skip
    """Convolution of images, plus bias, plus residual, then an activation: `conv2d`.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x = F.ones((1, 2, 3, 3)).astype(qint8(0.5))
    >>> weight = F.ones((4, 2, 3, 3)).astype(qint8(0.5))
    >>> F.quantized.conv_bias_activation(x, weight, None, qint8(1.0))[0, 0].tolist()
    [[18]]
    """
    modes = conv_mode, compute_mode
    return _convolved("conv_bias_activation", "integer_conv2d", inp, weight, bias, dtype, modes,
                      groups, nonlinear_mode, residual, stride, padding, dilation)  # fmt: skip


def batch_conv_bias_activation(inp, weight, bias, dtype=None, stride=1, padding=0, dilation=1,
                               groups=1, nonlinear_mode="identity",
                               conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of each image with a weight of its own, plus bias, then an activation.

    Args:
        inp: quantized[N, C, H, W], of 8 bits, with one scale
        weight: quantized[N, O, C, KH, KW], of 8 bits, with one scale and no zero point
        bias: float32 or qint32[1, O, 1, 1], or None
        dtype: quantized dtype of the result, with one scale
        stride, padding, dilation: an int, or one for each of two axes
        groups: 1
        nonlinear_mode: "identity", "relu", "hswish" or "sigmoid", in any case
        conv_mode, compute_mode: "cross_correlation"; "default" or "float32"

    Returns:
        quantized[N, O, OH, OW] of `dtype`

    Raises:
        DTypeError: operands and dtype must be quantized as above
        ValueError: groups must be 1, shapes must fit

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> x = F.ones((2, 3, 4, 1)).astype(qint8(0.5))
        >>> weight = F.ones((2, 5, 3, 1, 1)).astype(qint8(0.5))
        >>> F.quantized.batch_conv_bias_activation(x, weight, None, qint8(1.0)).shape
        (2, 5, 4, 1)
    """
    name = "batch_conv_bias_activation"
    _check_conv_modes(name, conv_mode, compute_mode)
    if groups != 1:
        raise ValueError(f"{name}: groups must be 1, got {groups!r}")
    _weight_scale(name, weight, None)
    count, out = weight.shape[:2]
    image = _ops.reshape(inp, [1, inp.shape[0] * inp.shape[1], *inp.shape[2:]])
    if bias is not None:
        bias = _ops.tile(bias, [1, count, 1, 1])
    whole = _convolved(name, "integer_conv2d", image, _ops.flatten(weight, 0, 1), bias, dtype,
                       (conv_mode, compute_mode), count, nonlinear_mode, None, stride, padding,
                       dilation)  # fmt: skip
    return _ops.reshape(whole, [count, out, *whole.shape[2:]])


def conv1d(inp, weight, bias=None, dtype=None, stride=1, padding=0, dilation=1, groups=1,
           nonlinear_mode="identity", conv_mode="cross_correlation", compute_mode="default",
           residual=None):  # fmt: skip
    """Convolution of sequences [N, C, L] with `weight` [O, C/groups, K]: `conv2d` along one axis.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x, weight = F.ones((1, 2, 5)).astype(qint8(0.5)), F.ones((3, 2, 3)).astype(qint8(0.1))
    >>> F.quantized.conv1d(x, weight, dtype=qint8(0.5)).shape
    (1, 3, 3)
    """
    modes = conv_mode, compute_mode
    return _convolved("conv1d", "integer_conv1d", inp, weight, bias, dtype, modes, groups,
                      nonlinear_mode, residual, stride, padding, dilation)  # fmt: skip


def conv2d(inp, weight, bias=None, dtype=None, stride=1, padding=0, dilation=1, groups=1,
           nonlinear_mode="identity", conv_mode="cross_correlation", compute_mode="default",
           residual=None):  # fmt: skip
    """Convolution of images, plus bias, plus residual, then an activation.

    The sum of products and the bias are int32, exact; the rest is float32, quantized at the end.

    Args:
        inp: quantized[N, C, H, W], of 8 bits, with one scale; pads are its zero point
        weight: quantized[O, C/groups, KH, KW] or [groups, O/groups, C/groups, KH, KW], of 8 bits,
            without a zero point, with one scale or one for each index of axis 0
        bias: float32 or qint32[1, O, 1, 1], or None
        dtype: quantized dtype of the result, with one scale
        stride, padding, dilation: an int, or one for each of two axes; padding may be "same"
        groups: an int that divides C and O
        nonlinear_mode: "identity", "relu", "hswish" or "sigmoid", in any case
        conv_mode, compute_mode: "cross_correlation"; "default" or "float32"
        residual: quantized[N, O, OH, OW] with one scale, or None

    Returns:
        quantized[N, O, OH, OW] of `dtype`

    Raises:
        DTypeError: operands and dtype must be quantized as above
        ValueError: shapes must fit, modes must be among their values

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8, quint8
        >>> x = F.ones((1, 2, 5, 5)).astype(quint8(0.5, 128))
        >>> weight = F.ones((3, 2, 3, 3)).astype(qint8([0.1, 0.2, 0.5], axis=0))
        >>> F.quantized.conv2d(x, weight, dtype=qint8(1.0), stride=2)[0, :, 0, 0].tolist()
        [18, 18, 18]
    """
    modes = conv_mode, compute_mode
    return _convolved("conv2d", "integer_conv2d", inp, weight, bias, dtype, modes, groups,
                      nonlinear_mode, residual, stride, padding, dilation)  # fmt: skip


def conv3d(inp, weight, bias=None, dtype=None, stride=1, padding=0, dilation=1, groups=1,
           nonlinear_mode="identity", conv_mode="cross_correlation", compute_mode="default",
           residual=None):  # fmt: skip
    """Convolution of volumes [N, C, D, H, W] with `weight` [O, C/groups, *K]: `conv2d` along three
    axes.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x = F.ones((1, 2, 3, 5, 5)).astype(qint8(0.5))
    >>> weight = F.ones((3, 2, 1, 3, 3)).astype(qint8(0.1))
    >>> F.quantized.conv3d(x, weight, dtype=qint8(0.5), stride=2).shape
    (1, 3, 2, 2, 2)
    """
    modes = conv_mode, compute_mode
    return _convolved("conv3d", "integer_conv3d", inp, weight, bias, dtype, modes, groups,
                      nonlinear_mode, residual, stride, padding, dilation)  # fmt: skip


def conv_transpose1d(inp, weight, bias=None, dtype=None, stride=1, padding=0, output_padding=0,
                     dilation=1, groups=1, conv_mode="cross_correlation", compute_mode="default",
                     nonlinear_mode="identity", residual=None):  # fmt: skip
    """Transposed convolution of sequences [N, C, L]: `conv_transpose2d` along one axis.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x, weight = F.ones((1, 2, 3)).astype(qint8(0.5)), F.ones((2, 4, 2)).astype(qint8(0.1))
    >>> F.quantized.conv_transpose1d(x, weight, dtype=qint8(0.5), stride=2).shape
    (1, 4, 6)
    """
    modes = conv_mode, compute_mode
    return _convolved("conv_transpose1d", "integer_conv_transpose1d", inp, weight, bias, dtype,
                      modes, groups, nonlinear_mode, residual, stride, padding, dilation,
                      output_padding)  # fmt: skip


def conv_transpose2d(inp, weight, bias=None, dtype=None, stride=1, padding=0, output_padding=0,
                     dilation=1, groups=1, conv_mode="cross_correlation", compute_mode="default",
                     nonlinear_mode="identity", residual=None):  # fmt: skip
    """Transposed convolution of images, plus bias, plus residual, then an activation.

    Args:
        inp, bias, dtype, groups, nonlinear_mode, conv_mode, compute_mode, residual: as in `conv2d`
        weight: quantized[C, O/groups, KH, KW] or [groups, C/groups, O/groups, KH, KW], of 8 bits,
            without a zero point, with one scale or one for each index of the axis of O/groups
        stride, padding, output_padding, dilation: an int, or one for each of two axes

    Returns:
        quantized[N, O, OH, OW] of `dtype`

    Raises:
        DTypeError: operands and dtype must be quantized as above
        ValueError: shapes must fit, modes must be among their values

    Example:
        >>> import tessera.functional as F
        >>> from tessera.dtype import qint8
        >>> x = F.ones((1, 2, 3, 3)).astype(qint8(0.5))
        >>> weight = F.ones((2, 4, 2, 2)).astype(qint8(0.1))
        >>> F.quantized.conv_transpose2d(x, weight, dtype=qint8(0.5), stride=2).shape
        (1, 4, 6, 6)
    """
    modes = conv_mode, compute_mode
    return _convolved("conv_transpose2d", "integer_conv_transpose2d", inp, weight, bias, dtype,
                      modes, groups, nonlinear_mode, residual, stride, padding, dilation,
                      output_padding)  # fmt: skip


def conv_transpose3d(inp, weight, bias=None, dtype=None, stride=1, padding=0, output_padding=0,
                     dilation=1, groups=1, conv_mode="cross_correlation", compute_mode="default",
                     nonlinear_mode="identity", residual=None):  # fmt: skip
    """Transposed convolution of volumes [N, C, D, H, W]: `conv_transpose2d` along three axes.

    >>> import tessera.functional as F
    >>> from tessera.dtype import qint8
    >>> x = F.ones((1, 2, 2, 3, 3)).astype(qint8(0.5))
    >>> weight = F.ones((2, 4, 1, 2, 2)).astype(qint8(0.1))
    >>> F.quantized.conv_transpose3d(x, weight, dtype=qint8(0.5), stride=2).shape
    (1, 4, 3, 6, 6)
    """
    modes = conv_mode, compute_mode
    return _convolved("conv_transpose3d", "integer_conv_transpose3d", inp, weight, bias, dtype,
                      modes, groups, nonlinear_mode, residual, stride, padding, dilation,
                      output_padding)  # fmt: skip


export(globals())
