"""Loss functions."""

from .._core import ops as _ops
from .generated import export


def cross_entropy(pred, label, axis=1, with_logits=True, label_smooth=0.0, reduction="mean"):
    """Cross entropy of class scores along `axis` and class indices.

    >>> from tessera import tensor
    >>> cross_entropy(tensor([[0.0, 0.0]]), tensor([1]), label_smooth=0.0).item()
    0.6931471824645996
    """
    return _ops.cross_entropy(pred, label, axis, label_smooth, with_logits, reduction)


def binary_cross_entropy(pred, label, with_logits=True, reduction="mean"):
    """Cross entropy of two classes; `pred` are logits, or probabilities without `with_logits`.

    Args:
        pred, label: float[*D], which broadcast; labels are 0 to 1
        with_logits: pred holds logits, not probabilities
        reduction: one of mean, sum, none

    Returns:
        float[] or, with none, float[*D], of the promoted dtype

    Raises:
        ValueError: operands must broadcast; reduction must be one of its values
        TypeError: operands must be tensors, arrays or numbers

    Example:
        >>> from tessera import tensor
        >>> binary_cross_entropy(tensor([0.0]), tensor([1.0])).item()
        0.6931471824645996
    """
    if with_logits:
        loss = _ops.softplus(pred) - pred * label
    else:
        loss = -(label * _ops.log(pred) + (1 - label) * _ops.log(1 - pred))
    return _reduce("binary_cross_entropy", loss, reduction)


def hinge_loss(pred, label, norm="L1", reduction="mean"):
    """The sum over classes of max(0, 1 - pred * label), squared for "L2"; labels are 1 or -1.

    Args:
        pred, label: float[N, C], which broadcast
        norm: one of L1, L2
        reduction: one of mean, sum, none

    Returns:
        float[] or, with none, float[N], of the promoted dtype

    Raises:
        ValueError: operands must broadcast; norm and reduction must be one of their values
        TypeError: operands must be tensors, arrays or numbers

    Example:
        >>> from tessera import tensor
        >>> hinge_loss(tensor([[0.5, -2.0]]), tensor([[1.0, -1.0]])).item()
        0.5
    """
    if norm not in ("L1", "L2"):
        raise ValueError(f"hinge_loss: norm must be one of ['L1', 'L2'], got {norm!r}")
    loss = _ops.relu(1 - pred * label)
    return _reduce("hinge_loss", _ops.sum(loss if norm == "L1" else loss * loss, 1), reduction)


def _reduce(name, loss, reduction):
    kinds = {"mean": _ops.mean, "sum": _ops.sum, "none": lambda t: t}
    if reduction not in kinds:
        raise ValueError(f"{name}: reduction must be one of {list(kinds)}, got {reduction!r}")
    return kinds[reduction](loss)


export(globals())
