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


export(globals())
