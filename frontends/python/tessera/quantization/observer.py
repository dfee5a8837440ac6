"""Observers: modules that see tensors pass, and find the scale and zero point that fit them."""

import numpy as np

from .. import effects
from ..tensor import Tensor
from . import histogram
from .min_max import (
    LARGEST,
    LEAST,
    ExponentialMovingAverageObserver,
    MinMaxObserver,
    SyncExponentialMovingAverageObserver,
    SyncMinMaxObserver,
)
from .observer_base import Observer
from .utils import QuantMode, create_qparams, mode_of_kind

__all__ = [
    "ExponentialMovingAverageObserver",
    "HistogramObserver",
    "MinMaxObserver",
    "Observer",
    "PassiveObserver",
    "SyncExponentialMovingAverageObserver",
    "SyncMinMaxObserver",
]


class HistogramObserver(MinMaxObserver):
    """Observer of how often numbers occur, whose range leaves out rare large ones where that makes
    the squared error of rounding less.

    The search is Caffe2's, as in MegEngine (norm_minimization.cc of `caffe2/quantization/server`).
    It leaves out more numbers, at the end where more bins go at once, until the error grows. Scale
    and zero point follow from the range as in MinMaxObserver. Where a tensor leaves the range that
    was observed so far, the counts are spread over a wider one. Counts are made by NumPy, so that
    it cannot be traced. NaN and infinities are not observed.

    Args:
        bins: number of bins, at least 2
        upsample_rate: number of parts of a bin when counts move to bins of a wider range
        mode: a QuantMode: whether 0 is the integer 0, or a zero point
        eps: the least scale, above 0
        dtype: kind of dtype, as "qint8"
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        ValueError: bins must be at least 2, upsample_rate at least 1; and as MinMaxObserver
        RuntimeError: it must not be called in a traced function

    >>> import tessera as ts
    >>> from tessera.quantization import HistogramObserver
    >>> observer = HistogramObserver()
    >>> _ = observer(ts.tensor([float(i % 10) for i in range(100000)] + [90.0]))
    >>> observer.max_val.item(), observer.get_qparams().scale.item() < 0.1
    (90.0, True)
    """

    def __init__(self, bins=2048, upsample_rate=128, mode=QuantMode.SYMMERTIC, eps=0.00001,
                 dtype="qint8", *, narrow_range=None, name=None):  # fmt: skip
        super().__init__(mode, eps, dtype, narrow_range=narrow_range, name=name)
        for what, value, least in (("bins", bins, 2), ("upsample_rate", upsample_rate, 1)):
            if not isinstance(value, int) or value < least:
                raise ValueError(
                    f"{type(self).__name__}: {what} must be an int >= {least}, got {value!r}"
                )
        self.bins, self.upsample_rate = bins, upsample_rate
        self.histogram = Tensor(np.zeros(bins, dtype=np.float32))

    def get_qparams(self):
        """Gives QParams of the range that the search finds: scale float32[], zero_point int32[] or
        None where the mode is symmetric.
        """
        self._refuse_trace()
        self._check_observed()
        low, high = self.min_val.item(), self.max_val.item()
        if low == high:
            return self._qparams_of(self.min_val, self.max_val)
        first, last = histogram.best_range(
            self.histogram.numpy().astype(np.float64), self.qmax - self.qmin + 1
        )
        width = (high - low) / self.bins
        ends = np.float32([low + width * first, low + width * (last + 1)])
        return self._qparams_of(*map(Tensor, ends))

    def _refuse_trace(self):
        if effects.is_tracing():
            raise RuntimeError(
                f"{type(self).__name__}: a traced function cannot call it (it counts in NumPy)"
            )

    def forward(self, inp):
        """Gives `inp`, float[*D]; observes it while the module is enabled."""
        if self.enabled:
            self._refuse_trace()
            values = inp.numpy().astype(np.float32).reshape(-1)
            values = values[np.isfinite(values)].astype(np.float64)
            if values.size:
                self._count(values)
        return inp

    def _count(self, values):
        new, rate = (float(values.min()), float(values.max())), self.upsample_rate
        counts = np.zeros(self.bins)
        if self.is_observed():
            old = self.min_val.item(), self.max_val.item()
            new = histogram.widened(old, new, self.bins, rate)
            new = tuple(float(end) for end in np.float32(np.clip(new, LEAST, LARGEST)))
            old_counts = self.histogram.numpy().astype(np.float64)
            counts = histogram.moved(old_counts, old, new, rate)
        counts += histogram.counted(values, self.bins, *new)
        self.histogram[...] = counts.astype(np.float32)
        self.min_val[...], self.max_val[...] = new


class PassiveObserver(Observer):
    """Observer that observes nothing: `set_qparams` and `scale` say what it gives.

    Args:
        dtype: kind of dtype, as "qint8"
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        RuntimeError: get_qparams must be called after the scale was set

    >>> import tessera as ts
    >>> from tessera.quantization import PassiveObserver, create_qparams
    >>> observer = PassiveObserver("qint8")
    >>> observer.set_qparams(create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5)))
    >>> observer.scale = 0.25
    >>> observer.scale.item(), observer.orig_scale.item()
    (0.25, 0.5)
    """

    def __init__(self, dtype, narrow_range=None, name=None):
        super().__init__(dtype, narrow_range, name)
        self.mode = mode_of_kind(dtype)
        self.orig_scale = None
        self._scale = Tensor(0.0, dtype="float32")  # 0: not set
        self._zero_point = Tensor(0, dtype="int32")
        self._of_channels = ("_scale", "_zero_point")

    @property
    def scale(self):
        """The scale, float32[] or [1.., C, ..1]. ValueError: it must be finite and above 0."""
        self._check_observed()
        return self._scale

    @scale.setter
    def scale(self, value):
        """Sets it. ValueError: it must be finite and above 0."""
        numbers = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
        if not (np.isfinite(numbers) & (numbers > 0)).all():
            raise ValueError(f"PassiveObserver: scale must be finite and above 0, got {value}")
        self._scale._reset(Tensor(numbers, dtype="float32"))
        if self.orig_scale is None:
            self.orig_scale = self._scale.numpy()

    def is_observed(self):
        """Whether its scale was set."""
        return bool((self._scale > 0).all().item())

    def set_qparams(self, qparams):
        """Takes over QParams, whose scale is `orig_scale` from then on.

        ValueError: they must have a scale, and the dtype of the module or none.
        """
        kind = qparams.dtype_meta
        if qparams.scale is None:
            raise ValueError("PassiveObserver: scale of qparams must be set, got None")
        if kind not in (None, self.dtype):
            raise ValueError(f"PassiveObserver: dtype of qparams must be {self.dtype}, got {kind}")
        self.orig_scale, self.mode = None, qparams.mode
        self.scale = qparams.scale
        zero_point = 0 if qparams.zero_point is None else qparams.zero_point.numpy()
        self._zero_point._reset(Tensor(zero_point, dtype="int32"))

    def get_qparams(self):
        """Gives QParams: scale and, where the mode is not symmetric, zero_point."""
        zero_point = self._zero_point if self.mode is QuantMode.ASYMMERTIC else None
        return create_qparams(self.mode, self.dtype, self.scale, zero_point)

    def forward(self, inp):
        """Gives `inp`."""
        return inp
