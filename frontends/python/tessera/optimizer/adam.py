"""Adam and AdamW."""

from .. import _core
from .. import functional as F  # noqa: N812
from .compiled import Compiled


class Adam(Compiled):
    """Steps of lr * m / (sqrt(v) + eps), m and v the corrected moving means of g and g * g.

    g = grad + weight_decay * p. The state of half precision is float32. D. P. Kingma, J. Ba: Adam,
    ICLR 2015.

    >>> import tessera as ts
    >>> from tessera.optimizer import Adam
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Adam([p], lr=0.5).step()
    >>> round(p.item(), 4)
    0.5
    """

    decoupled, attribute_names = False, ("decoupled",)
    limits = {"lr": None, "betas": (1, 1), "eps": None, "weight_decay": None}

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    def _create_state(self, group):
        for parameter in group["params"]:
            self._add_state(parameter, "exp_avg")
            self._add_state(parameter, "exp_avg_sq")
            self._add_state(parameter, "step", F.zeros((), "float32", device=parameter.device))

    def _update_parameter(self, group, parameter, grad):
        beta1, beta2 = group["betas"]
        state = self._state_of(parameter)
        state["step"]._reset(state["step"] + 1)
        value, mean, square = _core.ops.adam_update(
            parameter, grad, state["exp_avg"], state["exp_avg_sq"], group.rate, state["step"],
            beta1=beta1, beta2=beta2, epsilon=group["eps"], weight_decay=group["weight_decay"],
            decoupled=self.decoupled)  # fmt: skip
        is_own = value.dtype == parameter.dtype
        parameter._reset(value if is_own else value.astype(parameter.dtype))
        state["exp_avg"]._reset(mean)
        state["exp_avg_sq"]._reset(square)


class AdamW(Adam):
    """Adam with g = grad, and p shrunk by lr * weight_decay * p on its own.

    I. Loshchilov, F. Hutter: Decoupled Weight Decay Regularization, ICLR 2019.

    >>> import tessera as ts
    >>> from tessera.optimizer import AdamW
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = AdamW([p], lr=0.5, weight_decay=0.5).step()
    >>> round(p.item(), 4)
    0.25
    """

    decoupled = True

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, lr, betas, eps, weight_decay)
