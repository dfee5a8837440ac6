"""Which observers and fake-quantization the layers of a network get."""

from collections import namedtuple
from functools import partial

from ..module.module import Module
from .fake_quant import TQT, FakeQuantize
from .observer import (
    ExponentialMovingAverageObserver,
    HistogramObserver,
    MinMaxObserver,
    PassiveObserver,
    SyncExponentialMovingAverageObserver,
    SyncMinMaxObserver,
)

_FIELDS = ("weight_observer", "act_observer", "weight_fake_quant", "act_fake_quant")


class QConfig(namedtuple("QConfig", _FIELDS)):
    """How a QATModule observes and rounds its weight and its activation.

    Each field is a class or a function without arguments, such as `partial(MinMaxObserver,
    dtype="qint8_narrow")`, that makes a new module for each layer; or None for none. Weights are
    usually narrow, so that no product of integers is larger than 127 times an activation. Equal are
    configurations whose fields are, and partials of one function with equal arguments are.

    Args:
        weight_observer: makes an Observer of the weight
        act_observer: makes an Observer of the activation, which is the result of a layer
        weight_fake_quant: makes what rounds the weight, such as a FakeQuantize
        act_fake_quant: makes what rounds the activation

    Raises:
        ValueError: fields must be classes, functions or None

    >>> from functools import partial
    >>> from tessera.quantization import FakeQuantize, MinMaxObserver, QConfig
    >>> from tessera.quantization import min_max_fakequant_qconfig
    >>> narrow, wide = ({"dtype": dtype} for dtype in ("qint8_narrow", "qint8"))
    >>> own = QConfig(partial(MinMaxObserver, **narrow), partial(MinMaxObserver, **wide),
    ...               partial(FakeQuantize, **narrow), partial(FakeQuantize, **wide))
    >>> own == min_max_fakequant_qconfig
    True
    """

    __slots__ = ()

    def __new__(cls, weight_observer, act_observer, weight_fake_quant, act_fake_quant):
        values = (weight_observer, act_observer, weight_fake_quant, act_fake_quant)
        for name, value in zip(_FIELDS, values, strict=True):
            if isinstance(value, Module) or not (value is None or callable(value)):
                raise ValueError(
                    f"QConfig: {name} must be a class or a function that makes a module, such as "
                    f"partial(MinMaxObserver, dtype='qint8'), or None, got {value!r}"
                )
        return super().__new__(cls, *values)

    def __eq__(self, other):
        if not isinstance(other, QConfig):
            return NotImplemented
        return [*map(_key, self)] == [*map(_key, other)]

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(tuple(getattr(value, "func", value) for value in self))


def _key(value):
    """Parts of a field by which it is equal to others."""
    return (value.func, value.args, value.keywords) if isinstance(value, partial) else value


def _rounded(weight_observer, act_observer, weight_dtype="qint8_narrow", act_dtype="qint8"):
    """A configuration with FakeQuantize."""
    return QConfig(
        weight_observer=partial(weight_observer, dtype=weight_dtype),
        act_observer=partial(act_observer, dtype=act_dtype),
        weight_fake_quant=partial(FakeQuantize, dtype=weight_dtype),
        act_fake_quant=partial(FakeQuantize, dtype=act_dtype),
    )


# Ranges of all that was seen.
min_max_fakequant_qconfig = _rounded(MinMaxObserver, MinMaxObserver)

# Moving averages of the ranges of activations.
ema_fakequant_qconfig = _rounded(MinMaxObserver, ExponentialMovingAverageObserver)

# Moving averages over all processes.
sync_ema_fakequant_qconfig = _rounded(SyncMinMaxObserver, SyncExponentialMovingAverageObserver)

# Integers of 4 bits.
ema_lowbit_fakequant_qconfig = _rounded(
    MinMaxObserver, ExponentialMovingAverageObserver, "qint4", "qint4"
)

# Observes a trained network and rounds nothing.
calibration_qconfig = QConfig(
    weight_observer=partial(MinMaxObserver, dtype="qint8_narrow"),
    act_observer=partial(HistogramObserver, dtype="qint8"),
    weight_fake_quant=None,
    act_fake_quant=None,
)

# Steps that are trained.
tqt_qconfig = QConfig(
    weight_observer=None,
    act_observer=None,
    weight_fake_quant=partial(TQT, dtype="qint8_narrow"),
    act_fake_quant=partial(TQT, dtype="qint8"),
)

# Scales that are set from outside, as by apply_easy_quant.
passive_qconfig = _rounded(PassiveObserver, PassiveObserver)
easyquant_qconfig = passive_qconfig
