"""Pooling."""

from .. import functional as F  # noqa: N812
from .module import Module


class _Pool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def _module_info_string(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool):
    """The largest element of each window."""

    def forward(self, inp):
        """See the class."""
        return F.max_pool2d(inp, self.kernel_size, self.stride, self.padding)


class _AvgPool(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0,
                 mode="average_count_exclude_padding", **kwargs):  # fmt: skip
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.mode = mode


class AvgPool2d(_AvgPool):
    """The mean of each window; `mode` says whether padding counts."""

    def forward(self, inp):
        """See the class."""
        return F.avg_pool2d(inp, self.kernel_size, self.stride, self.padding, self.mode)


def _in_images(pool, inp, layer, *options):
    """The pooling of images on sequences [N, C, L], as images of height 1."""
    sizes = (layer.kernel_size, layer.stride, layer.padding)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(
            f"{type(layer).__name__}: kernel_size, stride and padding must be ints, got {sizes}"
        )
    kernel, stride, padding = sizes
    out = pool(F.expand_dims(inp, -2), (1, kernel), (1, stride), (0, padding), *options)
    return F.squeeze(out, -2)


class MaxPool1d(_Pool):
    """The largest element of each window of sequences float[N, C, L].

    TypeError: kernel_size, stride and padding must be ints. ValueError: windows must fit.

    >>> from tessera import tensor
    >>> MaxPool1d(2)(tensor([[[1.0, 4.0, 3.0, 2.0]]])).tolist()
    [[[4.0, 3.0]]]
    """

    def forward(self, inp):
        """See the class."""
        return _in_images(F.max_pool2d, inp, self)


class AvgPool1d(_AvgPool):
    """The mean of each window of sequences float[N, C, L]; `mode` says whether padding counts.

    TypeError: kernel_size, stride and padding must be ints. ValueError: windows must fit.

    >>> from tessera import tensor
    >>> AvgPool1d(2)(tensor([[[1.0, 4.0, 3.0, 2.0]]])).tolist()
    [[[2.5, 2.5]]]
    """

    def forward(self, inp):
        """See the class."""
        return _in_images(F.avg_pool2d, inp, self, self.mode)


class AdaptiveAvgPool2d(Module):
    """Means of windows such that the output has height and width `oshp`."""

    def __init__(self, oshp, **kwargs):
        super().__init__(**kwargs)
        self.oshp = oshp

    def forward(self, inp):
        """See the class."""
        return F.adaptive_avg_pool2d(inp, self.oshp)

    def _module_info_string(self):
        return f"oshp={self.oshp}"
