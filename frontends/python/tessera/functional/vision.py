"""Images: other sizes, pixels at computed positions, regions, colours.

Pixels of uint8 are computed with in float32, rounded (halves to even) and limited to 0 to 255.
"""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from .._core import quantization as _quantization
from .._core import sizes_of as _sizes_of
from ._windows import each as _each
from .generated import check_choice, export

_MODES = {"linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic",
          "nearest": "nearest"}  # fmt: skip
_AXES = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4}


def _sizes(value, count):
    """A list of as many sizes, which a tensor may hold: all of them, or the one of all."""
    value = _sizes_of(value)
    return [value] * count if getattr(value, "ndim", 1) == 0 else _each(value, count)


def _pair(value):
    return _sizes(value, 2)


def _lower(word):
    return word.lower() if isinstance(word, str) else word


def _rounded(inp, function):
    """`function` of the images, in their dtype where it is uint8."""
    if inp.dtype != "uint8" or _quantization(inp.dtype) is not None:
        return function(inp)
    result = function(_ops.astype(inp, "float32"))
    return _ops.astype(_ops.clip(_ops.round(result), 0, 255), "uint8")


def _images(name, inp, format, function):
    """`function` of images [N, C, H, W], or of such views of [N, H, W, C]."""
    check_choice(name, "format", format, ("NCHW", "NHWC"))
    if format == "NCHW":
        return _rounded(inp, function)
    return _ops.transpose(_rounded(_ops.transpose(inp, (0, 3, 1, 2)), function), (0, 2, 3, 1))


def _scaled(size, factor):
    """The size times the factor, downwards; a size of a trace stays one where it can."""
    return size * int(factor) if factor == int(factor) else int(size * factor)


def interpolate(inp, size=None, scale_factor=None, mode="bilinear", align_corners=None):
    """Images of another size, or sequences or volumes; see `resize`, whose operator it is.

    Args:
        inp: float[N, C, *S], or uint8
        size: an int or one for each axis of *S
        scale_factor: instead of it what sizes are multiplied by, downwards; one or one for each
        mode: "linear", "bilinear" or "trilinear" (one, two or three axes), "bicubic", "nearest"
        align_corners: whether elements at the ends stay there; only where mode is linear

    Returns:
        float[N, C, *size], of the dtype of inp

    Raises:
        ValueError: axes must fit the mode; either size or scale_factor must be given
        TypeError: inp must be a tensor or an array

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.vision.interpolate(ts.tensor([[[[1.0, 2.0]]]]), [1, 4]).tolist()
        [[[[1.0, 1.25, 1.75, 2.0]]]]
    """
    mode = _lower(mode)
    check_choice("interpolate", "mode", mode, tuple(_MODES))
    if inp.ndim != _AXES.get(mode, inp.ndim):
        raise ValueError(
            f"interpolate: inp must have {_AXES[mode]} axes where mode is {mode}, got "
            f"{tuple(inp.shape)}"
        )
    if align_corners is not None and _MODES[mode] != "linear":
        raise ValueError(
            f"interpolate: align_corners must be None where mode is {mode}, got {align_corners}"
        )
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"interpolate: either size or scale_factor must be given, got {size} and {scale_factor}"
        )
    count = inp.ndim - 2
    if size is None:
        factors = [scale_factor] * count if _np.ndim(scale_factor) == 0 else scale_factor
        size = [_scaled(n, f) for n, f in zip(inp.shape[2:], factors, strict=True)]
    size = _sizes(size, count)
    return _rounded(inp, lambda x: _ops.resize(x, size, _MODES[mode], bool(align_corners)))


def resize(inp, target_shape, imode="linear", format="NCHW"):
    """Images [N, C, H, W], or [N, H, W, C], of height and width `target_shape`.

    >>> import tessera.functional as F
    >>> F.vision.resize(F.ones((1, 2, 2, 3)), (4, 6), format="NHWC").shape
    (1, 4, 6, 3)
    """
    size, mode = _pair(target_shape), _lower(imode)
    return _images("resize", inp, format, lambda x: _ops.resize(x, size, mode))


def remap(inp, map_xy, border_mode="replicate", scalar=0.0, interp_mode="linear"):
    """Pixels of images [N, C, H, W] at positions `map_xy` [N, OH, OW, (column, row)].

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> image = ts.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> places = ts.tensor([[[[0.5, 0.0], [1.0, 1.0]]]])
    >>> F.vision.remap(image, places).tolist()
    [[[[1.5, 4.0]]]]
    """
    border = _lower(border_mode), scalar, _lower(interp_mode)
    return _rounded(inp, lambda x: _ops.remap(x, map_xy, *border))


def warp_affine(inp, mat, out_shape, border_mode="replicate", border_val=0.0, format="NHWC",
                interp_mode="linear"):  # fmt: skip
    """Images [N, H, W, C], or [N, C, H, W], whose pixel (column, row) of the result is the one at
    `mat` [N, 2, 3] times (column, row, 1).

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> moved = ts.tensor([[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    >>> image = ts.tensor([[[[1.0, 2.0, 3.0]]]])
    >>> F.vision.warp_affine(image, moved, (1, 2), format="NCHW").tolist()
    [[[[2.0, 3.0]]]]
    """
    rest = _pair(out_shape), _lower(border_mode), border_val, _lower(interp_mode)
    return _images("warp_affine", inp, format, lambda x: _ops.warp_affine(x, mat, *rest))


def warp_perspective(inp, mat, out_shape, mat_idx=None, border_mode="replicate", border_val=0.0,
                     format="NCHW", interp_mode="linear"):  # fmt: skip
    """Images seen through the transformations `mat` [B, 3, 3], one for each or for each of
    `mat_idx`, the numbers of images.

    A matrix is the inverse of the one that `cv2.warpPerspective` takes.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> moved = ts.tensor([[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    >>> F.vision.warp_perspective(ts.tensor([[[[1.0, 2.0, 3.0]]]]), moved, (1, 2)).tolist()
    [[[[2.0, 3.0]]]]
    """
    if mat_idx is None:
        mat_idx = _ops.arange(inp.shape[0], dtype="int32")
    elif not isinstance(mat_idx, _Tensor):
        mat_idx = _Tensor(_np.asarray(mat_idx, "int32"))
    rest = mat_idx, _pair(out_shape), _lower(border_mode), border_val, _lower(interp_mode)
    return _images("warp_perspective", inp, format, lambda x: _ops.warp_perspective(x, mat, *rest))


def roi_align(inp, rois, output_shape, mode="average", spatial_scale=1.0, sample_points=2,
              aligned=True):  # fmt: skip
    """Boxes `rois` [K, (image, x1, y1, x2, y2)] of images, in size `output_shape`, interpolated.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.vision.roi_align(F.ones((1, 2, 8, 8)), ts.tensor([[0.0, 1.0, 1.0, 5.0, 5.0]]), 2).shape
    (1, 2, 2, 2)
    """
    return _ops.roi_align(inp, rois, _pair(output_shape), _lower(mode), spatial_scale,
                          _pair(sample_points), aligned)  # fmt: skip


def roi_pooling(inp, rois, output_shape, mode="max", scale=1.0):
    """Boxes `rois` [K, (image, x1, y1, x2, y2)] of images, in size `output_shape`, pooled.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> image = ts.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> F.vision.roi_pooling(image, ts.tensor([[0.0, 0.0, 0.0, 1.0, 1.0]]), 1).tolist()
    [[[[4.0]]]]
    """
    return _ops.roi_pooling(inp, rois, _pair(output_shape), _lower(mode), scale)


def nms(boxes, scores, iou_thresh, max_output=None):
    """Indices of boxes [N, (x1, y1, x2, y2)] by falling score, without those that overlap a better
    one by more than `iou_thresh`, at most `max_output`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> boxes = ts.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
    >>> F.vision.nms(boxes, ts.tensor([0.5, 0.9, 0.1]), 0.5).tolist()
    [1, 2]
    """
    return _ops.nms(boxes, scores, iou_thresh, max_output)


def correlation(data1, data2, kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=0,
                is_multiply=True):  # fmt: skip
    """How alike patches of `data1` are to displaced ones of `data2`, both [N, C, H, W].

    >>> import tessera.functional as F
    >>> F.vision.correlation(F.ones((1, 2, 5, 5)), F.ones((1, 2, 5, 5))).shape
    (1, 9, 3, 3)
    """
    return _ops.correlation(data1, data2, kernel_size, max_displacement, stride1, stride2, pad_size,
                            is_multiply)  # fmt: skip


def cvt_color(inp, mode=""):
    """Images [N, H, W, C] in other colours, such as "RGB2GRAY".

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.vision.cvt_color(ts.tensor([[[[1.0, 2.0, 3.0]]]]), "RGB2BGR").tolist()
    [[[[3.0, 2.0, 1.0]]]]
    """
    if isinstance(mode, str) and not mode.startswith("YCrCb"):
        mode = mode.upper()
    delta = 128.0 if inp.dtype == "uint8" else 0.5
    return _rounded(inp, lambda x: _ops.cvt_color(x, mode, delta))


def flip(inp, vertical=True, horizontal=True, format="NHWC"):
    """Images [N, H, W, C], or [N, C, H, W], turned upside down, left to right, or both.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.vision.flip(ts.tensor([[[[1], [2]]]]), vertical=False).tolist()
    [[[[2], [1]]]]
    """
    check_choice("flip", "format", format, ("NCHW", "NHWC"))
    rows = 1 if format == "NHWC" else 2
    return _ops.flip(inp, [axis for axis, on in ((rows, vertical), (rows + 1, horizontal)) if on])


def rot90(inp, k=1, axes=(0, 1), *, clockwise=None):
    """The tensor turned by 90 degrees, from the first of two axes towards the second.

    Args:
        inp: any[*D]
        k: how often, an int
        axes: two ints
        clockwise: MegEngine's; True or False, also in the place of k, turns images [N, H, W, C] as
            `rotate` does

    Returns:
        any, of the dtype of inp

    Raises:
        ValueError: axes must be distinct axes of inp
        TypeError: inp must be a tensor or an array

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.vision.rot90(ts.tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    if clockwise is not None or isinstance(k, bool):
        return rotate(inp, k if clockwise is None else clockwise)
    if not all(-inp.ndim <= axis < inp.ndim for axis in axes):
        raise ValueError(f"rot90: axes must be those of inp, got {tuple(axes)} of {inp.ndim}")
    first, second = (axis % inp.ndim for axis in axes)
    if first == second:
        raise ValueError(f"rot90: axes must be distinct, got {tuple(axes)}")
    if k % 4 == 0:
        return _ops.copy(inp)
    if k % 4 == 2:
        return _ops.flip(inp, [first, second])
    turned = _ops.flip(inp, [second if k % 4 == 1 else first])
    return _ops.swapaxes(turned, first, second)


def rotate(inp, clockwise=True, format="NHWC"):
    """Images turned by 90 degrees.

    Args:
        inp: any[N, H, W, C], or [N, C, H, W]
        clockwise: a bool
        format: "NHWC" or "NCHW"

    Returns:
        any, height and width exchanged, of the dtype of inp

    Raises:
        ValueError: format must be one of its values
        TypeError: inp must be a tensor or an array

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.vision.rotate(ts.tensor([[[[1], [2]]]])).tolist()
        [[[[1]], [[2]]]]
    """
    check_choice("rotate", "format", format, ("NCHW", "NHWC"))
    rows = 1 if format == "NHWC" else 2
    return rot90(inp, -1 if clockwise else 1, (rows, rows + 1))


def nvof(src, precision=1):
    """Optical flow by NVIDIA's hardware, which no device here drives.

    Args:
        src: uint8[N, T, H, W, 4]
        precision: 0, 1 or 2, from slow to fast

    Returns:
        nothing: int16[N, T - 1, H / 4, W / 4, 2] would be the dtype and shape of flows

    Raises:
        NotImplementedError: the device must have NVIDIA's optical flow

    Example:
        >>> import tessera.functional as F
        >>> F.vision.nvof(None)
        Traceback (most recent call last):
        NotImplementedError: nvof: the device must have NVIDIA's optical flow, got precision 1
    """
    raise NotImplementedError(
        f"nvof: the device must have NVIDIA's optical flow, got precision {precision}"
    )


export(globals())
