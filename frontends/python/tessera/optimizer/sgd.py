"""Stochastic gradient descent."""

from .. import _core, effects
from .compiled import Compiled


class SGD(Compiled):
    """p -= lr * v, with v = momentum * v + g and g = grad + weight_decay * p.

    With `nesterov` the step is lr * (g + momentum * v). Without momentum v is g.
    I. Sutskever et al.: On the Importance of Initialization and Momentum in Deep Learning, ICML
    2013, in PyTorch's form.

    >>> import tessera as ts
    >>> from tessera.optimizer import SGD
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([2.0])
    >>> _ = SGD([p], lr=0.25).step()
    >>> p.item()
    0.5
    """

    limits = {"lr": None, "momentum": None, "weight_decay": None}

    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
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
        if group["momentum"]:
            for parameter in group["params"]:
                self._add_state(parameter, "momentum_buffer")

    def _updates(self, group):
        if group["momentum"]:
            self._add_missing_buffers(group)
        super()._updates(group)

    def _add_missing_buffers(self, group):
        """Of a group that starts to have momentum."""
        for parameter in group["params"]:
            if self._state_of(parameter):
                continue
            if effects.is_tracing():
                raise RuntimeError(
                    "SGD: momentum must be set before the step is traced, because a trace makes "
                    f"no new state, got {group['momentum']}"
                )
            self._add_state(parameter, "momentum_buffer")

    def _update_parameter(self, group, parameter, grad):
        velocity = self._state_of(parameter).get("momentum_buffer")
        before = grad if velocity is None else velocity
        value, moved = _core.ops.sgd_update(
            parameter, grad, before, group.rate, momentum=group["momentum"],
            weight_decay=group["weight_decay"], nesterov=group["nesterov"],
        )  # fmt: skip
        is_own = value.dtype == parameter.dtype
        parameter._reset(value if is_own else value.astype(parameter.dtype))
        if velocity is not None:
            velocity._reset(moved)
