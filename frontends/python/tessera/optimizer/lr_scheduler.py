"""Learning-rate schedules."""

import math
from abc import ABC, abstractmethod
from bisect import bisect_right

from .optimizer import Optimizer


class LRScheduler(ABC):
    """Sets the learning rate of each group at each `step`, usually once an epoch.

    A subclass gives `get_lr()`, one rate for each group, from `base_lrs` and `current_epoch`. The
    rate is a tensor for the optimizer, so that a traced step sees a new one without a recording.

    Raises:
        TypeError: optimizer must be an Optimizer
        KeyError: a group must have initial_lr to go on from an epoch
    """

    def __init__(self, optimizer, current_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            kind = type(optimizer).__name__
            raise TypeError(f"{type(self).__name__}: optimizer must be an Optimizer, got {kind}")
        self.optimizer, self.current_epoch = optimizer, current_epoch
        for group in optimizer.param_groups:
            if current_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: a group must have initial_lr to go on from epoch "
                    f"{current_epoch}, got {sorted(group)}"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._start()

    def _start(self):
        """Sets the rates of the first epoch."""
        self.step()

    @abstractmethod
    def get_lr(self):
        """One learning rate for each group, for `current_epoch`."""

    def get_last_lr(self):
        """The learning rate of each group that this or anything else set last: a list of floats.

        >>> import tessera as ts
        >>> from tessera.optimizer import SGD, StepLR
        >>> StepLR(SGD([ts.Parameter([1.0])], lr=1.0), 1, gamma=0.5).step().get_last_lr()
        [0.5]
        """
        return [group["lr"] for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        """The next epoch, or epoch number `epoch`; returns the scheduler."""
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        self._set_rates()
        return self

    def _set_rates(self):
        """Gives the optimizer what belongs to `current_epoch`."""
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate

    def state_dict(self):
        """All but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Goes on where `state_dict` was taken, with the rates of that epoch: whether the optimizer
        loads its state before or after is the same.
        """
        self._load(state_dict)
        self._set_rates()

    def _load(self, state_dict):
        unknown = sorted(set(state_dict) - set(self.state_dict()))
        if unknown:
            raise KeyError(f"{type(self).__name__}: state must have its own keys, got {unknown}")
        vars(self).update(state_dict)


class MultiStepLR(LRScheduler):
    """The learning rate times `gamma` at each epoch of `milestones`."""

    def __init__(self, optimizer, milestones, gamma=0.1, current_epoch=-1):
        milestones = list(milestones)
        if milestones != sorted(milestones):
            raise ValueError(f"MultiStepLR: milestones must increase, got {milestones}")
        self.milestones, self.gamma = milestones, gamma
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        factor = self.gamma ** bisect_right(self.milestones, self.current_epoch)
        return [rate * factor for rate in self.base_lrs]


class StepLR(LRScheduler):
    """The learning rate times `gamma` after each `step_size` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, current_epoch=-1):
        if step_size < 1:
            raise ValueError(f"StepLR: step_size must be >= 1, got {step_size}")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        factor = self.gamma ** (self.current_epoch // self.step_size)
        return [rate * factor for rate in self.base_lrs]


class ExponentialLR(StepLR):
    """The learning rate times `gamma` after each epoch."""

    def __init__(self, optimizer, gamma, current_epoch=-1):
        super().__init__(optimizer, 1, gamma, current_epoch)


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the learning rate down to `eta_min` in `T_max` epochs, then up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, current_epoch=-1):  # noqa: N803
        if T_max < 1:
            raise ValueError(f"CosineAnnealingLR: T_max must be >= 1, got {T_max}")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        share = (1 + math.cos(math.pi * self.current_epoch / self.T_max)) / 2
        return [self.eta_min + (rate - self.eta_min) * share for rate in self.base_lrs]


class LambdaLR(LRScheduler):
    """The learning rate times `lr_lambda(epoch)`; a list gives one function for each group."""

    def __init__(self, optimizer, lr_lambda, current_epoch=-1):
        many = isinstance(lr_lambda, (list, tuple))
        functions = list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        if len(functions) != len(optimizer.param_groups):
            raise ValueError(
                f"LambdaLR: there must be one function for each of {len(optimizer.param_groups)} "
                f"groups, got {len(functions)}"
            )
        self._functions = functions
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        pairs = zip(self.base_lrs, self._functions, strict=True)
        return [rate * function(self.current_epoch) for rate, function in pairs]

    def state_dict(self):
        """All but the optimizer and the functions."""
        return {key: value for key, value in super().state_dict().items() if key != "_functions"}
