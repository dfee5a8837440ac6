"""Learning-rate schedules made of others."""

import math
from bisect import bisect_right

from .lr_scheduler import LRScheduler


class _Joined(LRScheduler):
    def __init__(self, optimizer, schedulers, current_epoch=-1):
        name, self.schedulers = type(self).__name__, list(schedulers)
        if not self.schedulers:
            raise ValueError(f"{name}: schedulers must not be empty, got none")
        for each in self.schedulers:
            if not isinstance(each, LRScheduler) or not self._can_join(each):
                kind = type(each).__name__
                raise TypeError(f"{name}: schedulers must be curves of the epoch, got {kind}")
            if each.optimizer is not optimizer:
                raise ValueError(f"{name}: schedulers must have one optimizer, got another one's")
        super().__init__(optimizer, current_epoch)

    def _can_join(self, scheduler):
        return type(scheduler).step is LRScheduler.step

    def state_dict(self):
        """All but the optimizer, with the states of the schedules."""
        return {**super().state_dict(), "schedulers": [s.state_dict() for s in self.schedulers]}

    def _load(self, state_dict):
        states = state_dict["schedulers"]
        if len(states) != len(self.schedulers):
            raise ValueError(
                f"{type(self).__name__}: state must be of {len(self.schedulers)} schedulers, "
                f"got {len(states)}"
            )
        super()._load({k: v for k, v in state_dict.items() if k != "schedulers"})
        for scheduler, state in zip(self.schedulers, states, strict=True):
            scheduler._load(state)


class SequentialLR(_Joined):
    """One schedule after the other: the next one starts, at its epoch 0, at each of `milestones`.

    >>> import tessera as ts
    >>> from tessera.optimizer import SequentialLR
    >>> from tessera.optimizer import SGD, ConstantLR, ExponentialLR
    >>> optimizer = SGD([ts.Parameter([1.0])], lr=1.0)
    >>> parts = [ConstantLR(optimizer, 0.25, 9), ExponentialLR(optimizer, 0.5)]
    >>> schedule = SequentialLR(optimizer, parts, milestones=[2])
    >>> [schedule.step(epoch).get_lr() for epoch in range(5)]
    [[0.25], [0.25], [1.0], [0.5], [0.25]]
    """

    def __init__(self, optimizer, schedulers, milestones, current_epoch=-1):
        schedulers, self.milestones = list(schedulers), list(milestones)
        if len(self.milestones) != len(schedulers) - 1 or any(
            low >= high for low, high in zip(self.milestones, self.milestones[1:], strict=False)
        ):
            raise ValueError(
                f"SequentialLR: milestones must increase, one fewer than {len(schedulers)} "
                f"schedulers, got {self.milestones}"
            )
        super().__init__(optimizer, schedulers, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        number = bisect_right(self.milestones, self.current_epoch)
        scheduler = self.schedulers[number]
        scheduler.current_epoch = self.current_epoch - ([0, *self.milestones][number])
        return scheduler.get_lr()


class ChainedScheduler(_Joined):
    """Several schedules at once: the learning rate times the product of what each makes of it.

    >>> import tessera as ts
    >>> from tessera.optimizer import ChainedScheduler
    >>> from tessera.optimizer import SGD, ConstantLR, ExponentialLR
    >>> optimizer = SGD([ts.Parameter([1.0])], lr=1.0)
    >>> schedule = ChainedScheduler([ConstantLR(optimizer, 0.25, 1), ExponentialLR(optimizer, 0.5)])
    >>> [schedule.step(epoch).get_lr() for epoch in range(3)]
    [[0.25], [0.5], [0.25]]
    """

    def __init__(self, schedulers, optimizer=None, current_epoch=-1):
        schedulers = list(schedulers)
        if optimizer is None and schedulers:
            optimizer = getattr(schedulers[0], "optimizer", None)
        super().__init__(optimizer, schedulers, current_epoch)

    def get_lr(self):
        """One learning rate for each group."""
        for scheduler in self.schedulers:
            scheduler.current_epoch = self.current_epoch
        rates = zip(*(scheduler.get_lr() for scheduler in self.schedulers), strict=True)
        pairs = zip(self.base_lrs, rates, strict=True)
        return [base * math.prod(r / base for r in each) if base else 0.0 for base, each in pairs]
