"""Windows of images, and convolutions whose weights, windows or elements depend on the place."""

from .. import functional as F  # noqa: N812
from ..functional.generated import check_choice
from .conv import Conv2d
from .module import Module


class _Windows(Module):
    def __init__(self, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size, self.padding = kernel_size, padding
        self.stride, self.dilation = stride, dilation

    def _module_info_string(self):
        return (
            f"kernel_size={self.kernel_size}, padding={self.padding}, stride={self.stride}, "
            f"dilation={self.dilation}"
        )


class SlidingWindow(_Windows):
    """The windows of images [N, C, H, W], as [N, C, OH, OW, KH, KW].

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.SlidingWindow(2)(F.ones((1, 2, 4, 5))).shape
    (1, 2, 3, 4, 2, 2)
    """

    def forward(self, inp):
        """See the class."""
        return F.sliding_window(inp, self.kernel_size, self.padding, self.stride, self.dilation)


class SlidingWindowTranspose(_Windows):
    """Images of size `output_size` that windows [N, C, OH, OW, KH, KW] add up to.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.SlidingWindowTranspose((4, 5), 2)(F.ones((1, 2, 3, 4, 2, 2))).shape
    (1, 2, 4, 5)
    """

    def __init__(self, output_size, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(kernel_size, padding, stride, dilation, **kwargs)
        self.output_size = output_size

    def forward(self, inp):
        """See the class."""
        return F.sliding_window_transpose(inp, self.output_size, self.kernel_size, self.padding,
                                          self.stride, self.dilation)  # fmt: skip


class LocalConv2d(Conv2d):
    """Convolution of images [N, in, input_height, input_width] with a weight for each place.

    The weight has shape (groups, height and width of the result, in/groups, height and width of
    the kernel, out/groups); there is no bias.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.LocalConv2d(2, 3, 5, 6, 3)(F.ones((1, 2, 5, 6))).shape
    (1, 3, 3, 4)
    """

    pads_unevenly = False

    def __init__(self, in_channels, out_channels, input_height, input_width, kernel_size, stride=1,
                 padding=0, dilation=1, groups=1, conv_mode="cross_correlation",
                 **kwargs):  # fmt: skip
        self._image = input_height, input_width
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         False, conv_mode, **kwargs)  # fmt: skip

    def _weight_shape(self):
        places = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(self._image, self.padding, self.dilation, self.kernel_size,
                                     self.stride, strict=True)
        ]  # fmt: skip
        channels = self.in_channels // self.groups, self.out_channels // self.groups
        return (self.groups, *places, channels[0], *self.kernel_size, channels[1])

    def forward(self, inp):
        """See the class."""
        return F.local_conv2d(inp, self.weight, self.bias, self.stride, self.padding,
                              self.dilation, self.conv_mode)  # fmt: skip


class RegionRestrictedConv(Conv2d):
    """Convolution of images within regions: `forward(inp, rin, rout)` takes the numbers of the
    regions of the images [N, H, W] and of the result [N, OH, OW].

    The weight has shape (groups, out/groups, in/groups, height, width), the bias (1, out, 1, 1).

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> net = M.RegionRestrictedConv(2, 3, 3)
    >>> net(F.ones((1, 2, 5, 5)), F.zeros((1, 5, 5), "int32"), F.zeros((1, 3, 3), "int32")).shape
    (1, 3, 3, 3)
    """

    pads_unevenly = False

    def __init__(self, in_channels, out_channels, kernel_size, groups=1, bias=True, stride=1,
                 padding=0, dilation=1, conv_mode="cross_correlation", compute_mode="default",
                 padding_mode="zeros", **kwargs):  # fmt: skip
        check_choice("RegionRestrictedConv", "padding_mode", padding_mode, ("zeros",))
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups,
                         bias, conv_mode, compute_mode, padding_mode, **kwargs)  # fmt: skip

    def _weight_shape(self):
        channels = self.out_channels // self.groups, self.in_channels // self.groups
        return (self.groups, *channels, *self.kernel_size)

    def forward(self, inp, rin, rout):
        """See the class."""
        return F.region_restricted_conv(inp, self.weight, rin, rout, self.bias, self.stride,
                                        self.padding, self.dilation, self.groups, self.conv_mode,
                                        self.compute_mode)  # fmt: skip


class DeformableConv2d(Conv2d):
    """Convolution of images whose windows' elements `forward(inp, offset, mask)` moves and weights;
    weight and bias are Conv2d's.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> net = M.DeformableConv2d(2, 3, 2)
    >>> net(F.ones((1, 2, 4, 4)), F.zeros((1, 8, 3, 3)), F.ones((1, 4, 3, 3))).shape
    (1, 3, 3, 3)
    """

    pads_unevenly = False

    def forward(self, inp, offset, mask):
        """See the class."""
        return F.deformable_conv2d(inp, self.weight, offset, mask, self.bias, self.stride,
                                   self.padding, self.dilation, self.groups, self.conv_mode,
                                   self.compute_mode)  # fmt: skip


class DeformablePSROIPooling(Module):
    """Means of the moved bins of boxes: `forward(inp, rois, trans)` of
    `functional.deformable_psroi_pooling`.

    >>> import tessera as ts
    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> net = M.DeformablePSROIPooling(False, 3, 2, 2, 4, 1.0)
    >>> boxes = ts.tensor([[0.0, 1.0, 1.0, 5.0, 5.0]])
    >>> net(F.ones((1, 4, 8, 8)), boxes, F.zeros((1, 2, 3, 3))).shape
    (1, 4, 2, 2)
    """

    def __init__(self, no_trans, part_size, pooled_h, pooled_w, sample_per_part, spatial_scale,
                 trans_std=0.1, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.no_trans, self.part_size = no_trans, part_size
        self.pooled_h, self.pooled_w = pooled_h, pooled_w
        self.sample_per_part, self.spatial_scale = sample_per_part, spatial_scale
        self.trans_std = trans_std

    def forward(self, inp, rois, trans):
        """See the class."""
        return F.deformable_psroi_pooling(inp, rois, trans, self.no_trans, self.part_size,
                                          self.pooled_h, self.pooled_w, self.sample_per_part,
                                          self.spatial_scale, self.trans_std)  # fmt: skip
