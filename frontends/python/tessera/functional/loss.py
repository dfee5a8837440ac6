"""Loss functions."""

import numpy as _np

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from ._lengths import from_zero as _from_zero
from .control import scan as _scan
from .generated import check_choice as _check_choice
from .generated import export

# The logarithm of what cannot be: with -inf, a gradient would be a difference of infinities.
_IMPOSSIBLE = -1e30
# Dtypes rather than names: the name of one takes NumPy longer than a loss.
_INDICES = {_np.dtype("int32"), _np.dtype("int64")}


def cross_entropy(pred, label, axis=1, with_logits=True, label_smooth=0.0, reduction="mean",
                  ignore_index=-100, weight=None):  # fmt: skip
    """Cross entropy of class scores along `axis` and class indices: `ops.cross_entropy`.

    Args:
        pred: float[*D], logits of the classes along `axis`, or their probabilities
        label: int[*D without the axis], from 0 to below the number of classes
        axis: axis of the classes
        with_logits: whether pred holds logits
        label_smooth: share of the loss spread evenly over all classes
        reduction: "mean", by the weights of the labels that count, "sum" or "none"
        ignore_index: the label that does not count
        weight: float[C], what the labels of a class count; None: 1 each

    Returns:
        float[], or without a reduction float of the shape of label

    Raises:
        IndexError: a label must be a class or ignore_index; found when the kernel runs
        TypeError: label must be integers
        ValueError: shapes must fit; reduction must be one of its values

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.cross_entropy(ts.tensor([[0.0, 0.0], [3.0, 1.0]]), ts.tensor([1, -100])).item()
        0.6931471824645996
    """
    return _ops.cross_entropy(pred, _as_index(label), weight, axis, label_smooth, with_logits,
                              reduction, ignore_index)  # fmt: skip


def _as_index(label):
    """Integers of other dtypes as int64; what are no integers goes on, to be refused."""
    dtype = getattr(label, "dtype", None)
    if dtype in _INDICES or getattr(dtype, "kind", "") not in ("i", "u"):
        return label
    return _ops.astype(label, "int64")


def ctc_loss(pred, pred_lengths, label, label_lengths, blank=0, reduction="mean"):
    """Minus the logarithm of the probability that a sequence of predictions, from which repetitions
    and then blanks are left out, is the label: A. Graves et al., ICML 2006.

    A label that no alignment gives, as one longer than its predictions, has the loss inf, and a
    gradient of 0. It is one scan over the predictions, in logarithms; half precision is float32
    inside.

    Args:
        pred: float[T, N, C], probabilities of the classes, of which one is the blank
        pred_lengths: int[N], how many predictions of a sequence count
        label: int[N, S], of which only label_lengths count, or int[sum(label_lengths)]
        label_lengths: int[N]
        blank: the class that stands for no label
        reduction: "mean" of the losses over the lengths of their labels (at least 1), "sum" or
            "none"

    Returns:
        float[], or float[N] without a reduction

    Raises:
        ValueError: reduction must be one of its values; shapes must fit
        IndexError: labels must be classes, pred_lengths at most T, label_lengths at most S or
            together the number of labels; found when the kernel runs
        TypeError: pred must be a float tensor, labels and lengths integers

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> one = ts.tensor([1], dtype="int32")
        >>> label = ts.tensor([[1]], dtype="int32")
        >>> F.ctc_loss(ts.tensor([[[0.25, 0.75]]]), one, label, one).item()
        0.28768205642700195
    """
    _check_choice("ctc_loss", "reduction", reduction, ("mean", "none", "sum"))
    pred, pred_lengths, label, label_lengths = map(
        _as_tensor, (pred, pred_lengths, label, label_lengths)
    )
    if pred.ndim != 3:
        raise ValueError(f"ctc_loss: pred must have rank 3, got pred {pred.shape}")
    for what, each in (("pred_lengths", pred_lengths), ("label", label),
                       ("label_lengths", label_lengths)):  # fmt: skip
        if each.dtype.kind not in "iu":
            raise TypeError(f"ctc_loss: {what} must be integers, got {each.dtype}")
    wide = _ops.astype(pred, "float32") if pred.dtype.itemsize == 2 else pred
    pred_lengths = _from_zero(pred_lengths, pred.shape[0] + 1, "ctc_loss: pred_lengths")
    if label.ndim == 2:
        label_lengths = _from_zero(label_lengths, label.shape[1] + 1, "ctc_loss: label_lengths")
    else:
        label, label_lengths = _rows(label, label_lengths)
    states = _states(label, label_lengths, blank, pred.shape[2])
    loss = _alignment_loss(_log(wide), pred_lengths, states, label_lengths, blank)
    if reduction == "mean":
        loss = _ops.mean(loss / _ops.maximum(label_lengths, 1))
    elif reduction == "sum":
        loss = _ops.sum(loss)
    return _ops.astype(loss, pred.dtype)


def _as_tensor(value):
    return value if isinstance(value, _Tensor) else _Tensor(value)


def _log(pred):
    """The logarithm, and a large negative number of 0."""
    is_possible = pred > 0
    return _ops.where(is_possible, _ops.log(_ops.where(is_possible, pred, 1.0)), _IMPOSSIBLE)


def _rows(label, lengths):
    """Labels one after the other as rows of the longest one's length, and the lengths."""
    size = label.shape[0] + 1
    lengths = _from_zero(lengths, size, "ctc_loss: label_lengths")
    _from_zero(_ops.sum(lengths), size, "ctc_loss: label_lengths together").item()
    longest = int(_ops.max(lengths).item()) if lengths.shape[0] else 0
    first = _ops.cumsum(lengths, 0, exclusive=True)
    places = first[:, None] + _ops.arange(longest, dtype="int32")
    return _ops.index_get(label, [_ops.minimum(places, label.shape[0] - 1)], [0]), lengths


def _states(label, lengths, blank, classes):
    """int32[N, 2 * S + 1]: blanks around the labels, and for what is no label."""
    counts = _ops.arange(label.shape[1], dtype="int32") < lengths[:, None]
    label = _ops.where(counts, _ops.astype(label, "int32"), blank)
    label = _from_zero(label, classes, "ctc_loss: label")
    between = _ops.full_like(label, blank)
    pairs = _ops.reshape(_ops.stack([between, label], 2), (label.shape[0], label.shape[1] * 2))
    return _ops.pad(pairs, [0, 0], [0, 1], blank)


def _alignment_loss(log_pred, lengths, states, label_lengths, blank):
    """float[N], of log_pred[T, N, C]: the sum over all ways through the states."""
    steps, count = log_pred.shape[0], states.shape[1]

    def _shifted(x, by, value):
        return _ops.pad(x, [0, by], [0, -by], value)

    skips = _ops.logical_and(states != blank, states != _shifted(states, 2, blank))
    of_states = _ops.gather(log_pred, _ops.broadcast_to(states, (steps, states.shape[0], count)), 2)

    def _step(ways, now):
        log_probability, time = now
        skipped = _ops.where(skips, _shifted(ways, 2, _IMPOSSIBLE), _IMPOSSIBLE)
        arrived = _ops.logaddexp(_ops.logaddexp(ways, _shifted(ways, 1, _IMPOSSIBLE)), skipped)
        return _ops.where(time < lengths[:, None], arrived + log_probability, ways), None

    # Before the first prediction there is one way, which is in the first blank.
    start = _ops.where(_ops.arange(count, dtype="int32") == 0, 0.0, _IMPOSSIBLE)
    start = _ops.astype(_ops.broadcast_to(start, tuple(states.shape)), log_pred.dtype)
    ways, _ = _scan(_step, start, (of_states, _ops.arange(steps, dtype="int32")))
    end = _ops.astype(label_lengths, "int32")[:, None] * 2
    at_label = _ops.where(end > 0, _ops.gather(ways, _ops.maximum(end - 1, 0), 1), _IMPOSSIBLE)
    total = _ops.logaddexp(_ops.gather(ways, end, 1), at_label)[:, 0]
    return _ops.where(total < _IMPOSSIBLE / 2, float("inf"), -total)


export(globals())
