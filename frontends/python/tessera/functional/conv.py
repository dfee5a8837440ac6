"""Convolutions and transposed convolutions."""

from .._core import ops as _ops
from ._windows import check_no_text as _check_no_text
from ._windows import each as _each
from ._windows import padded_same as _padded_same
from .generated import check_conv_modes, export


def _conv(name, axes, inp, weight, bias, modes, groups, *windows):
    """A convolution along `axes` axes; its weight may have an axis of groups. `windows`: stride,
    padding, dilation.
    """
    check_conv_modes(name, *modes)
    weight = _ops.flatten(weight, 0, 1) if weight.ndim == axes + 3 else weight
    stride, padding, dilation, *outside = (
        value if isinstance(value, str) else _each(value, axes) for value in windows
    )
    if isinstance(padding, str):
        if outside:
            _check_no_text(name, "padding", padding)
        kernel_size = weight.shape[-axes:]
        inp, padding = _padded_same(name, inp, kernel_size, stride, padding, dilation)
    out = getattr(_ops, name)(inp, weight, stride, padding, dilation, groups, *outside)
    if bias is None:
        return out
    if bias.ndim != axes + 2 or any(size != 1 for size in (*bias.shape[:1], *bias.shape[2:])):
        must = f"must have {axes + 2} axes, all but axis 1 of size 1"
        raise ValueError(f"{name}: bias {must}, got {tuple(bias.shape)}")
    is_sample = out.ndim == axes + 1  # without a batch axis
    return out + (_ops.squeeze(bias, [0]) if is_sample else bias)


def conv1d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of sequences [N, C, L] with `weight` [O, C/groups, K], plus `bias` [1, O, 1].

    A grouped weight may have 4 axes: [groups, O/groups, C/groups, K]. With `padding` "same"
    the result is as large as the input (stride must be 1); "valid" is 0.

    >>> import tessera.functional as F
    >>> F.conv1d(F.ones((1, 2, 5)), F.ones((3, 2, 3))).shape
    (1, 3, 3)
    """
    return _conv("conv1d", 1, inp, weight, bias, (conv_mode, compute_mode), groups, stride,
                 padding, dilation)  # fmt: skip


def conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of images [N, C, H, W]; `weight` [O, C/groups, H, W], `bias` [1, O, 1, 1].

    A grouped weight may have 5 axes: [groups, O/groups, C/groups, H, W]. With `padding` "same"
    the result is as large as the input (stride must be 1); "valid" is 0.

    >>> import tessera.functional as F
    >>> F.conv2d(F.ones((1, 2, 5, 5)), F.ones((3, 2, 3, 3)), stride=2).shape
    (1, 3, 2, 2)
    """
    return _conv("conv2d", 2, inp, weight, bias, (conv_mode, compute_mode), groups, stride,
                 padding, dilation)  # fmt: skip


def conv3d(inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
           conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Convolution of volumes [N, C, D, H, W]; `weight` [O, C/groups, *K], `bias` [1, O, 1, 1, 1].

    A grouped weight may have 6 axes: [groups, O/groups, C/groups, *K]. With `padding` "same"
    the result is as large as the input (stride must be 1); "valid" is 0.

    >>> import tessera.functional as F
    >>> F.conv3d(F.ones((1, 2, 3, 5, 5)), F.ones((3, 2, 1, 3, 3)), stride=2).shape
    (1, 3, 2, 2, 2)
    """
    return _conv("conv3d", 3, inp, weight, bias, (conv_mode, compute_mode), groups, stride,
                 padding, dilation)  # fmt: skip


def conv_transpose1d(inp, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1,
                     groups=1, conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Transposed convolution of sequences [N, C, L] with `weight` [C, O/groups, K].

    >>> import tessera.functional as F
    >>> F.conv_transpose1d(F.ones((1, 2, 3)), F.ones((2, 4, 2)), stride=2).shape
    (1, 4, 6)
    """
    return _conv("conv_transpose1d", 1, inp, weight, bias, (conv_mode, compute_mode), groups,
                 stride, padding, dilation, output_padding)  # fmt: skip


def conv_transpose2d(inp, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1,
                     groups=1, conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Transposed convolution of images [N, C, H, W] with `weight` [C, O/groups, H, W].

    >>> import tessera.functional as F
    >>> F.conv_transpose2d(F.ones((1, 2, 3, 3)), F.ones((2, 4, 2, 2)), stride=2).shape
    (1, 4, 6, 6)
    """
    return _conv("conv_transpose2d", 2, inp, weight, bias, (conv_mode, compute_mode), groups,
                 stride, padding, dilation, output_padding)  # fmt: skip


def conv_transpose3d(inp, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1,
                     groups=1, conv_mode="cross_correlation", compute_mode="default"):  # fmt: skip
    """Transposed convolution of volumes [N, C, D, H, W] with `weight` [C, O/groups, *K].

    >>> import tessera.functional as F
    >>> F.conv_transpose3d(F.ones((1, 2, 2, 3, 3)), F.ones((2, 4, 1, 2, 2)), stride=2).shape
    (1, 4, 3, 6, 6)
    """
    return _conv("conv_transpose3d", 3, inp, weight, bias, (conv_mode, compute_mode), groups,
                 stride, padding, dilation, output_padding)  # fmt: skip


export(globals())
