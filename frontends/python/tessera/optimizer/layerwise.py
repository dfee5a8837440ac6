"""Steps scaled by the norm of each parameter: LAMB and LARS."""

from .. import functional as F  # noqa: N812
from .composed import Composed, unbiased


class LAMB(Composed):
    """p -= lr * r * d with d = m / (sqrt(v) + eps) + weight_decay * p and r = norm(p) / norm(d).

    m and v are the moving means of grad and grad * grad, with `bias_correction` divided by
    1 - beta^t. r is 1 where a norm is 0, and, but for `always_adapt`, without weight decay.
    Y. You et al.: Large Batch Optimization for Deep Learning, ICLR 2020, as MegEngine's LAMB.

    >>> import tessera as ts
    >>> from tessera.optimizer import LAMB
    >>> p = ts.Parameter([2.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = LAMB([p], lr=0.5, always_adapt=True).step()
    >>> p.item()
    1.0
    """

    decoupled = True
    limits = {"lr": None, "betas": (1, 1), "eps": None, "weight_decay": None}
    state_names, scalar_names = ("exp_avg", "exp_avg_sq"), ("step",)
    attribute_names = "bias_correction", "always_adapt"

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, bias_correction=True,
                 weight_decay=0.0, always_adapt=False):  # fmt: skip
        self.bias_correction, self.always_adapt = bias_correction, always_adapt
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        (beta1, beta2), step = group["betas"], state["step"] + 1
        moved = {"exp_avg": beta1 * state["exp_avg"] + (1 - beta1) * g, "step": step,
                 "exp_avg_sq": beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g}  # fmt: skip
        mean, square = moved["exp_avg"], moved["exp_avg_sq"]
        if self.bias_correction:
            mean, square = unbiased(mean, beta1, step), unbiased(square, beta2, step)
        direction = mean / (F.sqrt(square) + group["eps"])
        if group["weight_decay"]:
            direction = direction + group["weight_decay"] * p
        if group["weight_decay"] or self.always_adapt:
            rate = rate * _ratio(_norm(p), _norm(direction))
        return p - rate * direction, moved


class LAMBFp16(LAMB):
    """LAMB of float16 parameters: the steps are added to float32 copies, which are rounded to them.

    >>> import tessera as ts
    >>> from tessera.optimizer import LAMBFp16
    >>> p = ts.Parameter([2.0], dtype="float16")
    >>> p.grad = ts.Tensor([3.0], dtype="float16")
    >>> _ = LAMBFp16([p], lr=0.5, always_adapt=True).step()
    >>> p.item(), p.dtype
    (1.0, dtype('float16'))
    """

    def _create_state(self, group):
        super()._create_state(group)
        for parameter in group["params"]:
            self._add_state(parameter, "param_fp32", parameter.detach().astype("float32"))

    def _moved(self, group, rate, p, g, state):
        value, moved = super()._moved(group, rate, state["param_fp32"], g, state)
        return value, {**moved, "param_fp32": value}


class LARS(Composed):
    """p -= v with v = momentum * v + lr * r * (grad + weight_decay * p) and
    r = trust * norm(p) / (norm(grad) + weight_decay * norm(p) + eps).

    r is 1 where a norm is 0. Y. You et al.: Large Batch Training of Convolutional Networks,
    arXiv:1708.03888, algorithm 1.

    >>> import tessera as ts
    >>> from tessera.optimizer import LARS
    >>> p = ts.Parameter([2.0])
    >>> p.grad = ts.Tensor([4.0])
    >>> _ = LARS([p], lr=0.5, trust=1.0).step()
    >>> p.item()
    1.0
    """

    decoupled = True
    limits = {"lr": None, "momentum": None, "weight_decay": None, "trust": None, "eps": None}
    state_names = ("momentum_buffer",)

    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0, trust=1e-3, eps=1e-8):
        settings = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "trust": trust,
                    "eps": eps}  # fmt: skip
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        decay, norms = group["weight_decay"], (_norm(p), _norm(g))
        total = norms[1] + decay * norms[0] + group["eps"]
        ratio = _where_both(norms, group["trust"] * norms[0] / total)
        step = group["momentum"] * state["momentum_buffer"] + rate * ratio * (g + decay * p)
        return p - step, {"momentum_buffer": step}


def _norm(tensor):
    return F.sqrt(F.sum(tensor * tensor))


def _ratio(one, other):
    """one / other, and 1 where one of them is 0."""
    return _where_both((one, other), one / other)


def _where_both(norms, ratio):
    """`ratio` where both norms are above 0, else 1."""
    return F.where(F.logical_and(norms[0] > 0, norms[1] > 0), ratio, F.ones_like(ratio))
