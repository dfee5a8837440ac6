"""QConfig: what it takes, equality, and the eight of MegEngine."""

import copy
import pickle
from functools import partial

import pytest
import tessera.quantization as Q  # noqa: N812
from tessera.quantization import FakeQuantize, MinMaxObserver, QConfig

NAMES = ("min_max_fakequant", "ema_fakequant", "sync_ema_fakequant", "ema_lowbit_fakequant",
         "calibration", "tqt", "passive", "easyquant")  # fmt: skip
EMA, SYNC = "ExponentialMovingAverageObserver", "SyncExponentialMovingAverageObserver"


def made(name):
    """(class, dtype) of each field of a configuration."""
    fields = (each and each() for each in getattr(Q, f"{name}_qconfig"))
    return [each and (type(each).__name__, each.dtype) for each in fields]


@pytest.mark.parametrize(
    ("name", "weight", "act", "rounds", "dtypes"),
    [
        ("min_max_fakequant", "MinMaxObserver", "MinMaxObserver", "FakeQuantize", None),
        ("ema_fakequant", "MinMaxObserver", EMA, "FakeQuantize", None),
        ("sync_ema_fakequant", "SyncMinMaxObserver", SYNC, "FakeQuantize", None),
        ("ema_lowbit_fakequant", "MinMaxObserver", EMA, "FakeQuantize", ("qint4", "qint4")),
        ("calibration", "MinMaxObserver", "HistogramObserver", None, None),
        ("tqt", None, None, "TQT", None),
        ("passive", "PassiveObserver", "PassiveObserver", "FakeQuantize", None),
        ("easyquant", "PassiveObserver", "PassiveObserver", "FakeQuantize", None),
    ],
)
def test_configurations(name, weight, act, rounds, dtypes):
    """Their fields are those of MegEngine: weights are narrow where they have 8 bits."""
    narrow, wide = dtypes or ("qint8_narrow", "qint8")
    rows = ((weight, narrow), (act, wide), (rounds, narrow), (rounds, wide))
    assert made(name) == [kind and (kind, dtype) for kind, dtype in rows]


def test_equality():
    """Configurations are equal where their fields are, partials by their parts."""
    configs = [getattr(Q, f"{name}_qconfig") for name in NAMES]
    for number, each in enumerate(configs):
        for again in (copy.deepcopy(each), pickle.loads(pickle.dumps(each)), QConfig(*each)):
            assert again == each and hash(again) == hash(each)
        for other in configs[:number]:
            assert (each == other) == (each is other)
    assert Q.easyquant_qconfig is Q.passive_qconfig
    assert configs[0] != configs[0]._replace(act_observer=None)


def test_fields_are_named():
    """A configuration is a named tuple."""
    config = QConfig(
        MinMaxObserver, None, partial(FakeQuantize, dtype="qint8"), act_fake_quant=None
    )
    assert config.weight_observer is MinMaxObserver and config.act_observer is None
    assert config._replace(act_observer=MinMaxObserver).act_observer is MinMaxObserver


@pytest.mark.parametrize("position", range(4))
def test_modules_are_refused(position):
    """A field is what makes a module, and no module; nor is it anything else."""
    field = QConfig._fields[position]
    for bad in (MinMaxObserver(), "qint8"):
        fields = [None] * 4
        fields[position] = bad
        with pytest.raises(ValueError, match=f"QConfig: {field} must be a class or a function"):
            QConfig(*fields)
