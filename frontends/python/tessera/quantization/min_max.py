"""Observers of the least and the largest number."""

import numpy as np

from .. import effects
from .. import functional as F  # noqa: N812
from ..optimizer.checks import check_range
from ..tensor import Tensor
from .observer_base import Observer
from .utils import QuantMode, create_qparams

_FLOATS = np.finfo(np.float32)
LEAST, LARGEST = float(_FLOATS.min), float(_FLOATS.max)


class MinMaxObserver(Observer):
    """Observer of the least and the largest number: `min_val` and `max_val`, float32 buffers.

    Symmetric, scale is `max(-min, max) / ((qmax - qmin) / 2)`; else it is `(max - min) / (qmax -
    qmin)` and zero_point `qmin - round(min / scale)`, halves away from 0, with min at most 0 and
    max at least 0 (B. Jacob et al., arXiv:1712.05877, section 3). A scale is at least `eps`, which
    is that of a tensor of zeros. NaN and infinities are not observed.

    Args:
        mode: a QuantMode: whether 0 is the integer 0, or a zero point
        eps: the least scale, above 0
        dtype: kind of dtype, as "qint8"
        axis: axis of channels that have a range each, which MegEngine has not; None: one for all.
            Buffers and QParams have size 1 along the other axes then, and the first call must not
            be traced.
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        TypeError: mode must be a QuantMode
        ValueError: dtype must be the name of a quantized dtype, eps finite and above 0, axis an
            axis of the tensors
        RuntimeError: get_qparams must be called after a number was observed

    >>> import tessera as ts
    >>> from tessera.quantization import MinMaxObserver, QuantMode
    >>> observer = MinMaxObserver(QuantMode.ASYMMERTIC, dtype="quint8")
    >>> observer(ts.tensor([-1.0, 50.0])).tolist()
    [-1.0, 50.0]
    >>> observer.get_qparams().scale.item(), observer.get_qparams().zero_point.item()
    (0.20000000298023224, 5)
    """

    def __init__(self, mode=QuantMode.SYMMERTIC, eps=0.00001, dtype="qint8", *, axis=None,
                 narrow_range=None, name=None):  # fmt: skip
        super().__init__(dtype, narrow_range, name)
        kind = type(self).__name__
        if not isinstance(mode, QuantMode):
            raise TypeError(f"{kind}: mode must be a QuantMode, got {mode!r}")
        check_range(kind, "eps", eps, float(_FLOATS.smallest_normal), LARGEST)
        if axis is not None and (not isinstance(axis, int) or axis < 0):
            raise ValueError(f"{kind}: axis must be None or an int >= 0, got {axis!r}")
        self.mode, self.scale_limit, self.axis = mode, eps, axis
        self.min_val = Tensor(LARGEST, dtype="float32")
        self.max_val = Tensor(LEAST, dtype="float32")
        self._of_channels = ("min_val", "max_val") if axis is not None else ()
        self._is_known = False  # so that it is looked up once

    def is_observed(self):
        """Whether it has seen numbers, of each channel where it has an axis."""
        return bool((self.min_val <= self.max_val).all().item())

    def get_qparams(self):
        """Gives QParams: scale float32[], or [1.., C, ..1] with an axis; zero_point int32, or None
        where the mode is symmetric.
        """
        if not effects.is_tracing() and not self._is_known:
            self._check_observed()
            self._is_known = True
        return self._qparams_of(self.min_val, self.max_val)

    def _qparams_of(self, low, high):
        low, high = F.minimum(low, 0.0), F.maximum(high, 0.0)
        # Halves of both sides: the same number, and none that is too large for float32.
        steps = (self.qmax - self.qmin) / 2
        if self.mode is QuantMode.SYMMERTIC:
            scale = F.maximum(F.maximum(-low, high) / steps, self.scale_limit)
            return create_qparams(self.mode, self.dtype, scale)
        scale = F.maximum((high * 0.5 - low * 0.5) / steps, self.scale_limit)
        steps_below = -low / scale
        whole = F.floor(steps_below)
        nearest = whole + (steps_below - whole >= 0.5).astype("float32")
        return create_qparams(self.mode, self.dtype, scale, nearest.astype("int32") + self.qmin)

    def _range_of(self, inp):
        """Least and largest finite number; the least is the larger one where there is none."""
        x = inp.detach().astype("float32")
        axes = None
        if self.axis is not None:
            axes = [axis for axis in range(x.ndim) if axis != self.axis]
            self.set_channels(x.shape)
        is_finite = F.isfinite(x)
        low = F.where(is_finite, x, LARGEST)
        high = F.where(is_finite, x, LEAST)
        if axes == []:
            return low, high
        keeps = axes is not None
        return low.min(axes, keepdims=keeps), high.max(axes, keepdims=keeps)

    def set_channels(self, shape):
        """Gives the buffers the channels of tensors of a shape, as the first call does.

        Raises:
            ValueError: axis must be one of the shape, and the channels those that there are
            RuntimeError: the first call must not be traced
        """
        kind, shape = type(self).__name__, tuple(shape)
        if self.axis is None or self.axis >= len(shape):
            raise ValueError(f"{kind}: axis must be below {len(shape)}, got {self.axis}")
        wanted = tuple(size if axis == self.axis else 1 for axis, size in enumerate(shape))
        if self.min_val.ndim == 0:
            if effects.is_tracing():
                raise RuntimeError(
                    f"{kind}: the number of channels is unknown (the first call was traced)"
                )
            for name in self._of_channels:
                self._widen(name, wanted)
        elif tuple(self.min_val.shape) != wanted:
            raise ValueError(
                f"{kind}: shape must be {tuple(self.min_val.shape)} but for axes of 1, got {shape}"
            )

    def forward(self, inp):
        """Gives `inp`, float[*D]; observes it while the module is enabled."""
        if self.enabled:
            low, high = self._range_of(inp)
            self.min_val[...] = F.minimum(self.min_val, low)
            self.max_val[...] = F.maximum(self.max_val, high)
        return inp


class SyncMinMaxObserver(MinMaxObserver):
    """MinMaxObserver over all processes. There is one process, so that it does the same.

    >>> import tessera as ts
    >>> from tessera.quantization import SyncMinMaxObserver
    >>> observer = SyncMinMaxObserver(dtype="qint8_narrow")
    >>> _ = observer(ts.tensor([-1.0, 63.5]))
    >>> observer.get_qparams().scale.item()
    0.5
    """


class ExponentialMovingAverageObserver(MinMaxObserver):
    """MinMaxObserver whose range moves towards that of each tensor:
    `min_val = momentum * min_val + (1 - momentum) * min(inp)`, and max_val alike (B. Jacob et al.,
    arXiv:1712.05877, section 3.1). The first tensor gives the range alone. A tensor without a
    finite number leaves it.

    Args:
        momentum: the share of the range that stays, from 0 to 1; a buffer
        mode: a QuantMode: whether 0 is the integer 0, or a zero point
        eps: the least scale, above 0
        dtype: kind of dtype, as "qint8"
        axis: axis of channels that have a range each, or None
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        ValueError: momentum must be from 0 to 1; and as MinMaxObserver

    >>> import tessera as ts
    >>> from tessera.quantization import ExponentialMovingAverageObserver
    >>> observer = ExponentialMovingAverageObserver(momentum=0.5)
    >>> for largest in (2.0, 4.0):
    ...     _ = observer(ts.tensor([0.0, largest]))
    >>> observer.max_val.item()
    3.0
    """

    def __init__(self, momentum=0.9, mode=QuantMode.SYMMERTIC, eps=0.00001, dtype="qint8",
                 *, axis=None, narrow_range=None, name=None):  # fmt: skip
        super().__init__(mode, eps, dtype, axis=axis, narrow_range=narrow_range, name=name)
        self.momentum = Tensor(_checked(type(self).__name__, momentum), dtype="float32")
        self.runtime_momentum = Tensor(0.0, dtype="float32")  # 0 until a number was observed
        if axis is not None:
            self._of_channels = (*self._of_channels, "runtime_momentum")

    def set_momentum(self, momentum):
        """Sets the share of the range that stays. ValueError: momentum must be from 0 to 1."""
        self.momentum[...] = _checked(type(self).__name__, momentum)

    def forward(self, inp):
        """Gives `inp`, float[*D]; observes it while the module is enabled."""
        if self.enabled:
            low, high = self._range_of(inp)
            is_seen, share = low <= high, self.runtime_momentum.detach()
            for buffer, new in ((self.min_val, low), (self.max_val, high)):
                moved = buffer * share + (1 - share) * new
                buffer[...] = F.where(is_seen, moved, buffer)
            self.runtime_momentum[...] = F.where(is_seen, self.momentum, share)
        return inp


def _checked(kind, momentum):
    check_range(kind, "momentum", momentum, 0)
    if momentum > 1:
        raise ValueError(f"{kind}: momentum must be <= 1, got {momentum}")
    return momentum


class SyncExponentialMovingAverageObserver(ExponentialMovingAverageObserver):
    """ExponentialMovingAverageObserver over all processes. There is one process, so that it does
    the same.

    >>> import tessera as ts
    >>> from tessera.quantization import SyncExponentialMovingAverageObserver
    >>> observer = SyncExponentialMovingAverageObserver(momentum=0.5)
    >>> _ = observer(ts.tensor([0.0, 2.0]))
    >>> observer.max_val.item()
    2.0
    """
