"""Oracles of the losses. NumPy and SciPy, float64."""

import numpy as np
from scipy import special


def reduce(losses, reduction):
    """What `reduction` says of single losses."""
    return {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](losses)


def cross_entropy(pred, label, weight, axis, label_smooth, with_logits, reduction, ignore_index):
    """Cross entropy of scores and class indices; PyTorch's mean, by weights."""
    log = special.log_softmax(pred, axis) if with_logits and pred.size else np.log(pred)
    log = np.moveaxis(log, axis, -1)
    classes = log.shape[-1]
    chosen, counts = np.arange(classes) == label[..., None], label != ignore_index
    each = np.ones(classes) if weight is None else weight
    target = (chosen * (1 - label_smooth) + label_smooth / max(classes, 1)) * each
    losses = -(target * log).sum(-1) * counts
    weights = (chosen * each).sum(-1) * counts
    return losses.sum() / weights.sum() if reduction == "mean" else reduce(losses, reduction)


def nll_loss(pred, label, weight, axis, ignore_index, reduction):
    """Negative log likelihood of class indices; PyTorch's mean, by weights."""
    log = np.moveaxis(pred, axis, -1)
    chosen = np.arange(log.shape[-1]) == label[..., None]
    counts = label != ignore_index
    weights = counts * (1.0 if weight is None else (chosen * weight).sum(-1))
    losses = -weights * (chosen * log).sum(-1)
    return losses.sum() / weights.sum() if reduction == "mean" else reduce(losses, reduction)


def smooth_l1_loss(pred, label, reduction, beta):
    """The absolute difference, a parabola below beta."""
    d = np.abs(pred - label)
    return reduce(np.where(d < beta, d**2 / (2 * beta or 1), d - beta / 2), reduction)


def huber_loss(pred, label, reduction, delta):
    """Half the square of the difference, a line above delta."""
    return reduce(special.huber(delta, pred - label), reduction)


def kl_div(pred, label, reduction, log_target):
    """Terms of the divergence, SciPy's but for what sums to 0."""
    if log_target:
        losses = np.exp(label) * (label - pred)
    else:
        losses = special.xlogy(label, label) - label * pred
    if reduction != "batchmean":
        return reduce(losses, reduction)
    return losses.sum() / (losses.shape[0] if losses.ndim else 1)


def binary_cross_entropy(pred, label, with_logits, reduction):
    """Cross entropy of two classes."""
    hit, miss = (special.log_expit(pred), special.log_expit(-pred)) if with_logits else (
        np.log(pred), np.log1p(-pred))  # fmt: skip
    return reduce(-(label * hit + (1 - label) * miss), reduction)


def hinge_loss(pred, label, norm, reduction):
    """The distances to the margin, or their squares, over the classes."""
    distances = np.maximum(0, 1 - pred * label)
    return reduce((distances ** (2 if norm == "L2" else 1)).sum(1), reduction)


def cosine_similarity(x, y, axis, epsilon):
    """The product of vectors by their lengths."""
    x, y = np.broadcast_arrays(x, y)
    lengths = [np.maximum(np.sqrt((each**2).sum(axis)), epsilon) for each in (x, y)]
    return (x * y).sum(axis) / lengths[0] / lengths[1]


def triplet_margin_loss(anchor, positive, negative, margin, p, epsilon, swap, reduction):
    """How much nearer the positive is than the negative."""

    def distance(x, y):
        return np.linalg.norm(x - y + epsilon, p, axis=-1)

    far = distance(anchor, negative)
    far = np.minimum(far, distance(positive, negative)) if swap else far
    return reduce(np.maximum(distance(anchor, positive) - far + margin, 0), reduction)
