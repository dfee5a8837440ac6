"""Activations as modules."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._states import check_axes
from ..functional.generated import check_choice
from ..tensor import Parameter
from .module import Module


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, x):
        """See the class."""
        return F.relu(x)


class Tanh(Module):
    """The hyperbolic tangent of x.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Tanh()(ts.tensor([0.0])).tolist()
    [0.0]
    """

    def forward(self, inputs):
        """See the class."""
        return F.tanh(inputs)


class Hardswish(Module):
    """x * min(max(x + 3, 0), 6) / 6. A. Howard et al.: Searching for MobileNetV3, ICCV 2019.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Hardswish()(ts.tensor([-4.0, 3.0])).tolist()
    [-0.0, 3.0]
    """

    def forward(self, inputs):
        """See the class."""
        return F.hswish(inputs)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, inputs):
        """See the class."""
        return F.sigmoid(inputs)


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, inputs):
        """See the class."""
        return F.silu(inputs)


class GELU(Module):
    """x * Phi(x), Phi the distribution function of the normal distribution; with `approximate`
    "tanh" by a hyperbolic tangent, as functional.gelu.

    ValueError: approximate must be "none" or "tanh".
    """

    def __init__(self, approximate="none", **kwargs):
        super().__init__(**kwargs)
        check_choice(type(self).__name__, "approximate", approximate, ("none", "tanh"))
        self.approximate = approximate

    def forward(self, inputs):
        """See the class."""
        return F.gelu(inputs) if self.approximate == "none" else F.gelu_tanh(inputs)

    def __setstate__(self, state):
        vars(self).update({"approximate": "none"}, **state)  # older pickles have none

    def _module_info_string(self):
        return "" if self.approximate == "none" else f"approximate={self.approximate}"


class Mish(Module):
    """x * tanh(softplus(x)). D. Misra: Mish, BMVC 2020.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.Mish()(ts.tensor([0.0])).tolist()
    [0.0]
    """

    def forward(self, inputs):
        """See the class."""
        return F.mish(inputs)


class ELU(Module):
    """x above 0, `alpha` * (exp(x) - 1) below. D. Clevert et al.: Fast and Accurate Deep Network
    Learning by Exponential Linear Units, ICLR 2016.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.ELU(2.0)(ts.tensor([3.0, 0.0, float("-inf")])).tolist()
    [3.0, 0.0, -2.0]
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha

    def forward(self, inputs):
        """See the class."""
        return F.elu(inputs, self.alpha)

    def _module_info_string(self):
        return f"alpha={self.alpha}"


class LeakyReLU(Module):
    """x above 0, `negative_slope` * x below."""

    def __init__(self, negative_slope=0.01, **kwargs):
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def forward(self, inputs):
        """See the class."""
        return F.leaky_relu(inputs, self.negative_slope)

    def _module_info_string(self):
        return f"negative_slope={self.negative_slope}"


class PReLU(Module):
    """x above 0, `weight` * x below: one learnt factor, or one for each channel, along axis 1.

    ValueError: there must be 2 to 4 axes where there are several factors.
    """

    def __init__(self, num_parameters=1, init=0.25, **kwargs):
        super().__init__(**kwargs)
        self.num_parameters = num_parameters
        shape = (1, num_parameters, 1, 1) if num_parameters > 1 else (1,)
        self.weight = Parameter(np.full(shape, init, dtype=np.float32))

    def forward(self, inputs):
        """See the class."""
        if self.num_parameters == 1:
            return F.prelu(inputs, self.weight)
        check_axes(type(self).__name__, "inputs", inputs, 4, least=2)
        axes = list(range(inputs.ndim, 4))  # an image of height or width 1
        if not axes:
            return F.prelu(inputs, self.weight)
        return F.squeeze(F.prelu(F.expand_dims(inputs, axes), self.weight), axes)

    def _module_info_string(self):
        return f"num_parameters={self.num_parameters}"


class Softmax(Module):
    """Normalised exponentials along `axis`; without one along axis 1, or 0 for 0, 1 and 3 axes."""

    def __init__(self, axis=None, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def forward(self, inputs):
        """See the class."""
        return F.softmax(inputs, self.axis)

    def _module_info_string(self):
        return f"axis={self.axis}"
