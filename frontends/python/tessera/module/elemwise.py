"""Functions without parameters as modules."""

from .. import functional as F  # noqa: N812
from .module import Module


class Elemwise(Module):
    """An elementwise function by its MegEngine name: "add", "mul", "fuse_add_relu", "fuse_mul_add3"
    …
    """

    def __init__(self, method, **kwargs):
        super().__init__(**kwargs)
        self.method = method.lower()
        self._function = _FUSED.get(self.method) or getattr(F.elemwise, self.method, None)
        if self._function is None:
            raise ValueError(f"Elemwise: method must name an elementwise function, got {method!r}")

    def forward(self, *inps):
        """See the class."""
        return self._function(*inps)

    def _module_info_string(self):
        return self.method


_FUSED = {
    "fuse_add_relu": lambda a, b: F.relu(a + b),
    "fuse_add_sigmoid": lambda a, b: F.sigmoid(a + b),
    "fuse_add_tanh": lambda a, b: F.tanh(a + b),
    "fuse_mul_add3": lambda a, b, c: a * b + c,
    "fuse_mul_add4": lambda a, b, c, d: a * b + c * d,
}


class Concat(Module):
    """Joins tensors along an axis."""

    def forward(self, inps, axis=0):
        """See the class."""
        return F.concat(inps, axis)


class Dropout(Module):
    """In training sets each element to 0 with probability `drop_prob` and scales the rest up."""

    def __init__(self, drop_prob=0.0, **kwargs):
        super().__init__(**kwargs)
        self.drop_prob = drop_prob

    def forward(self, inputs):
        """See the class."""
        return F.dropout(inputs, self.drop_prob, self.training)

    def _module_info_string(self):
        return f"drop_prob={self.drop_prob}"


class Identity(Module):
    """Its input."""

    def forward(self, x):
        """See the class."""
        return x


class Flatten(Module):
    """Joins the axes from `start_axis` to `end_axis` into one."""

    def __init__(self, start_axis=1, end_axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x):
        """See the class."""
        return F.flatten(x, self.start_axis, self.end_axis)


class Pad(Module):
    """A border around each axis: (before, after) for each; see functional.nn.pad."""

    def __init__(self, pad_width, mode="constant", constant_val=0.0, **kwargs):
        super().__init__(**kwargs)
        self.pad_width, self.mode, self.constant_val = tuple(pad_width), mode, constant_val

    def forward(self, src):
        """See the class."""
        return F.pad(src, self.pad_width, self.mode, self.constant_val)

    def _module_info_string(self):
        return f"pad_width={self.pad_width}, mode={self.mode}"


class PixelShuffle(Module):
    """Images [N, C r r, H, W] as [N, C, H r, W r], r being `upscale_factor`."""

    def __init__(self, upscale_factor, **kwargs):
        super().__init__(**kwargs)
        self.upscale_factor = upscale_factor

    def forward(self, x):
        """See the class."""
        return F.pixel_shuffle(x, self.upscale_factor)

    def _module_info_string(self):
        return f"upscale_factor={self.upscale_factor}"
