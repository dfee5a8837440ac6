"""Steps along the moving mean of gradients: Adamax, Nadam, RAdam and Lion."""

import math

from .. import functional as F  # noqa: N812
from .composed import Composed, unbiased, wide

_LOG_096 = math.log(0.96)


class Adamax(Composed):
    """p -= lr * m / ((1 - beta1^t) * u), m the moving mean of g, u = max(beta2 * u, abs(g) + eps).

    g = grad + weight_decay * p; t counts steps from 1. D. P. Kingma, J. Ba: Adam, ICLR 2015,
    algorithm 2, with eps as PyTorch's Adamax has it.

    >>> import tessera as ts
    >>> from tessera.optimizer import Adamax
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Adamax([p], lr=0.5).step()
    >>> p.item()
    0.5
    """

    limits = {"lr": None, "betas": (1, 1), "eps": None, "weight_decay": None}
    state_names, scalar_names = ("exp_avg", "exp_inf"), ("step",)

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        (beta1, beta2), step = group["betas"], state["step"] + 1
        mean = beta1 * state["exp_avg"] + (1 - beta1) * g
        largest = F.maximum(beta2 * state["exp_inf"], F.abs(g) + group["eps"])
        moved = {"exp_avg": mean, "exp_inf": largest, "step": step}
        return p - rate * unbiased(mean, beta1, step) / largest, moved


class Nadam(Composed):
    """Adam with Nesterov's momentum: p -= lr * d / (sqrt(v / (1 - beta2^t)) + eps) with
    d = (1 - mu) * g / (1 - prod) + next * m / (1 - prod * next).

    m and v are the moving means of g and g * g; mu = beta1 * (1 - 0.96^(t * momentum_decay) / 2),
    next is mu of step t + 1, prod the product of all mu so far; g = grad + weight_decay * p.
    T. Dozat: Incorporating Nesterov Momentum into Adam, ICLR 2016 workshop; as PyTorch's NAdam.

    >>> import tessera as ts
    >>> from tessera.optimizer import Nadam
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Nadam([p], lr=0.5, betas=(0.0, 0.999)).step()
    >>> round(p.item(), 5)
    0.5
    """

    limits = {"lr": None, "betas": (1, 1), "eps": None, "weight_decay": None,
              "momentum_decay": None}  # fmt: skip
    state_names, scalar_names = ("exp_avg", "exp_avg_sq"), ("step", "mu_product")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0,
                 momentum_decay=4e-3):  # fmt: skip
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                    "momentum_decay": momentum_decay}  # fmt: skip
        super().__init__(params, settings)

    def _create_state(self, group):
        super()._create_state(group)
        for parameter in group["params"]:
            product = self._state_of(parameter)["mu_product"]
            product._reset(F.ones((), dtype=wide(parameter.dtype)))

    def _moved(self, group, rate, p, g, state):
        (beta1, beta2), step = group["betas"], state["step"] + 1
        mean = beta1 * state["exp_avg"] + (1 - beta1) * g
        square = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
        count, decay = step.astype(p.dtype), group["momentum_decay"]
        mu = beta1 * (1 - 0.5 * F.exp(count * (decay * _LOG_096)))
        following = beta1 * (1 - 0.5 * F.exp((count + 1) * (decay * _LOG_096)))
        product = state["mu_product"] * mu
        ahead = g * ((1 - mu) / (1 - product)) + mean * (following / (1 - product * following))
        scale = F.sqrt(unbiased(square, beta2, step)) + group["eps"]
        moved = {"exp_avg": mean, "exp_avg_sq": square, "step": step, "mu_product": product}
        return p - rate * ahead / scale, moved


class RAdam(Composed):
    """Adam that waits until the moving mean v of g * g is sure: p -= lr * r * m' / (sqrt(v') + eps)
    once rho > 5, before that p -= lr * m'.

    m' and v' are the corrected moving means of g and g * g; rho = rho_inf - 2 * t * beta2^t /
    (1 - beta2^t), rho_inf = 2 / (1 - beta2) - 1, r = sqrt((rho - 4) * (rho - 2) * rho_inf /
    ((rho_inf - 4) * (rho_inf - 2) * rho)); g = grad + weight_decay * p. L. Liu et al.: On the
    Variance of the Adaptive Learning Rate and Beyond, ICLR 2020, algorithm 2, with Adam's eps.

    >>> import tessera as ts
    >>> from tessera.optimizer import RAdam
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = RAdam([p], lr=0.5).step()
    >>> p.item()
    -0.5
    """

    limits = {"lr": None, "betas": (1, 1), "eps": None, "weight_decay": None}
    state_names, scalar_names = ("exp_avg", "exp_avg_sq"), ("step",)

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        (beta1, beta2), step = group["betas"], state["step"] + 1
        mean = beta1 * state["exp_avg"] + (1 - beta1) * g
        square = beta2 * state["exp_avg_sq"] + (1 - beta2) * g * g
        corrected = unbiased(mean, beta1, step)
        longest = 2 / (1 - beta2) - 1
        count = step.astype(p.dtype)
        length = longest - 2 * count * _powers(beta2, count)
        share = (length - 4) * (length - 2) * longest
        share = share / ((longest - 4) * (longest - 2) * length)
        scaled = (
            F.sqrt(F.maximum(share, 0.0))
            * corrected
            / (F.sqrt(unbiased(square, beta2, step)) + group["eps"])
        )
        moved = {"exp_avg": mean, "exp_avg_sq": square, "step": step}
        return p - rate * F.where(length > 5, scaled, corrected), moved


def _powers(beta, step):
    """beta^step / (1 - beta^step), by which the length of a moving mean falls short."""
    if beta == 0:
        return step * 0
    power = F.exp(step * math.log(beta))
    return power / -F.expm1(step * math.log(beta))


class Lion(Composed):
    """p -= lr * (sign(beta1 * m + (1 - beta1) * grad) + weight_decay * p), then
    m = beta2 * m + (1 - beta2) * grad.

    X. Chen et al.: Symbolic Discovery of Optimization Algorithms, NeurIPS 2023.

    >>> import tessera as ts
    >>> from tessera.optimizer import Lion
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Lion([p], lr=0.5).step()
    >>> p.item()
    0.5
    """

    decoupled = True
    limits = {"lr": None, "betas": (1, 1), "weight_decay": None}
    state_names = ("exp_avg",)

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    def _moved(self, group, rate, p, g, state):
        beta1, beta2 = group["betas"]
        direction = F.sign(beta1 * state["exp_avg"] + (1 - beta1) * g)
        if group["weight_decay"]:
            direction = direction + group["weight_decay"] * p
        return p - rate * direction, {"exp_avg": beta2 * state["exp_avg"] + (1 - beta2) * g}
