"""Adafactor: steps scaled by means of rows and columns."""

import numpy as np

from .. import functional as F  # noqa: N812
from .checks import check_range
from .composed import Composed, wide


class Adafactor(Composed):
    """Adam's scale of gradients from the means of rows and columns of g * g, which a matrix has in
    place of a number for each element.

    With step t from 1 and b = t^beta2_decay a mean moves by m = (1 - b) * m + b * new. Of matrices
    (more axes are many of them) R are the means of g * g over the last axis, C over the one before,
    v = R * C / max(mean(R), eps1); else v is the mean of g * g itself. u = g / sqrt(max(v,
    eps1^2)); p -= lr * weight_decay * p, then p -= s * u / max(1, rms(u) / d), with s = max(eps2,
    rms(p)) * min(lr, 1 / sqrt(t)). N. Shazeer, M. Stern: Adafactor: Adaptive Learning Rates with
    Sublinear Memory Cost, ICML 2018, in the form of PyTorch's Adafactor; `eps` is (eps1, eps2), and
    None for eps1 the epsilon of the dtype that is computed in.

    ValueError: beta2_decay must not be above 0.

    >>> import tessera as ts
    >>> from tessera.optimizer import Adafactor
    >>> p = ts.Parameter([1.0])
    >>> p.grad = ts.Tensor([3.0])
    >>> _ = Adafactor([p], lr=0.5).step()
    >>> p.item()
    0.5
    """

    decoupled = True
    limits = {"lr": None, "d": None, "weight_decay": None}
    scalar_names = ("step",)

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0,
                 weight_decay=0.0):  # fmt: skip
        check_range("Adafactor", "-beta2_decay", -beta2_decay, 0)
        first, second = eps
        check_range("Adafactor", "eps[0]", 0.0 if first is None else first, 0)
        check_range("Adafactor", "eps[1]", second, 0)
        settings = {"lr": lr, "beta2_decay": beta2_decay, "eps": (first, second), "d": d,
                    "weight_decay": weight_decay}  # fmt: skip
        super().__init__(params, settings)

    def _create_state(self, group):
        super()._create_state(group)
        for parameter in group["params"]:
            shape, kind = tuple(parameter.shape), wide(parameter.dtype)
            shapes = {"variance": shape}
            if len(shape) > 1:
                shapes = {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}
            for name, each in shapes.items():
                zeros = F.zeros(each, kind, device=parameter.device)
                self._add_state(parameter, name, zeros)

    def _moved(self, group, rate, p, g, state):
        step, (first, least) = state["step"] + 1, group["eps"]
        first = float(np.finfo(p.dtype).eps) if first is None else first
        count = step.astype(p.dtype)
        new_share = count ** group["beta2_decay"]
        variance, moved = _variance(g, new_share, state, first)
        u = g / F.sqrt(F.maximum(variance, first * first))
        scale = F.maximum(_rms(p), least) * F.minimum(rate, 1 / F.sqrt(count))
        scale = scale / F.maximum(_rms(u) / group["d"], 1.0)
        if group["weight_decay"]:
            p = p - rate * group["weight_decay"] * p
        return p - scale * u, {**moved, "step": step}


def _variance(g, new_share, state, least):
    """The estimate of the mean of g * g, and the means that it comes from, which have moved."""
    square = g * g

    def _mean(name, new):
        return state[name] + new_share * (new - state[name])

    if "variance" in state:
        variance = _mean("variance", square)
        return variance, {"variance": variance}
    rows = _mean("row_var", F.mean(square, -1, keepdims=True))
    columns = _mean("col_var", F.mean(square, -2, keepdims=True))
    mean = F.maximum(F.mean(rows, -2, keepdims=True), least)
    return rows * columns / mean, {"row_var": rows, "col_var": columns}


def _rms(x):
    return F.sqrt(F.mean(x * x))
