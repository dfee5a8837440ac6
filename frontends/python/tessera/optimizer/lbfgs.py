"""L-BFGS: steps from the curvature that the last gradients show."""

import numpy as np

from .. import effects
from .. import functional as F  # noqa: N812
from ..autodiff.modes import no_grad
from ..tensor import Tensor
from .checks import check_range
from .composed import wide
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer


class LBFGS(Optimizer):
    """Limited-memory BFGS. `step(closure)` takes up to `max_iter` steps p += t * d, d by the two
    loops over the last `history_size` differences of parameters and of gradients.

    t is `lr`, at the very first step min(1, 1 / sum(abs(g))) * lr, or what the line search
    "strong_wolfe" finds from there. It ends when no gradient is above `tolerance_grad`, when the
    slope or a change, the loss' or all parameters', is within `tolerance_change`, or when the loss
    was computed `max_eval` times. J. Nocedal, S. Wright: Numerical Optimization, 2nd edition,
    algorithm 7.5; settings as PyTorch's LBFGS.

    Raises:
        ValueError: there must be one group; settings must be finite and within their limits
        RuntimeError: step must not be traced, because it looks at values

    >>> import tessera as ts
    >>> from tessera.optimizer import LBFGS
    >>> from tessera.autodiff import GradManager
    >>> p = ts.Parameter([3.0, -2.0])
    >>> manager = GradManager().attach(p)
    >>> def loss():
    ...     with manager:
    ...         value = ((p - 1) ** 2).sum()
    ...         manager.backward(value)
    ...     return value
    >>> first = LBFGS([p], line_search_fn="strong_wolfe").step(loss)
    >>> first.item(), p.numpy().round(3).tolist()
    (13.0, [1.0, 1.0])
    """

    limits = {"lr": None, "max_iter": None, "max_eval": None, "tolerance_grad": None,
              "tolerance_change": None, "history_size": None}  # fmt: skip

    def __init__(self, params, lr=1.0, max_iter=20, max_eval=None, tolerance_grad=1e-7,
                 tolerance_change=1e-9, history_size=100, line_search_fn=None):  # fmt: skip
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(
                f"LBFGS: line_search_fn must be None or 'strong_wolfe', got {line_search_fn!r}"
            )
        check_range("LBFGS", "max_iter", max_iter, 0)
        self._history = []  # (difference of parameters, of gradients), flat
        self._last = None  # (direction, gradient, step) of the last step
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "tolerance_grad": tolerance_grad,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn})  # fmt: skip

    def add_param_group(self, param_group):
        """Only once: the parameters are one vector."""
        if self.param_groups:
            raise ValueError("LBFGS: there must be one group, got another")
        super().add_param_group(param_group)

    def _create_state(self, group):
        pass

    def _updates(self, group):
        raise RuntimeError("LBFGS: step must be given a closure, got none")

    def step(self, closure=None):
        """Some steps. `closure` computes the loss and its gradients, which are cleared before; a
        warning says where it gives none.

        Returns:
            the loss before the steps, float[]
        """
        if effects.is_tracing():
            raise RuntimeError("LBFGS: step must run eagerly, got a call within a traced function")
        if closure is None:
            return self._updates(self.param_groups[0])
        self._closure, self._evaluations = closure, 0
        try:
            return self._minimize(self.param_groups[0])
        finally:
            del self._closure

    def _minimize(self, group):
        loss, gradient = self._evaluate()
        value, first = loss.item(), loss
        for _ in range(int(group["max_iter"])):
            if not _largest(gradient) > group["tolerance_grad"]:
                break
            if self._evaluations >= group["max_eval"]:
                break
            direction, step = self._direction(group, gradient)
            slope = _dot(gradient, direction)
            if not slope < -group["tolerance_change"]:
                break
            before = Point(0.0, value, slope, gradient)
            after = self._move(group, before, direction, step)
            self._last = direction, gradient, after.step
            value, gradient = after.value, after.data
            moved, limit = _largest(direction) * abs(after.step), group["tolerance_change"]
            if moved <= limit or abs(value - before.value) < limit:
                break
        return first

    def _direction(self, group, gradient):
        """The direction by the two loops, and the step to try; notes what the last one showed."""
        if self._last is None and not self._history:
            return -gradient, min(1.0, 1.0 / F.sum(F.abs(gradient)).item()) * group["lr"]
        if self._last is not None:
            direction, before, step = self._last
            change, moved = gradient - before, direction * step
            self._last = None
            if _dot(change, moved) > 1e-10:
                first = max(len(self._history) + 1 - int(group["history_size"]), 0)
                self._history = [*self._history, (moved, change)][first:]
        return _two_loops(self._history, gradient), group["lr"]

    def _move(self, group, before, direction, step):
        """The Point after the step; the parameters stay where the closure fails."""
        start = self._values()
        try:
            if group["line_search_fn"] is None:
                return self._point(start, direction, step)
            left = max(int(group["max_eval"]) - self._evaluations, 1)
            after = strong_wolfe(lambda t: self._point(start, direction, t), step, before, left)
        except BaseException:
            self._assign(start)
            raise
        self._assign(start + direction * after.step)
        return after

    def _point(self, start, direction, step):
        self._assign(start + direction * step)
        loss, gradient = self._evaluate()
        return Point(step, loss.item(), _dot(gradient, direction), gradient)

    def _evaluate(self):
        self.clear_grad()
        loss = self._closure()
        self._evaluations += 1
        self._warn_without_gradients()
        with no_grad():
            return loss.detach(), self._flat([_gradient(p) for p in self._parameters()])

    def _parameters(self):
        return self.param_groups[0]["params"]

    def _values(self):
        return self._flat([parameter.detach() for parameter in self._parameters()])

    def _flat(self, tensors):
        return F.concat([each.astype(wide(each.dtype)).reshape(-1) for each in tensors])

    def _assign(self, vector):
        start = 0
        for parameter in self._parameters():
            part = vector[start : start + parameter.size].reshape(parameter.shape)
            if not parameter._is_frozen:
                parameter._reset(part.astype(parameter.dtype))
            start += parameter.size

    def state_dict(self, keep_var=False):
        """Settings, and the differences that the directions come from."""
        as_saved = lambda tensor: tensor if keep_var else tensor.numpy()  # noqa: E731
        last = self._last and [as_saved(self._last[0]), as_saved(self._last[1]), self._last[2]]
        history = [[as_saved(each) for each in pair] for pair in self._history]
        return {**super().state_dict(keep_var), "history": history, "last": last}

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken.

        Raises:
            ValueError: groups, settings and the number of values must be this optimizer's
        """
        size, tensors = self._values().size, [each for pair in state["history"] for each in pair]
        tensors += state["last"][:2] if state["last"] else []
        wrong = sorted({tuple(np.shape(each)) for each in tensors} - {(size,)})
        if wrong:
            raise ValueError(f"LBFGS: history must be of {size} values, got shapes {wrong}")
        super().load_state_dict(state)
        values = self._values()
        load = lambda value: Tensor(np.asarray(value), values.dtype, values.device)  # noqa: E731
        self._history = [(load(one), load(other)) for one, other in state["history"]]
        last = state["last"]
        self._last = (load(last[0]), load(last[1]), last[2]) if last else None


def _gradient(parameter):
    has_none = parameter.grad is None or parameter._is_frozen
    return F.zeros_like(parameter.detach()) if has_none else parameter.grad


def _two_loops(history, gradient):
    """-H * gradient, H the inverse of the Hessian that the history shows."""
    direction, shares = -gradient, []
    for moved, change in reversed(history):
        share = _dot(moved, direction) / _dot(moved, change)
        direction = direction - share * change
        shares.append(share)
    if history:
        moved, change = history[-1]
        direction = direction * (_dot(moved, change) / _dot(change, change))
    for (moved, change), share in zip(history, reversed(shares), strict=True):
        direction = direction + (share - _dot(change, direction) / _dot(moved, change)) * moved
    return direction


def _dot(one, other):
    return F.sum(one * other).item()


def _largest(tensor):
    return F.max(F.abs(tensor)).item()
