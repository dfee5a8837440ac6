"""Optimizers, learning-rate schedules, averages of parameters, clipping of gradients."""

from .._listed import listed as _listed
from .adafactor import Adafactor
from .adam import Adam, AdamW
from .adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from .averages import EMA, SWA
from .clip_grad import clip_grad_norm, clip_grad_value
from .layerwise import LAMB, LARS, LAMBFp16
from .lbfgs import LBFGS
from .lr_curves import (
    ConstantLR,
    CosineAnnealingWarmRestarts,
    LinearLR,
    OneCycleLR,
    PolynomialLR,
    WarmupLR,
)
from .lr_joined import ChainedScheduler, SequentialLR
from .lr_plateau import ReduceLROnPlateau
from .lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LRScheduler,
    MultiStepLR,
    StepLR,
)
from .moments import Adamax, Lion, Nadam, RAdam
from .optimizer import Optimizer, ParamGroup, required
from .sgd import SGD

__all__ = [
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "EMA",
    "ExponentialLR",
    "Ftrl",
    "LAMB",
    "LAMBFp16",
    "LARS",
    "LBFGS",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "Lion",
    "MultiStepLR",
    "Nadam",
    "OneCycleLR",
    "Optimizer",
    "ParamGroup",
    "PolynomialLR",
    "RAdam",
    "RMSprop",
    "ReduceLROnPlateau",
    "SGD",
    "SWA",
    "SequentialLR",
    "StepLR",
    "WarmupLR",
    "clip_grad_norm",
    "clip_grad_value",
    "required",
]

__dir__ = _listed(*__all__)
