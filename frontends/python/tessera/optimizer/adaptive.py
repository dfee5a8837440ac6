"""Steps scaled by the gradients so far: Adagrad, Adadelta, RMSprop and Ftrl."""

from .. import functional as F  # noqa: N812
from .composed import Composed


class Adagrad(Composed):
    """p -= lr / (1 + t * lr_decay) * g / sqrt(s + eps), s the sum of g * g, t the steps before.

    g = grad + weight_decay * p. J. Duchi et al.: Adaptive Subgradient Methods for Online Learning
    and Stochastic Optimization, JMLR 2011, in the form that MegEngine's Adagrad has.

    >>> import tessera as ts
    >>> from tessera.optimizer import Adagrad
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Adagrad([p], lr=0.5).step()
    >>> p.item()
    0.5
    """

    limits = {"lr": None, "lr_decay": None, "eps": None, "weight_decay": None}
    state_names, scalar_names = ("square_avg",), ("step",)

    def __init__(self, params, lr=1e-2, lr_decay=0.0, eps=1e-10, weight_decay=0.0):
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        square = state["square_avg"] + g * g
        rate = rate / (1 + state["step"] * group["lr_decay"]).astype(p.dtype)
        moved = {"square_avg": square, "step": state["step"] + 1}
        return p - rate * g / F.sqrt(square + group["eps"]), moved


class Adadelta(Composed):
    """p -= lr * d with d = g * sqrt(u + eps) / sqrt(v + eps), u and v moving means of d * d, g * g.

    g = grad + weight_decay * p; the means move by 1 - `rho`. M. Zeiler: ADADELTA, arXiv:1212.5701.

    >>> import tessera as ts
    >>> from tessera.optimizer import Adadelta
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Adadelta([p], rho=0.0, eps=1.0).step()
    >>> round(p.item(), 4)
    0.0513
    """

    limits = {"lr": None, "rho": 1, "eps": None, "weight_decay": None}
    state_names = "square_avg", "acc_delta"
    unused_names = ("step",)

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    def _moved(self, group, rate, p, g, state):
        rho, eps = group["rho"], group["eps"]
        square = rho * state["square_avg"] + (1 - rho) * g * g
        move = g * F.sqrt(state["acc_delta"] + eps) / F.sqrt(square + eps)
        delta = rho * state["acc_delta"] + (1 - rho) * move * move
        return p - rate * move, {"square_avg": square, "acc_delta": delta}


class RMSprop(Composed):
    """p -= lr * b with b = momentum * b + g / (sqrt(v) + eps), v the moving mean of g * g.

    g = grad + weight_decay * p; means move by 1 - `alpha`. When `centered`, the square of the mean
    of g is taken off v. T. Tieleman, G. Hinton: Lecture 6.5, Neural Networks for Machine Learning,
    2012; centered: A. Graves, arXiv:1308.0850. As PyTorch's RMSprop.

    >>> import tessera as ts
    >>> from tessera.optimizer import RMSprop
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = RMSprop([p], lr=0.5, alpha=0.0).step()
    >>> p.item()
    0.5
    """

    limits = {"lr": None, "alpha": 1, "eps": None, "weight_decay": None, "momentum": None}
    state_names = "square_avg", "grad_avg", "momentum_buffer"

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0,
                 centered=False):  # fmt: skip
        settings = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
                    "momentum": momentum, "centered": centered}  # fmt: skip
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        alpha = group["alpha"]
        moved = {"square_avg": alpha * state["square_avg"] + (1 - alpha) * g * g}
        mean_square = moved["square_avg"]
        if group["centered"]:
            moved["grad_avg"] = alpha * state["grad_avg"] + (1 - alpha) * g
            mean_square = F.maximum(mean_square - moved["grad_avg"] * moved["grad_avg"], 0.0)
        step = g / (F.sqrt(mean_square) + group["eps"])
        if group["momentum"]:
            step = group["momentum"] * state["momentum_buffer"] + step
            moved["momentum_buffer"] = step
        return p - rate * step, moved


class Ftrl(Composed):
    """p = -(z - sign(z) * l1) / ((beta + sqrt(n)) / lr + l2), and 0 where abs(z) <= l1.

    n is the sum of g * g, z that of g - p * (sqrt(n) - sqrt(n before)) / lr; g = grad +
    weight_decay * p. FTRL-Proximal: H. B. McMahan et al.: Ad Click Prediction: a View from the
    Trenches, KDD 2013, algorithm 1. A parameter's first value counts as far as n starts above 0.

    >>> import tessera as ts
    >>> from tessera.optimizer import Ftrl
    >>> p = ts.Parameter([0.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Ftrl([p], lr=1.0, l1=1.0).step()
    >>> p.item()
    -0.5
    """

    limits = {"lr": None, "beta": None, "l1": None, "l2": None, "weight_decay": None}
    state_names = "z", "n"

    def __init__(self, params, lr=0.1, beta=1.0, l1=0.0, l2=0.0, weight_decay=0.0):
        settings = {"lr": lr, "beta": beta, "l1": l1, "l2": l2, "weight_decay": weight_decay}
        super().__init__(params, settings)

    def _moved(self, group, rate, p, g, state):
        squares = state["n"] + g * g
        root = F.sqrt(squares)
        z = state["z"] + g - p * ((root - F.sqrt(state["n"])) / rate)
        pulled = F.sign(z) * F.maximum(F.abs(z) - group["l1"], 0.0)
        value = -pulled / ((group["beta"] + root) / rate + group["l2"])
        return value, {"z": z, "n": squares}
