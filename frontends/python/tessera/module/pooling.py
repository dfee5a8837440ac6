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


class MaxPool1d(_Pool):
    """The largest element of each window of sequences float[N, C, L].

    ValueError: windows must fit.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.MaxPool1d(2)(ts.tensor([[[1.0, 4.0, 3.0, 2.0]]])).tolist()
    [[[4.0, 3.0]]]
    """

    def forward(self, inp):
        """See the class."""
        return F.max_pool1d(inp, self.kernel_size, self.stride, self.padding)


class AvgPool1d(_AvgPool):
    """The mean of each window of sequences float[N, C, L]; `mode` says whether padding counts.

    ValueError: windows must fit.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.AvgPool1d(2)(ts.tensor([[[1.0, 4.0, 3.0, 2.0]]])).tolist()
    [[[2.5, 2.5]]]
    """

    def forward(self, inp):
        """See the class."""
        return F.avg_pool1d(inp, self.kernel_size, self.stride, self.padding, self.mode)


class MaxPool3d(_Pool):
    """The largest element of each window of volumes float[N, C, D, H, W].

    ValueError: windows must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.MaxPool3d(2)(F.ones((1, 3, 4, 4, 6))).shape
    (1, 3, 2, 2, 3)
    """

    def forward(self, inp):
        """See the class."""
        return F.max_pool3d(inp, self.kernel_size, self.stride, self.padding)


class AvgPool3d(_AvgPool):
    """The mean of each window of volumes float[N, C, D, H, W]; `mode` says whether padding counts.

    ValueError: windows must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.AvgPool3d(2)(F.ones((1, 3, 4, 4, 6))).shape
    (1, 3, 2, 2, 3)
    """

    def forward(self, inp):
        """See the class."""
        return F.avg_pool3d(inp, self.kernel_size, self.stride, self.padding, self.mode)


class _AdaptivePool(Module):
    def __init__(self, oshp, **kwargs):
        super().__init__(**kwargs)
        self.oshp = oshp

    def _module_info_string(self):
        return f"oshp={self.oshp}"


class AdaptiveAvgPool2d(_AdaptivePool):
    """Means of windows such that the output has height and width `oshp`."""

    def forward(self, inp):
        """See the class."""
        return F.adaptive_avg_pool2d(inp, self.oshp)


class AdaptiveMaxPool2d(_AdaptivePool):
    """Largest elements of windows such that the output has height and width `oshp`.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.AdaptiveMaxPool2d(1)(ts.tensor([[[[1.0, 4.0], [3.0, 2.0]]]])).tolist()
    [[[[4.0]]]]
    """

    def forward(self, inp):
        """See the class."""
        return F.adaptive_max_pool2d(inp, self.oshp)
