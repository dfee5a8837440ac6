"""Losses and distances."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import refuse, summing


def _reduced(loss, reduction):
    return loss if reduction == "none" else getattr(F, reduction)(loss)


def _pair(function):
    def call(x, y, *, reduction="mean", **more):
        return function(x, y, reduction=reduction, **more)

    return call


def _cross_entropy(x, y, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    refuse(y.dtype.kind == "f", "probabilities as labels")
    refuse(x.ndim == 1, "one sample without an axis")
    return F.loss.cross_entropy(x, y, 1, True, label_smoothing, reduction, ignore_index, weight)


def _nll(x, y, weight=None, ignore_index=-100, reduction="mean"):
    return F.nll_loss(x, y, weight, 0 if x.ndim == 1 else 1, ignore_index, reduction)


def _binary(x, y, weight=None, reduction="mean"):
    loss = F.loss.binary_cross_entropy(x, y, False, "none")
    return _reduced(loss if weight is None else loss * weight, reduction)


def _binary_with_logits(x, y, weight=None, pos_weight=None, reduction="mean"):
    refuse(pos_weight is not None, "pos_weight")
    loss = F.loss.binary_cross_entropy(x, y, True, "none")
    return _reduced(loss if weight is None else loss * weight, reduction)


def _kl_div(x, y, *, reduction="mean", log_target=False):
    refuse(reduction == "batchmean", "batchmean")
    return F.kl_div(x, y, reduction, log_target)


def _smooth_l1(x, y, *, reduction="mean", beta=1.0):
    return F.smooth_l1_loss(x, y, reduction, beta)


def _huber(x, y, *, reduction="mean", delta=1.0, weight=None):
    refuse(weight is not None, "weight")
    return F.huber_loss(x, y, reduction, delta)


def _mse(x, y, *, reduction="mean", weight=None):
    refuse(weight is not None, "weight")
    return F.loss.square_loss(x, y, reduction)


def _l1(x, y, *, reduction="mean", weight=None):
    refuse(weight is not None, "weight")
    return F.loss.l1_loss(x, y, reduction)


def _triplet(anchor, positive, negative, *, margin=1.0, p=2, eps=1e-6, swap=False,
             reduction="mean"):  # fmt: skip
    return F.triplet_margin_loss(anchor, positive, negative, margin, float(p), eps, swap, reduction)


def _cosine_similarity(x, y, dim=1, eps=1e-8):
    return F.cosine_similarity(x, y, dim, eps)


def _ctc(log_probs, targets, input_lengths, target_lengths, *, blank=0, reduction="mean",
         zero_infinity=False):  # fmt: skip
    refuse(zero_infinity, "zero_infinity")
    return F.loss.ctc_loss(F.exp(log_probs), input_lengths, targets, target_lengths, blank,
                           reduction)  # fmt: skip


# Of several operators where there are weights.
_WEIGHTED = {
    "nn.functional.binary_cross_entropy": _binary,
    "nn.functional.binary_cross_entropy_with_logits": _binary_with_logits,
}
_LOSSES = {
    "cosine_similarity": _cosine_similarity,
    "cross_entropy": _cross_entropy,
    "ctc_loss": _ctc,
    "huber_loss": _huber,
    "kl_div": _kl_div,
    "l1_loss": _l1,
    "mse_loss": _mse,
    "nll_loss": _nll,
    "smooth_l1_loss": _smooth_l1,
    "triplet_margin_loss": _triplet,
}
ROWS = summing({f"nn.functional.{name}": call for name, call in _LOSSES.items()}, 32) | summing(
    _WEIGHTED, 32, roundings=3
)
