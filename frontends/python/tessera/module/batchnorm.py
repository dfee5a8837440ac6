"""Batch normalisation."""

import numpy as np

from .. import functional as F  # noqa: N812
from .._known_form import known_form
from ..tensor import Parameter, Tensor
from . import init
from .module import Module


class _BatchNorm(Module):
    """Normalises each channel by its mean and variance over the rest, then scales and shifts it.

    In training the statistics are those of the batch, and the running ones move towards them by
    1 - `momentum`; in inference they are the running ones. `freeze` uses those in training too, and
    weight and bias get no gradient. Without `track_running_stats` they are always the batch's; set
    to False later the running ones stay, and inference is a ValueError, as setting it to True is.
    """

    _has_flat_state = True
    _axes = (4,)  # numbers of axes that an input may have

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True,
                 track_running_stats=True, freeze=False, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats, self.freeze = affine, track_running_stats, freeze
        if freeze and not track_running_stats:
            raise ValueError(
                f"{type(self).__name__}: freeze must come with track_running_stats, got False"
            )
        shape = (1, num_features, 1, 1)
        self.weight = Parameter(np.ones(shape, dtype=np.float32)) if affine else None
        self.bias = Parameter(np.zeros(shape, dtype=np.float32)) if affine else None
        self.running_mean = self.running_var = None
        if track_running_stats:
            self.running_mean = Tensor(np.zeros(shape, dtype=np.float32))
            self.running_var = Tensor(np.ones(shape, dtype=np.float32))

    def reset_running_stats(self):
        """Running mean 0, running variance 1."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)

    def reset_parameters(self):
        """Weight 1, bias 0, and fresh running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    @known_form
    def forward(self, inp):
        """See the class."""
        if inp.ndim not in self._axes:
            known = " or ".join(f"{axes}D" for axes in self._axes)
            raise ValueError(
                f"{type(self).__name__}: expected {known} input, got {inp.ndim}D input of shape "
                f"{tuple(inp.shape)}"
            )
        axes = list(range(inp.ndim, 4))  # an image of height or width 1
        if not axes:
            return self._normalized(inp)
        return F.squeeze(self._normalized(F.expand_dims(inp, axes)), axes)

    def _normalized(self, inp):
        """Of images."""
        tracks = self.track_running_stats
        of_batch = (self.training and not self.freeze) or self.running_mean is None
        self._check_tracking(tracks, of_batch)
        mean, variance = (self.running_mean, self.running_var) if tracks else (None, None)
        weight, bias = self.weight, self.bias
        if self.freeze:
            weight = None if weight is None else weight.detach()
            bias = None if bias is None else bias.detach()
        return F.batch_norm(inp, mean, variance, weight, bias, training=of_batch,
                            momentum=self.momentum, eps=self.eps)  # fmt: skip

    def _check_tracking(self, tracks, of_batch):
        if tracks and self.running_mean is None:
            raise ValueError(
                f"{type(self).__name__}: track_running_stats must be given when the module is "
                f"made, got True for a module without running statistics"
            )
        if not tracks and not of_batch:
            raise ValueError(
                f"{type(self).__name__}: track_running_stats must be True where the running "
                f"statistics are used, got False"
            )

    def _module_info_string(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__ + "\n    For inputs [N, C] and [N, C, L].\n    "
    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__ + "\n    For inputs [N, C, H, W].\n    "


class SyncBatchNorm(BatchNorm2d):
    __doc__ = (
        _BatchNorm.__doc__
        + """
    For inputs [N, C], [N, C, L] and [N, C, H, W]. The batch is that of all processes: of `group`,
    which must be None, this one's.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.SyncBatchNorm(3)(F.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """
    )

    _axes = (2, 3, 4)

    def __init__(self, num_features, eps=1e-5, momentum=0.9, affine=True,
                 track_running_stats=True, freeze=False, group=None, **kwargs):  # fmt: skip
        if group is not None:
            raise ValueError(f"SyncBatchNorm: group must be None in one process, got {group!r}")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, freeze, **kwargs)


class BatchNorm3d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__ + "\n    For inputs [N, C, D, H, W].\n    "
    _axes = (5,)

    def _normalized(self, inp):
        images = F.flatten(inp, 2, 3)  # of height D * H
        return F.reshape(super()._normalized(images), inp.shape)
