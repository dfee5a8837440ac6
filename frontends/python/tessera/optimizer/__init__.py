"""Optimizers, learning-rate schedules, clipping of gradients."""

from .adam import Adam, AdamW
from .adaptive import Adadelta, Adagrad
from .clip_grad import clip_grad_norm, clip_grad_value
from .lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LRScheduler,
    MultiStepLR,
    StepLR,
)
from .optimizer import Optimizer, ParamGroup, required
from .sgd import SGD

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "MultiStepLR",
    "Optimizer",
    "ParamGroup",
    "SGD",
    "StepLR",
    "clip_grad_norm",
    "clip_grad_value",
    "required",
]
