"""Optimizers, learning-rate schedules, clipping of gradients."""

from .adam import Adam, AdamW
from .adaptive import Adadelta, Adagrad
from .clip_grad import clip_grad_norm, clip_grad_value
from .lr_scheduler import LRScheduler, MultiStepLR
from .optimizer import Optimizer, ParamGroup, required
from .sgd import SGD

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "LRScheduler",
    "MultiStepLR",
    "Optimizer",
    "ParamGroup",
    "SGD",
    "clip_grad_norm",
    "clip_grad_value",
    "required",
]
