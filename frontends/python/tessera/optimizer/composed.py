"""Optimizers whose update is a formula of several operators."""

import math
from abc import abstractmethod

import numpy as np

from .. import functional as F  # noqa: N812
from .._foreign_dtypes import as_dtype
from .compiled import Compiled


class Composed(Compiled):
    """Base class. A subclass gives `_moved(group, rate, p, g, state)`, and in `state_names` what
    each parameter has a tensor of its shape for.

    Parameters and gradients of less than 32 bits are computed in float32, as is their state.
    """

    state_names = ()
    scalar_names = ()  # of state tensors of shape (), which start at 0
    decoupled = False  # whether weight decay is no part of the gradient

    @abstractmethod
    def _moved(self, group, rate, p, g, state):
        """The new value of a parameter and {name: new value} of its state: p is the value, g the
        gradient with the pull of weight decay.
        """

    def _create_state(self, group):
        for parameter in group["params"]:
            kind = wide(parameter.dtype)
            for name in self.state_names:
                zeros = F.zeros(parameter.shape, kind, device=parameter.device)
                self._add_state(parameter, name, zeros)
            for name in self.scalar_names:
                zeros = F.zeros((), "float32", device=parameter.device)
                self._add_state(parameter, name, zeros)

    def _update_parameter(self, group, parameter, grad):
        kind, state = wide(parameter.dtype), self._state_of(parameter)
        value, grad = _as(parameter.detach(), kind), _as(grad, kind)
        if group["weight_decay"] and not self.decoupled:
            grad = grad + group["weight_decay"] * value
        value, moved = self._moved(group, _as(group.rate, kind), value, grad, state)
        parameter._reset(_as(value, parameter.dtype))
        for name, tensor in moved.items():
            state[name]._reset(_as(tensor, state[name].dtype))


def wide(dtype):
    """The dtype that an update is computed in.

    >>> from tessera.optimizer.composed import wide
    >>> wide("float16")
    dtype('float32')
    """
    dtype = as_dtype(dtype)
    return dtype if dtype == np.float64 else np.dtype(np.float32)


def _as(tensor, dtype):
    return tensor if tensor.dtype == dtype else tensor.astype(dtype)


def unbiased(mean, beta, step):
    """The moving mean by `beta` that started at 0, corrected: `mean / (1 - beta ** step)`, exact
    in float32 also for a beta near 1.
    """
    if beta == 0:
        return mean
    return mean / _as(-F.expm1(step * math.log(beta)), mean.dtype)
