"""Losses as modules, with PyTorch's names: each is a function of `functional`."""

from .. import functional as F  # noqa: N812
from ..functional.generated import check_choice
from ..tensor import Tensor
from .module import Module


class _Loss(Module):
    def __init__(self, reduction="mean", **kwargs):
        super().__init__(**kwargs)
        check_choice(type(self).__name__, "reduction", reduction, ("mean", "none", "sum"))
        self.reduction = reduction

    def _module_info_string(self):
        names = [name for name in vars(self) if name in _SHOWN]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


_SHOWN = {"reduction", "ignore_index", "label_smoothing", "beta", "delta", "log_target", "margin",
          "p", "eps", "swap"}  # fmt: skip


class L1Loss(_Loss):
    """abs(input - target): functional.l1_loss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.L1Loss()(ts.tensor([1.0, 2.0]), ts.tensor([2.0, 4.0])).item()
    1.5
    """

    def forward(self, input, target):
        """See the class."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(input - target)^2: functional.square_loss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.MSELoss(reduction="sum")(ts.tensor([1.0, 2.0]), ts.tensor([2.0, 4.0])).item()
    5.0
    """

    def forward(self, input, target):
        """See the class."""
        return F.square_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squares of differences below `beta`, sizes above it: functional.smooth_l1_loss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.SmoothL1Loss()(ts.tensor([0.0, 0.0]), ts.tensor([1.0, 3.0])).item()
    1.5
    """

    def __init__(self, reduction="mean", beta=1.0, **kwargs):
        super().__init__(reduction, **kwargs)
        self.beta = beta

    def forward(self, input, target):
        """See the class."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squares of differences below `delta`, `delta` times their sizes above it:
    functional.huber_loss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.HuberLoss(delta=2.0)(ts.tensor([0.0, 0.0]), ts.tensor([1.0, 3.0])).item()
    2.25
    """

    def __init__(self, reduction="mean", delta=1.0, **kwargs):
        super().__init__(reduction, **kwargs)
        self.delta = delta

    def forward(self, input, target):
        """See the class."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_Loss):
    """Binary cross entropy of probabilities: functional.binary_cross_entropy.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> round(M.BCELoss()(ts.tensor([0.5]), ts.tensor([1.0])).item(), 4)
    0.6931
    """

    def forward(self, input, target):
        """See the class."""
        return F.binary_cross_entropy(input, target, with_logits=False, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits: functional.binary_cross_entropy.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> round(M.BCEWithLogitsLoss()(ts.tensor([0.0]), ts.tensor([1.0])).item(), 4)
    0.6931
    """

    def forward(self, input, target):
        """See the class."""
        return F.binary_cross_entropy(input, target, with_logits=True, reduction=self.reduction)


class KLDivLoss(_Loss):
    """Divergence of the logarithms `input` from the distribution `target`: functional.kl_div. Its
    mean is that over all elements.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.KLDivLoss(reduction="sum")(ts.tensor([0.0]), ts.tensor([1.0])).item()
    0.0
    """

    def __init__(self, reduction="mean", log_target=False, **kwargs):
        super().__init__(reduction, **kwargs)
        self.log_target = log_target

    def forward(self, input, target):
        """See the class."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits, whose classes are along axis 1, and labels:
    functional.cross_entropy.

    `weight`, float[C], is what the labels of a class count, and a buffer; the label `ignore_index`
    does not count; `label_smoothing` is the share of a loss that all classes have evenly.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> round(M.CrossEntropyLoss()(ts.tensor([[0.0, 0.0]]), ts.tensor([1])).item(), 4)
    0.6931
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
                 **kwargs):  # fmt: skip
        super().__init__(reduction, **kwargs)
        self.weight = None if weight is None else Tensor(weight)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        """See the class."""
        return F.cross_entropy(
            input, target, label_smooth=self.label_smoothing, reduction=self.reduction,
            ignore_index=self.ignore_index, weight=self.weight,
        )  # fmt: skip


class NLLLoss(_Loss):
    """Minus the logarithm of the label's probability, of logarithms whose classes are along axis 1:
    functional.nll_loss. `weight` and `ignore_index` as those of CrossEntropyLoss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> M.NLLLoss()(ts.tensor([[-1.0, -2.0]]), ts.tensor([1])).item()
    2.0
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.weight = None if weight is None else Tensor(weight)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        """See the class."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index,
                          reduction=self.reduction)  # fmt: skip


class TripletMarginLoss(_Loss):
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d the `p`-norm of a difference:
    functional.triplet_margin_loss.

    >>> import tessera as ts
    >>> import tessera.module as M
    >>> loss = M.TripletMarginLoss(margin=1.0)
    >>> round(loss(ts.tensor([[0.0]]), ts.tensor([[0.0]]), ts.tensor([[0.5]])).item(), 4)
    0.5
    """

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.margin, self.p, self.eps, self.swap = margin, float(p), eps, swap

    def forward(self, anchor, positive, negative):
        """See the class."""
        return F.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps,
                                     self.swap, self.reduction)  # fmt: skip
