"""Quantization: observers, fake-quantization, and networks converted to integers."""

from .._listed import listed as _listed
from .comparing import LayerComparison, LayerDifference, compare_layers
from .fake_quant import LSQ, TQT, FakeQuantize
from .observer import (
    ExponentialMovingAverageObserver,
    HistogramObserver,
    MinMaxObserver,
    Observer,
    PassiveObserver,
    SyncExponentialMovingAverageObserver,
    SyncMinMaxObserver,
)
from .post_training import (
    DynamicLinear,
    LayerReport,
    PostTrainingConfig,
    QuantizationReport,
    quantize_model,
)
from .qconfig import (
    QConfig,
    calibration_qconfig,
    easyquant_qconfig,
    ema_fakequant_qconfig,
    ema_lowbit_fakequant_qconfig,
    min_max_fakequant_qconfig,
    passive_qconfig,
    sync_ema_fakequant_qconfig,
    tqt_qconfig,
)
from .quantize import (
    apply_easy_quant,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    enable_observer,
    propagate_qconfig,
    quantize,
    quantize_qat,
    reset_qconfig,
)
from .utils import QParams, QuantMode, create_qparams, fake_quant_bias, fake_quant_tensor

__all__ = [
    "LSQ",
    "TQT",
    "DynamicLinear",
    "ExponentialMovingAverageObserver",
    "FakeQuantize",
    "HistogramObserver",
    "LayerComparison",
    "LayerDifference",
    "LayerReport",
    "MinMaxObserver",
    "Observer",
    "PassiveObserver",
    "PostTrainingConfig",
    "QConfig",
    "QParams",
    "QuantMode",
    "QuantizationReport",
    "SyncExponentialMovingAverageObserver",
    "SyncMinMaxObserver",
    "apply_easy_quant",
    "calibration_qconfig",
    "compare_layers",
    "create_qparams",
    "disable_fake_quant",
    "disable_observer",
    "easyquant_qconfig",
    "ema_fakequant_qconfig",
    "ema_lowbit_fakequant_qconfig",
    "enable_fake_quant",
    "enable_observer",
    "fake_quant_bias",
    "fake_quant_tensor",
    "min_max_fakequant_qconfig",
    "passive_qconfig",
    "propagate_qconfig",
    "quantize",
    "quantize_model",
    "quantize_qat",
    "reset_qconfig",
    "sync_ema_fakequant_qconfig",
    "tqt_qconfig",
]

__dir__ = _listed(*__all__)
