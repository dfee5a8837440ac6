"""Adagrad and Adadelta: steps scaled by the gradients so far."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..tensor import Tensor
from .optimizer import Optimizer
from .sgd import check_range


class _Adaptive(Optimizer):
    def __init__(self, params, **settings):
        for key, value in settings.items():
            check_range(type(self).__name__, key, value, 0, below=1 if key == "rho" else None)
        super().__init__(params, settings)

    def _updates(self, group):
        for parameter in group["params"]:
            if parameter.grad is not None:
                grad = parameter.grad + group["weight_decay"] * parameter
                parameter._reset(self._moved(group, parameter, grad, self._state[id(parameter)]))


class Adagrad(_Adaptive):
    """p -= lr / (1 + t * lr_decay) * g / sqrt(s + eps), s the sum of g * g, t the steps before.

    g = grad + weight_decay * p.
    """

    def __init__(self, params, lr=1e-2, lr_decay=0.0, eps=1e-10, weight_decay=0.0):
        super().__init__(params, lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay)

    def _create_state(self, group):
        for parameter in group["params"]:
            self._add_state(parameter, "square_avg")
            self._add_state(parameter, "step", Tensor(np.zeros((), dtype=np.float32)))

    def _moved(self, group, parameter, grad, state):
        state["square_avg"]._reset(state["square_avg"] + grad * grad)
        rate = group.rate / (1 + state["step"] * group["lr_decay"])
        state["step"]._reset(state["step"] + 1)
        return parameter - rate * grad / F.sqrt(state["square_avg"] + group["eps"])


class Adadelta(_Adaptive):
    """p -= lr * d with d = g * sqrt(u + eps) / sqrt(v + eps), u and v moving means of d * d, g * g.

    g = grad + weight_decay * p; the means move by 1 - `rho`.
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
        super().__init__(params, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)

    def _create_state(self, group):
        for parameter in group["params"]:
            self._add_state(parameter, "square_avg")
            self._add_state(parameter, "acc_delta")

    def _moved(self, group, parameter, grad, state):
        rho, eps = group["rho"], group["eps"]
        square, delta = state["square_avg"], state["acc_delta"]
        square._reset(rho * square + (1 - rho) * grad * grad)
        move = grad * F.sqrt(delta + eps) / F.sqrt(square + eps)
        delta._reset(rho * delta + (1 - rho) * move * move)
        return parameter - group.rate * move
