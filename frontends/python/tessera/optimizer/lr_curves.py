"""Learning-rate schedules that are a curve of the epoch, or of whatever `step` counts."""

import math
from bisect import bisect_left

from .checks import check_range
from .lr_scheduler import LRScheduler


def check_count(name, what, value):
    """ValueError unless `value` is an int of at least 1.

    >>> from tessera.optimizer.lr_curves import check_count
    >>> check_count("LinearLR", "total_iters", 0)
    Traceback (most recent call last):
    ValueError: LinearLR: total_iters must be an int >= 1, got 0
    """
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{name}: {what} must be an int >= 1, got {value!r}")


class LinearLR(LRScheduler):
    """The learning rate times a factor that goes from `start_factor` to `end_factor` in a line.

    It is at its end after `total_iters` epochs.

    >>> import tessera as ts
    >>> from tessera.optimizer import LinearLR
    >>> from tessera.optimizer import SGD
    >>> schedule = LinearLR(SGD([ts.Parameter([1.0])], lr=1.0), 0.5, total_iters=2)
    >>> [schedule.step(epoch).get_lr() for epoch in range(3)]
    [[0.5], [0.75], [1.0]]
    """

    def __init__(self, optimizer, start_factor=1 / 3, end_factor=1.0, total_iters=5,
                 current_epoch=-1):  # fmt: skip
        check_range("LinearLR", "start_factor", start_factor, 0)
        check_range("LinearLR", "end_factor", end_factor, 0)
        check_count("LinearLR", "total_iters", total_iters)
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        share = min(self.current_epoch, self.total_iters) / self.total_iters
        factor = self.start_factor + (self.end_factor - self.start_factor) * share
        return [rate * factor for rate in self.base_lrs]


class ConstantLR(LRScheduler):
    """The learning rate times `factor` for `total_iters` epochs, then itself.

    >>> import tessera as ts
    >>> from tessera.optimizer import ConstantLR
    >>> from tessera.optimizer import SGD
    >>> schedule = ConstantLR(SGD([ts.Parameter([1.0])], lr=1.0), 0.5, total_iters=2)
    >>> [schedule.step(epoch).get_lr() for epoch in range(3)]
    [[0.5], [0.5], [1.0]]
    """

    def __init__(self, optimizer, factor=1 / 3, total_iters=5, current_epoch=-1):
        check_range("ConstantLR", "factor", factor, 0)
        check_count("ConstantLR", "total_iters", total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        factor = self.factor if self.current_epoch < self.total_iters else 1
        return [rate * factor for rate in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The learning rate times (1 - epoch / total_iters) ** power, and 0 from `total_iters` on.

    >>> import tessera as ts
    >>> from tessera.optimizer import PolynomialLR
    >>> from tessera.optimizer import SGD
    >>> schedule = PolynomialLR(SGD([ts.Parameter([1.0])], lr=1.0), total_iters=2, power=2.0)
    >>> [schedule.step(epoch).get_lr() for epoch in range(3)]
    [[1.0], [0.25], [0.0]]
    """

    def __init__(self, optimizer, total_iters=5, power=1.0, current_epoch=-1):
        check_count("PolynomialLR", "total_iters", total_iters)
        check_range("PolynomialLR", "power", power, 0)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        left = 1 - min(self.current_epoch, self.total_iters) / self.total_iters
        return [rate * left**self.power for rate in self.base_lrs]


class WarmupLR(LinearLR):
    """The first `warmup_iters` epochs below the learning rate: rising from `warmup_factor` times it
    in a line, or with `warmup_method="constant"` staying there.

    `SequentialLR` joins it with what follows.

    >>> import tessera as ts
    >>> from tessera.optimizer import WarmupLR
    >>> from tessera.optimizer import SGD
    >>> schedule = WarmupLR(SGD([ts.Parameter([1.0])], lr=1.0), 0.5, warmup_iters=2)
    >>> [schedule.step(epoch).get_lr() for epoch in range(3)]
    [[0.5], [0.75], [1.0]]
    """

    def __init__(self, optimizer, warmup_factor=1 / 3, warmup_iters=5, warmup_method="linear",
                 current_epoch=-1):  # fmt: skip
        check_range("WarmupLR", "warmup_factor", warmup_factor, 0)
        check_count("WarmupLR", "warmup_iters", warmup_iters)
        if warmup_method not in ("linear", "constant"):
            raise ValueError(
                f"WarmupLR: warmup_method must be 'linear' or 'constant', got {warmup_method!r}"
            )
        self.warmup_method = warmup_method
        super().__init__(optimizer, warmup_factor, 1.0, warmup_iters, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        if self.warmup_method == "linear" or self.current_epoch >= self.total_iters:
            return super().get_lr()
        return [rate * self.start_factor for rate in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the learning rate down to `eta_min` in `T_0` epochs, then again from the
    top in `T_mult` times as many.

    I. Loshchilov, F. Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, ICLR 2017.

    >>> import tessera as ts
    >>> from tessera.optimizer import CosineAnnealingWarmRestarts
    >>> from tessera.optimizer import SGD
    >>> schedule = CosineAnnealingWarmRestarts(SGD([ts.Parameter([1.0])], lr=1.0), T_0=1, T_mult=2)
    >>> [round(schedule.step(epoch).get_lr()[0], 2) for epoch in range(4)]
    [1.0, 1.0, 0.5, 1.0]
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, current_epoch=-1):  # noqa: N803
        check_count("CosineAnnealingWarmRestarts", "T_0", T_0)
        check_count("CosineAnnealingWarmRestarts", "T_mult", T_mult)
        check_range("CosineAnnealingWarmRestarts", "eta_min", eta_min, 0)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        epoch, length = self.current_epoch, self.T_0
        if self.T_mult == 1:
            epoch %= length
        while epoch >= length:
            epoch, length = epoch - length, length * self.T_mult
        share = (1 + math.cos(math.pi * epoch / length)) / 2
        return [self.eta_min + (rate - self.eta_min) * share for rate in self.base_lrs]


_ANNEALING = {
    "cos": lambda start, end, share: end + (start - end) / 2 * (1 + math.cos(math.pi * share)),
    "linear": lambda start, end, share: start + (end - start) * share,
}


class OneCycleLR(LRScheduler):
    """One rise from `max_lr / div_factor` to `max_lr` and one fall to the former /
    `final_div_factor`, in `total_steps` steps or `epochs * steps_per_epoch`; for each batch a step.
    A step after the last batch, as a loop makes it, leaves the rate at its end.

    The rise takes the share `pct_start` of the steps; with `three_phase` the fall to the start is
    as long as the rise, and the rest goes down to the end. `cycle_momentum` moves momentum, or
    betas[0], from `max_momentum` to `base_momentum` and back; a traced step is recorded anew
    whenever they change. L. N. Smith, N. Topin: Super-Convergence, arXiv:1708.07120; as PyTorch's.

    Raises:
        ValueError: there must be a number of steps, pct_start must be below 1, and with three_phase
            at most half of the steps, the optimizer must have momentum to cycle, and no step may
            come after that of the last batch

    >>> import tessera as ts
    >>> from tessera.optimizer import OneCycleLR
    >>> from tessera.optimizer import SGD
    >>> optimizer = SGD([ts.Parameter([1.0])], lr=1.0)
    >>> schedule = OneCycleLR(optimizer, 5.0, 5, pct_start=0.6, cycle_momentum=False)
    >>> [round(schedule.step(step).get_lr()[0], 4) for step in range(5)]
    [0.2, 2.6, 5.0, 2.5, 0.0]
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None,
                 pct_start=0.3, anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85,
                 max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False,
                 current_epoch=-1):  # fmt: skip
        if total_steps is None:
            check_count("OneCycleLR", "epochs", epochs)
            check_count("OneCycleLR", "steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        check_count("OneCycleLR", "total_steps", total_steps)
        check_range("OneCycleLR", "pct_start", pct_start, 0, below=1)
        if anneal_strategy not in _ANNEALING:
            raise ValueError(
                f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}"
            )
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        self.cycle_momentum = cycle_momentum
        rises, last = pct_start * total_steps - 1, total_steps - 1
        if three_phase and 2 * rises > last:
            raise ValueError(
                f"OneCycleLR: pct_start must be at most half of the steps with three_phase, "
                f"got {pct_start}"
            )
        self._ends = [rises, 2 * rises, last] if three_phase else [rises, last]
        self._momenta = [max_momentum, base_momentum] + [max_momentum] * (2 if three_phase else 1)
        self._rates = [_corners(rate, div_factor, final_div_factor, three_phase)
                       for rate in _for_each("max_lr", max_lr, optimizer)]  # fmt: skip
        super().__init__(optimizer, current_epoch)

    def _start(self):
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                if not (group.get("momentum") or "betas" in group):
                    raise ValueError(
                        "OneCycleLR: the optimizer must have momentum or betas for cycle_momentum, "
                        f"got {type(self.optimizer).__name__} with {sorted(group)}"
                    )
        super()._start()

    def get_lr(self):
        """One learning rate for each group."""
        return [self._at(corners) for corners in self._rates]

    def step(self, epoch=None):
        """The next step, or step number `epoch`; returns the scheduler."""
        following = self.current_epoch + 1 if epoch is None else epoch
        if following > self.total_steps:
            raise ValueError(
                f"OneCycleLR: steps must be at most total_steps {self.total_steps}, got {following}"
            )
        return super().step(epoch)

    def _set_rates(self):
        super()._set_rates()
        if self.cycle_momentum:
            momentum = self._at(self._momenta)
            for group in self.optimizer.param_groups:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum

    def _at(self, corners):
        """The value of the curve through `corners` now."""
        number = min(bisect_left(self._ends, self.current_epoch), len(self._ends) - 1)
        start = self._ends[number - 1] if number else 0
        share = min((self.current_epoch - start) / ((self._ends[number] - start) or 1), 1)
        return _ANNEALING[self.anneal_strategy](corners[number], corners[number + 1], share)


def _corners(highest, div_factor, final_div_factor, three_phase):
    for what, value in (("max_lr", highest), ("div_factor", div_factor),
                        ("final_div_factor", final_div_factor)):  # fmt: skip
        check_range("OneCycleLR", what, value, 0)
        if not value:
            raise ValueError(f"OneCycleLR: {what} must be > 0, got {value}")
    low = highest / div_factor
    return [low, highest, *([low] if three_phase else []), low / final_div_factor]


def _for_each(what, value, optimizer):
    """One value for each group."""
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ValueError(f"OneCycleLR: {what} must be one for each of {count} groups, got {value}")
    return values
