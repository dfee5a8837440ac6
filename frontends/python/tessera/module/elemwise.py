"""Functions without parameters as modules."""

from .. import functional as F  # noqa: N812
from ..core.ops.families import ELEMWISE_MODES
from .module import Module

# Elementwise functions that are not in functional.elemwise.
_OTHERS = (
    "angle",
    "celu",
    "conj",
    "elu",
    "gelu",
    "gelu_tanh",
    "hardshrink",
    "hardtanh",
    "hsigmoid",
    "hswish",
    "isfinite",
    "isinf",
    "isnan",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "prelu",
    "reciprocal",
    "relu",
    "relu6",
    "rsqrt",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "trunc",
)

# Functions of several operators.
_COMPOSED = {
    "fast_tanh": lambda x: x * (27 + x * x) / (27 + 9 * x * x),
    "fuse_add_h_swish": lambda a, b: F.hswish(a + b),
    "fuse_add_relu": lambda a, b: F.relu(a + b),
    "fuse_add_sigmoid": lambda a, b: F.sigmoid(a + b),
    "fuse_add_tanh": lambda a, b: F.tanh(a + b),
    "fuse_mul_add3": lambda a, b, c: a * b + c,
    "fuse_mul_add4": lambda a, b, c, d: a * b + c * d,
}


def _function(method):
    """The function of a name in lower case; None where there is none."""
    name = ELEMWISE_MODES.get(method, method)
    if name in F.elemwise.__all__ or name in _OTHERS:
        return getattr(F, name)
    return _COMPOSED.get(method)


class Elemwise(Module):
    """An elementwise function by its name in functional or by its MegEngine mode, in any case:
    "add", "mul", "hswish" or "H_SWISH", "negate", "fuse_add_relu", "fuse_mul_add3", "fast_tanh" …

    ValueError: method must name an elementwise function.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Elemwise("FUSE_MUL_ADD3")(ts.tensor([2.0]), ts.tensor([3.0]), ts.tensor([1.0])).tolist()
    [7.0]
    """

    def __init__(self, method, **kwargs):
        super().__init__(**kwargs)
        self.method = method.lower()
        if _function(self.method) is None:
            raise ValueError(f"Elemwise: method must name an elementwise function, got {method!r}")

    def forward(self, *inps):
        """See the class."""
        return _function(self.method)(*inps)

    def _module_info_string(self):
        return self.method


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
