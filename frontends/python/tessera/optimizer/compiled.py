"""Optimizers whose update of a group is one compiled program."""

import functools
import weakref
from abc import abstractmethod

from .. import _core, config, effects, jit
from .optimizer import Optimizer

# A program takes as long to compile as dozens of updates save, so a short run makes none.
PATIENCE = 10


def runs_by_operator():
    """Whether a trace around the update, or a check, wants to see its operators."""
    return effects.is_tracing() or config.get_check_finite() or _core.get_check_operands()


class Compiled(Optimizer):
    """Base class of optimizers that treat each parameter alike: like updates of a group's
    parameters are one kernel.

    The program is made at the step number PATIENCE in a row with the same settings and the same
    parameters that have gradients, and runs from then on; within a traced function the update is a
    part of its program. A subclass gives `_update_parameter(group, parameter, grad)`.
    """

    attribute_names = ()  # of attributes that decide how the update is computed

    @abstractmethod
    def _update_parameter(self, group, parameter, grad):
        """Gives the parameter and its state their new values."""

    def _update_all(self, group, grads):
        for parameter, grad in zip(group["params"], grads, strict=True):
            if grad is not None:
                self._update_parameter(group, parameter, grad)

    def _updates(self, group):
        grads = [None if each._is_frozen else each.grad for each in group["params"]]
        if runs_by_operator():
            self._update_all(group, grads)
            return
        attributes = tuple(getattr(self, name) for name in self.attribute_names)
        if group.calls_alike((attributes, [grad is None for grad in grads])) >= PATIENCE:
            if group.program is None:
                update = functools.partial(_update, weakref.ref(self), weakref.ref(group))
                group.program = jit.trace(update, symbolic=True)
            group.program(grads, attributes)
        else:
            self._update_all(group, grads)


def _update(optimizer, group, grads, attributes):
    """What a group's program does. It holds no optimizer alive, which would hold the program."""
    optimizer()._update_all(group(), grads)
