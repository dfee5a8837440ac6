"""Averages of parameters over the steps, for evaluation."""

import contextlib
import functools
import weakref
from abc import ABC, abstractmethod

import numpy as np

from .. import jit
from ..autodiff.modes import no_grad
from ..tensor import Tensor
from .checks import check_range
from .compiled import runs_by_operator


class _Averages(ABC):
    """`update` takes the parameters in, after each step or epoch; also within a traced function.

    Averages of less than 32 bits are kept in float32: sums with small shares would stand still.
    """

    def __init__(self, params):
        name = type(self).__name__
        self.params = [params] if isinstance(params, Tensor) else list(params)
        if not self.params:
            raise ValueError(f"{name}: params must not be empty, got none")
        for each in self.params:
            if not isinstance(each, Tensor) or each.dtype.kind in "iub":
                kind = f"{each.dtype} tensor" if isinstance(each, Tensor) else type(each).__name__
                raise TypeError(f"{name}: params must be tensors of floats, got {kind}")
        self.averages = [_wide(each.detach()) for each in self.params]
        self._count = Tensor(np.zeros((), dtype=np.float32), device=self.params[0].device)
        self._program = None

    @abstractmethod
    def _share(self):
        """The share of the next value, a tensor; `_count` is how many values came before."""

    def update(self):
        """Takes the parameters' values in; returns the averages' object."""
        with no_grad():
            if runs_by_operator():
                self._update_all(self.params)
            else:
                if self._program is None:
                    update = functools.partial(_update, weakref.ref(self))
                    self._program = jit.trace(update, symbolic=True)
                self._program(self.params)
        return self

    def _update_all(self, values):
        for average, value in zip(self.averages, values, strict=True):
            share = self._share().astype(average.dtype)
            value = value.detach().astype(average.dtype)
            average._reset((1 - share) * average + share * value)
        self._count._reset(self._count + 1)

    def copy_to_params(self):
        """Gives the parameters the averages as values."""
        for each, average in zip(self.params, self.averages, strict=True):
            each._reset(average.astype(each.dtype))

    @contextlib.contextmanager
    def applied(self):
        """Within it the parameters have the averages as values, after it their own again."""
        own = [Tensor(each.detach()) for each in self.params]
        self.copy_to_params()
        try:
            yield self
        finally:
            for each, value in zip(self.params, own, strict=True):
                each._reset(value)

    def state_dict(self):
        """The averages as arrays, and how many values they have taken in."""
        return {"averages": [each.numpy() for each in self.averages], "count": self._count.item()}

    def load_state_dict(self, state):
        """Goes on where `state_dict` was taken.

        Raises:
            ValueError: there must be as many averages, of the parameters' shapes
        """
        own = [tuple(each.shape) for each in self.averages]
        given = [tuple(np.shape(each)) for each in state["averages"]]
        if own != given:
            pairs = [pair for pair in zip(own, given, strict=False) if pair[0] != pair[1]]
            text = ", ".join(f"{other} for {mine}" for mine, other in pairs)
            raise ValueError(
                f"{type(self).__name__}: averages must be {len(own)} of the parameters' shapes, "
                f"got {len(given)}{' with ' if text else ''}{text}"
            )
        for average, value in zip(self.averages, state["averages"], strict=True):
            average._reset(Tensor(np.asarray(value), dtype=average.dtype))
        self._count._reset(Tensor(np.asarray(state["count"], dtype=np.float32)))


class EMA(_Averages):
    """Exponential moving averages: a = decay * a + (1 - decay) * p, starting at the values now.

    B. T. Polyak, A. B. Juditsky: Acceleration of Stochastic Approximation by Averaging, 1992, with
    weights that fade; as PyTorch's get_ema_avg_fn.

    Args:
        params: tensors of float[*D], parameters or buffers; those of a module: net.tensors()
        decay: a number of [0, 1]

    Raises:
        ValueError: there must be tensors; decay must be of [0, 1]
        TypeError: params must be tensors of floats

    >>> import tessera as ts
    >>> from tessera.optimizer import EMA
    >>> p = ts.Parameter([0.0])
    >>> ema = EMA([p], decay=0.75)
    >>> _ = p.set_value(ts.tensor([4.0]))
    >>> with ema.update().applied():
    ...     p.item()
    1.0
    >>> p.item()
    4.0
    """

    def __init__(self, params, decay=0.999):
        _check_decay(decay)
        super().__init__(params)
        device = self.params[0].device
        self._rest = Tensor(np.asarray(1 - decay), dtype="float64", device=device)

    @property
    def decay(self):
        """The share of the average that stays, a number; programs read a new one."""
        return 1 - self._rest.item()

    @decay.setter
    def decay(self, value):
        """Checks the new share."""
        _check_decay(value)
        self._rest._reset(Tensor(np.asarray(1 - value), dtype="float64"))

    def _share(self):
        return self._rest


class SWA(_Averages):
    """Stochastic weight averages: the mean of the values at all updates.

    P. Izmailov et al.: Averaging Weights Leads to Wider Optima and Better Generalization, UAI 2018;
    as PyTorch's get_swa_avg_fn. Statistics of batch normalisation are averaged where `params` has
    them.

    Args:
        params: tensors of float[*D], parameters or buffers; those of a module: net.tensors()

    Raises:
        ValueError: there must be tensors
        TypeError: params must be tensors of floats

    >>> import tessera as ts
    >>> from tessera.optimizer import SWA
    >>> p = ts.Parameter([0.0])
    >>> swa = SWA([p])
    >>> for value in (2.0, 6.0):
    ...     _ = p.set_value(ts.tensor([value]))
    ...     _ = swa.update()
    >>> swa.averages[0].item()
    4.0
    """

    def _share(self):
        return 1 / (self._count.astype("float64") + 1)


def _wide(tensor):
    """A copy, of at least 32 bits."""
    return tensor.astype("float32") if tensor.dtype.itemsize == 2 else Tensor(tensor)


def _check_decay(decay):
    check_range("EMA", "decay", decay, 0)
    if decay > 1:
        raise ValueError(f"EMA: decay must be >= 0 and <= 1, got {decay}")


def _update(averages, values):
    """What the program does. It holds no averages alive, which would hold the program."""
    averages()._update_all(values)
