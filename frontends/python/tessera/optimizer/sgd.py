"""Stochastic gradient descent."""

from .. import _core
from .optimizer import Optimizer


def check_range(name, what, value, low, below=None):
    """ValueError unless low <= value < below."""
    if value < low or (below is not None and value >= below):
        upper = "" if below is None else f" and < {below}"
        raise ValueError(f"{name}: {what} must be >= {low}{upper}, got {value}")


class SGD(Optimizer):
    """p -= lr * v, with v = momentum * v + g and g = grad + weight_decay * p.

    With `nesterov` the step is lr * (g + momentum * v). Without momentum v is g.
    """

    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        check_range("SGD", "lr", lr, 0)
        check_range("SGD", "momentum", momentum, 0)
        check_range("SGD", "weight_decay", weight_decay, 0)
        if nesterov and momentum <= 0:
            raise ValueError(f"SGD: nesterov must come with momentum, got {momentum}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, defaults)

    def _create_state(self, group):
        for parameter in group["params"]:
            self._add_state(parameter, "momentum_buffer")

    def _updates(self, group):
        settings = {key: group[key] for key in ("momentum", "weight_decay", "nesterov")}
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            velocity = self._state[id(parameter)]["momentum_buffer"]
            value, moved = _core.ops.sgd_update(
                parameter, parameter.grad, velocity, group.rate, **settings
            )
            parameter._reset(value)
            velocity._reset(moved)
