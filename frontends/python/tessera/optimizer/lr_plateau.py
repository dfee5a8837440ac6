"""A learning-rate schedule that looks at a metric."""

import math

from .checks import check_range
from .lr_scheduler import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """The learning rate times `factor` when a metric has not got better for `patience` epochs.

    Better is below (`mode="min"`) or above ("max") the best so far by `threshold`: a share of it
    ("rel") or a difference ("abs"). After a reduction `cooldown` epochs are not counted. No rate
    goes below `min_lr`, and a change of at most `eps` is left out. NaN is never better.

    >>> import tessera as ts
    >>> from tessera.optimizer import ReduceLROnPlateau
    >>> from tessera.optimizer import SGD
    >>> schedule = ReduceLROnPlateau(SGD([ts.Parameter([1.0])], lr=1.0), factor=0.5, patience=1)
    >>> [schedule.step(loss).get_lr()[0] for loss in (3.0, 2.0, 2.0, 2.0)]
    [1.0, 1.0, 1.0, 0.5]
    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4,
                 threshold_mode="rel", cooldown=0, min_lr=0.0, eps=1e-8):  # fmt: skip
        name = type(self).__name__
        if mode not in ("min", "max"):
            raise ValueError(f"{name}: mode must be 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"{name}: threshold_mode must be 'rel' or 'abs', got {threshold_mode!r}"
            )
        check_range(name, "factor", factor, 0, below=1)
        numbers = {"patience": patience, "threshold": threshold, "cooldown": cooldown,
                   "min_lr": min_lr, "eps": eps}  # fmt: skip
        for what, value in numbers.items():
            check_range(name, what, value, 0)
        vars(self).update(numbers)
        self.mode, self.factor, self.threshold_mode = mode, factor, threshold_mode
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = 0
        super().__init__(optimizer)

    def _start(self):
        self.current_epoch += 1

    def get_lr(self):
        """One learning rate for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, metric, epoch=None):
        """The next epoch, or epoch number `epoch`, with the metric so far: a number or a tensor of
        one; returns the scheduler.
        """
        metric = float(metric.item() if hasattr(metric, "item") else metric)
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        if self._is_better(metric):
            self.best, self.num_bad_epochs = metric, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        return self

    def _is_better(self, metric):
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "abs":
            return metric * sign > self.best * sign + self.threshold
        return metric * sign > self.best * (1 + sign * self.threshold) * sign

    def _reduce(self):
        for group in self.optimizer.param_groups:
            rate = max(group["lr"] * self.factor, self.min_lr)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
