"""Pooling: the largest element or the mean of windows."""

from .._core import ops as _ops
from ._windows import each as _each
from .generated import check_choice, export


def _windows(axes, kernel_size, stride, padding):
    kernel = _each(kernel_size, axes)
    return kernel, kernel if stride is None else _each(stride, axes), _each(padding, axes)


def _averaged(name, axes, inp, windows, mode):
    check_choice(name, "mode", mode, ("average", "average_count_exclude_padding"))
    return getattr(_ops, name)(inp, *_windows(axes, *windows), mode == "average")


def max_pool1d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of [N, C, L] sequences.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.max_pool1d(ts.tensor([[[1.0, 4.0, 3.0, 2.0]]]), 2).tolist()
    [[[4.0, 3.0]]]
    """
    return _ops.max_pool1d(inp, *_windows(1, kernel_size, stride, padding))


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of [N, C, H, W] images.

    >>> import tessera.functional as F
    >>> F.max_pool2d(F.ones((1, 2, 4, 4)), 2).shape
    (1, 2, 2, 2)
    """
    return _ops.max_pool2d(inp, *_windows(2, kernel_size, stride, padding))


def max_pool3d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window of [N, C, D, H, W] volumes.

    >>> import tessera.functional as F
    >>> F.max_pool3d(F.ones((1, 2, 4, 4, 6)), 2, stride=(1, 2, 2)).shape
    (1, 2, 3, 2, 3)
    """
    return _ops.max_pool3d(inp, *_windows(3, kernel_size, stride, padding))


def avg_pool1d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window of [N, C, L] sequences; with mode "average" padding counts.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> F.avg_pool1d(ts.tensor([[[1.0, 4.0, 3.0, 2.0]]]), 2).tolist()
    [[[2.5, 2.5]]]
    """
    return _averaged("avg_pool1d", 1, inp, (kernel_size, stride, padding), mode)


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window of [N, C, H, W] images; with mode "average" padding counts.

    >>> import tessera.functional as F
    >>> F.avg_pool2d(F.ones((1, 1, 2, 2)), 2, padding=1, mode="average").tolist()
    [[[[0.25, 0.25], [0.25, 0.25]]]]
    """
    return _averaged("avg_pool2d", 2, inp, (kernel_size, stride, padding), mode)


def avg_pool3d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window of [N, C, D, H, W] volumes; with mode "average" padding counts.

    >>> import tessera.functional as F
    >>> F.avg_pool3d(F.ones((1, 1, 1, 1, 2)), 2, padding=1, mode="average").tolist()
    [[[[[0.125, 0.125]]]]]
    """
    return _averaged("avg_pool3d", 3, inp, (kernel_size, stride, padding), mode)


def adaptive_avg_pool2d(inp, oshp, uneven=False):
    """Means of windows of [N, C, H, W] images, of sizes such that the result has size `oshp`.

    With `uneven` windows are PyTorch's, whose sizes differ where `oshp` does not divide the image.

    >>> import tessera.functional as F
    >>> F.adaptive_avg_pool2d(F.ones((1, 2, 5, 7)), 3).shape
    (1, 2, 3, 3)
    """
    return _ops.adaptive_avg_pool2d(inp, _each(oshp, 2), uneven)


def adaptive_avg_pool3d(inp, oshp, uneven=False):
    """Means of windows of [N, C, D, H, W] volumes, of sizes such that the result has size `oshp`.

    >>> import tessera.functional as F
    >>> F.adaptive_avg_pool3d(F.ones((1, 2, 5, 7, 4)), (1, 3, 4)).shape
    (1, 2, 1, 3, 4)
    """
    return _ops.adaptive_avg_pool3d(inp, _each(oshp, 3), uneven)


def adaptive_max_pool3d(inp, oshp, uneven=False):
    """Largest elements of windows of [N, C, D, H, W] volumes such that the result has size `oshp`.

    >>> import tessera.functional as F
    >>> F.adaptive_max_pool3d(F.ones((1, 2, 5, 7, 4)), 2).shape
    (1, 2, 2, 2, 2)
    """
    return _ops.adaptive_max_pool3d(inp, _each(oshp, 3), uneven)


export(globals())
