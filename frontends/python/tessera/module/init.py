"""Initial values of parameters. Every function fills its tensor in place."""

import math

from .. import random
from ..functional.creation import full_like


def fill_(tensor, val):
    """Every element `val`.

    Args:
        tensor: any[*D], changed in place; it keeps its dtype
        val: a number

    Raises:
        TypeError: val must be a number

    Example:
        >>> import tessera as ts
        >>> import tessera.module as M
        >>> weight = ts.Tensor([1.0, 2.0])
        >>> M.init.fill_(weight, 3)
        >>> weight.tolist()
        [3.0, 3.0]
    """
    tensor._reset(full_like(tensor, val))


def zeros_(tensor):
    """Every element 0: see fill_.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([1.0, 2.0])
    >>> M.init.zeros_(weight)
    >>> weight.tolist()
    [0.0, 0.0]
    """
    fill_(tensor, 0)


def ones_(tensor):
    """Every element 1: see fill_.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([5, 2])
    >>> M.init.ones_(weight)
    >>> weight.tolist()
    [1, 1]
    """
    fill_(tensor, 1)


def uniform_(tensor, a=0.0, b=1.0):
    """Numbers of [a, b).

    Args:
        tensor: float[*D], changed in place; it keeps its dtype
        a, b: numbers

    Raises:
        TypeError: tensor must be a tensor

    Example:
        >>> import tessera as ts
        >>> import tessera.module as M
        >>> weight = ts.Tensor([0.0, 0.0])
        >>> M.init.uniform_(weight, 1, 2)
        >>> weight.min().item() >= 1
        True
    """
    tensor._reset(random.uniform(a, b, tensor.shape).astype(tensor.dtype))


def normal_(tensor, mean=0.0, std=1.0):
    """Numbers of the normal distribution.

    Args:
        tensor: float[*D], changed in place; it keeps its dtype
        mean, std: numbers

    Raises:
        TypeError: tensor must be a tensor

    Example:
        >>> import tessera as ts
        >>> import tessera.module as M
        >>> weight = ts.Tensor([0.0, 0.0])
        >>> M.init.normal_(weight, 5, 0)
        >>> weight.tolist()
        [5.0, 5.0]
    """
    tensor._reset(random.normal(mean, std, tensor.shape).astype(tensor.dtype))


_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0)}
_LINEAR = frozenset(
    ["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
     "conv_transpose3d", "sigmoid"]
)  # fmt: skip


def calculate_gain(nonlinearity, param=None):
    """By how much a nonlinearity shrinks its input, to be made up for by the weights.

    >>> import tessera.module as M
    >>> M.init.calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        known = sorted([*_LINEAR, *_GAINS, "leaky_relu"])
        raise ValueError(
            f"calculate_gain: nonlinearity must be one of {known}, got {nonlinearity!r}"
        )
    return _GAINS[nonlinearity]


def calculate_fan_in_and_fan_out(tensor):
    """How many inputs and outputs one element of a weight joins.

    A weight of a convolution with groups has an axis of groups first. It is known from the module
    that made the weight; of other tensors only one with 6 axes has it.

    Args:
        tensor: any[O, I, *kernel], or any[groups, O, I, *kernel]

    Returns:
        (fan_in, fan_out), ints whatever the dtype

    Raises:
        ValueError: tensor must have 2 axes or more

    Example:
        >>> import tessera as ts
        >>> import tessera.module as M
        >>> M.init.calculate_fan_in_and_fan_out(ts.Tensor([[1.0, 2.0, 3.0]]))
        (3, 1)
    """
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        raise ValueError(f"init: a tensor with fans must have 2 axes or more, got shape {shape}")
    kernel_axes = getattr(tensor, "_kernel_axes", 3)
    if len(shape) == kernel_axes + 3:  # groups, out, in, kernel
        shape = shape[1:]
    area = math.prod(shape[2:])
    return shape[1] * area, shape[0] * area


def calculate_correct_fan(tensor, mode):
    """The fan named by `mode`: "fan_in" or "fan_out".

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.init.calculate_correct_fan(ts.Tensor([[1.0, 2.0, 3.0]]), "fan_in")
    3
    """
    fans = dict(zip(("fan_in", "fan_out"), calculate_fan_in_and_fan_out(tensor), strict=True))
    if mode.lower() not in fans:
        raise ValueError(f"init: mode must be one of {list(fans)}, got {mode!r}")
    return fans[mode.lower()]


def xavier_uniform_(tensor, gain=1.0):
    """Uniform, with the variance 2 / (fan_in + fan_out).

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([[0.0, 0.0], [0.0, 0.0]])
    >>> M.init.xavier_uniform_(weight)
    >>> weight.shape
    (2, 2)
    """
    bound = gain * math.sqrt(6.0 / sum(calculate_fan_in_and_fan_out(tensor)))
    uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Normal, with the variance 2 / (fan_in + fan_out).

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([[0.0, 0.0], [0.0, 0.0]])
    >>> M.init.xavier_normal_(weight)
    >>> weight.shape
    (2, 2)
    """
    normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(calculate_fan_in_and_fan_out(tensor))))


def msra_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Uniform, with the variance gain^2 / fan.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([[0.0, 0.0], [0.0, 0.0]])
    >>> M.init.msra_uniform_(weight)
    >>> weight.shape
    (2, 2)
    """
    std = calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode))
    uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def msra_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Normal, with the variance gain^2 / fan.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> weight = ts.Tensor([[0.0, 0.0], [0.0, 0.0]])
    >>> M.init.msra_normal_(weight)
    >>> weight.shape
    (2, 2)
    """
    normal_(
        tensor,
        0.0,
        calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode)),
    )
