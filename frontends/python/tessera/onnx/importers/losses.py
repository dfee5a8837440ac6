"""Losses of classes."""

from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast

_NEVER = -(1 << 31)


def _nll(node, scores, target, weight):
    ignored = node["ignore_index"]
    ignored = _NEVER if ignored is None else ignored
    return _ops.nll_loss(scores, target, weight, 1, ignored, node["reduction"])


@importer("NegativeLogLikelihoodLoss")
def _negative_log_likelihood(node, scores, target, weight=None):
    return _nll(node, scores, target, weight)


@importer("SoftmaxCrossEntropyLoss")
def _softmax_cross_entropy(node, scores, target, weight=None):
    log_probabilities = _ops.logsoftmax(scores, 1)
    loss = cast(_nll(node, log_probabilities, target, weight), scores.dtype.name)
    return loss, log_probabilities
