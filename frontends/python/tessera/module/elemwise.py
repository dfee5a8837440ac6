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
