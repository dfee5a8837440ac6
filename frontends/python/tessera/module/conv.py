"""Convolutions."""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._windows import check_no_text, padding_before, padding_behind
from ..tensor import Parameter
from . import init
from .module import Module


class _Conv(Module):
    axes = 0  # of the kernel
    pads_unevenly = True  # as padding "same" may want it
    function = None  # that computes it

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True, conv_mode="cross_correlation", compute_mode="default",
                 padding_mode="zeros", **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{type(self).__name__}: groups must divide the channels, got {groups} for "
                f"{in_channels} in and {out_channels} out"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._each(kernel_size), self._each(stride)
        self.dilation, name = self._each(dilation), type(self).__name__
        if not self.pads_unevenly:
            check_no_text(name, "padding", padding)
        before = padding_before(name, padding, self.kernel_size, self.stride, self.dilation)
        self.padding = self._each(before)
        self._behind = padding_behind(padding, self.kernel_size, self.dilation)
        self.conv_mode, self.compute_mode = conv_mode, compute_mode
        self.padding_mode = padding_mode
        self.weight = Parameter(np.empty(self._weight_shape(), dtype=np.float32))
        self.bias = None
        if bias:
            shape = (1, out_channels, *(1,) * self.axes)
            self.bias = Parameter(np.zeros(shape, dtype=np.float32))
        self.reset_parameters()

    def _each(self, value):
        sizes = (value,) * self.axes if isinstance(value, int) else tuple(value)
        if len(sizes) != self.axes:
            raise ValueError(
                f"{type(self).__name__}: kernel_size, stride, padding and dilation must be numbers "
                f"or have length {self.axes}, got {sizes}"
            )
        return sizes

    def __setattr__(self, key, value):
        """Tells init which axes of a weight are the kernel's: that of groups is the first."""
        super().__setattr__(key, value)
        if key == "weight" and isinstance(value, Parameter):
            value._kernel_axes = self.axes

    def __setstate__(self, state):
        vars(self).update({"_behind": (0,) * self.axes}, **state)  # older pickles have none
        self.weight = self.weight

    def _summed_channels(self):
        return self.in_channels

    def _weight_shape(self):
        each = (self.out_channels // self.groups, self.in_channels // self.groups)
        return (*((self.groups,) if self.groups > 1 else ()), *each, *self.kernel_size)

    def reset_parameters(self):
        """Normal weights with the variance 1 / fan_in, no bias."""
        fan_in = self._summed_channels() // self.groups * math.prod(self.kernel_size)
        init.normal_(self.weight, 0.0, math.sqrt(1 / fan_in))
        if self.bias is not None:
            init.zeros_(self.bias)

    def _padded(self, inp):
        """The input and the padding that is left for the convolution: other modes pad first."""
        if self.padding_mode == "zeros" and not sum(self._behind):
            return inp, self.padding
        mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
        own = [(n, n + more) for n, more in zip(self.padding, self._behind, strict=True)]
        widths = (*((0, 0),) * (inp.ndim - self.axes), *own)
        return F.pad(inp, widths, mode=mode), (0,) * self.axes

    def forward(self, inp):
        """See the class."""
        return self.calc_conv(inp, self.weight, self.bias)

    def calc_conv(self, inp, weight, bias):
        """The convolution with this weight and bias, which a subclass may give others."""
        inp, padding = self._padded(inp)
        return self.function(inp, weight, bias, self.stride, padding, self.dilation, self.groups,
                             self.conv_mode, self.compute_mode)  # fmt: skip

    def _module_info_string(self):
        parts = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}"]
        usual = {"stride": self._each(1), "padding": self._each(0), "dilation": self._each(1)}
        values = (
            (name, getattr(self, name), each) for name, each in {**usual, "groups": 1}.items()
        )
        parts += [f"{name}={value}" for name, value, each in values if value != each]
        return ", ".join(parts + ([] if self.bias is not None else ["bias=False"]))


class Conv1d(_Conv):
    """Convolution of sequences [N, C, L] with `out_channels` kernels.

    The weight has shape (out, in, length), with `groups` (groups, out/groups, in/groups, length);
    the bias (1, out, 1). With `padding` "same" the result is as long as the input: stride must be 1
    then; "valid" is 0.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.Conv1d(2, 3, 4, padding="same")(F.ones((1, 2, 5))).shape
    (1, 3, 5)
    """

    axes, function = 1, staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of images [N, C, H, W] with `out_channels` kernels.

    The weight has shape (out, in, height, width), with `groups` (groups, out/groups, in/groups,
    height, width); the bias (1, out, 1, 1). With `padding` "same" the result is as large as the
    input: stride must be 1 then; "valid" is 0.
    """

    axes, function = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of volumes [N, C, D, H, W] with `out_channels` kernels.

    The weight has shape (out, in, depth, height, width), with `groups` (groups, out/groups,
    in/groups, depth, height, width); the bias (1, out, 1, 1, 1). `padding` as that of Conv2d.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.Conv3d(2, 3, 3, padding=1)(F.ones((1, 2, 4, 4, 4))).shape
    (1, 3, 4, 4, 4)
    """

    axes, function = 3, staticmethod(F.conv3d)


class _ConvTranspose(_Conv):
    pads_unevenly = False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                 output_padding=0, dilation=1, groups=1, bias=True,
                 conv_mode="cross_correlation", compute_mode="default", **kwargs):  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         bias, conv_mode, compute_mode, **kwargs)  # fmt: skip
        self.output_padding = self._each(output_padding)

    def _summed_channels(self):
        return self.out_channels

    def _weight_shape(self):
        each = (self.in_channels // self.groups, self.out_channels // self.groups)
        return (*((self.groups,) if self.groups > 1 else ()), *each, *self.kernel_size)

    def forward(self, inp):
        """See the class."""
        return self.function(inp, self.weight, self.bias, self.stride, self.padding,
                             self.output_padding, self.dilation, self.groups, self.conv_mode,
                             self.compute_mode)  # fmt: skip

    def _module_info_string(self):
        shown = super()._module_info_string()
        outside = any(self.output_padding)
        return shown + (f", output_padding={self.output_padding}" if outside else "")


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of sequences [N, C, L] with `out_channels` kernels.

    The weight has shape (in, out, length), with `groups` (groups, in/groups, out/groups, length);
    the bias (1, out, 1).

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.ConvTranspose1d(2, 3, 2, stride=2)(F.ones((1, 2, 4))).shape
    (1, 3, 8)
    """

    axes, function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of images [N, C, H, W] with `out_channels` kernels.

    The weight has shape (in, out, height, width), with `groups` (groups, in/groups, out/groups,
    height, width); the bias (1, out, 1, 1).

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.ConvTranspose2d(2, 3, 2, stride=2)(F.ones((1, 2, 4, 4))).shape
    (1, 3, 8, 8)
    """

    axes, function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution of volumes [N, C, D, H, W] with `out_channels` kernels.

    The weight has shape (in, out, depth, height, width), with `groups` (groups, in/groups,
    out/groups, depth, height, width); the bias (1, out, 1, 1, 1).

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.ConvTranspose3d(2, 3, 2, stride=2)(F.ones((1, 2, 2, 4, 4))).shape
    (1, 3, 4, 8, 8)
    """

    axes, function = 3, staticmethod(F.conv_transpose3d)
