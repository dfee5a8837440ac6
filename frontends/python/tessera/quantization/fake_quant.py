"""Modules that round tensors to the grid of a quantized dtype, for training."""

import numpy as np

from .. import functional as F  # noqa: N812
from ..logger import get_logger
from ..module.module import Module
from ..optimizer.checks import check_range
from ..tensor import Parameter, Tensor
from .utils import (
    LSQParams,
    QParamsModuleMixin,
    QuantMode,
    create_qparams,
    fake_quant_tensor,
    keep_grid,
    limits_of,
    lsq_forward,
    mode_of_kind,
    tqt_forward,
    zero_point_of,
)


class _FakeQuantize(Module):
    """Base class: a module that rounds while it is enabled and else gives its input.

    A subclass gives `fake_quant_forward`, and `get_qparams` where it knows its scale. The result
    has the QParams that it was rounded by as `qparams`.
    """

    def __init__(self, dtype, enable=True, narrow_range=None, name=None):
        super().__init__(name)
        if narrow_range is not None:
            get_logger(__name__).warning(
                "%s: narrow_range is ignored; the dtype qint8_narrow is narrow", type(self).__name__
            )
        self.qmin, self.qmax = limits_of(type(self).__name__, dtype)
        self.dtype = dtype
        self.enabled = enable

    def enable(self):
        """Lets the module round."""
        self.enabled = True

    def disable(self):
        """Lets the module give its input."""
        self.enabled = False

    def fake_quant_forward(self, inp, qparams=None):
        """Rounds `inp`, float[*D]."""
        raise NotImplementedError(
            f"{type(self).__name__}: fake_quant_forward must be given, got none"
        )

    def normal_forward(self, inp, qparams=None):
        """Gives `inp`: what the module does while it is disabled."""
        return inp

    def forward(self, inp, qparams=None):
        """Rounds `inp`, float[*D], while the module is enabled, by its own or these QParams."""
        if not self.enabled:
            return self.normal_forward(inp, qparams)
        result = self.fake_quant_forward(inp, qparams)
        own = getattr(self, "get_qparams", None)
        qparams = qparams if own is None else own()
        if qparams is not None:
            result.qparams.update(qparams)
            keep_grid(result, result.qparams)
        return result

    def _check_qparams(self, qparams):
        """ValueError unless they have a scale and the dtype of the module, or no dtype."""
        name = type(self).__name__
        if qparams is None or qparams.scale is None:
            raise ValueError(f"{name}: qparams must have a scale, got {qparams}")
        kind = qparams.dtype_meta
        if kind not in (None, self.dtype):
            raise ValueError(f"{name}: dtype of qparams must be {self.dtype}, got {kind}")


class FakeQuantize(_FakeQuantize):
    """Rounds to the grid of QParams that an observer found: see fake_quant_tensor.

    Args:
        dtype: kind of dtype, as "qint8", which those of the QParams must be
        enable: whether it rounds at first
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        ValueError: dtype must be the name of a quantized dtype; QParams must have a scale and that
            dtype

    >>> import tessera as ts
    >>> from tessera.quantization import FakeQuantize, create_qparams
    >>> qparams = create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5))
    >>> FakeQuantize("qint8")(ts.tensor([0.7, 100.0]), qparams).tolist()
    [0.5, 63.5]
    """

    def fake_quant_forward(self, inp, qparams=None):
        """Rounds `inp`, float[*D], by `qparams`."""
        self._check_qparams(qparams)
        return fake_quant_tensor(inp, qparams)


class TQT(QParamsModuleMixin, _FakeQuantize):
    """Trained quantization thresholds: rounds by a step `2 ** ceil(scale)` whose logarithm to
    base 2, the parameter `scale`, is trained (S. Jain et al., arXiv:1903.08066).

    Args:
        dtype: kind of dtype, as "qint8"
        enable: whether it rounds at first
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        ValueError: dtype must be the name of a quantized dtype; QParams that are set must be
            symmetric and have a scale and that dtype

    >>> import tessera as ts
    >>> from tessera.quantization import TQT, create_qparams
    >>> rounds = TQT("qint8")
    >>> rounds.set_qparams(create_qparams(dtype_meta="qint8", scale=ts.tensor(0.4)))
    >>> rounds(ts.tensor([0.7, 100.0])).tolist(), rounds.get_qparams().scale.item()
    ([0.5, 63.5], 0.5)
    """

    def __init__(self, dtype, enable=True, narrow_range=None, name=None):
        super().__init__(dtype, enable, narrow_range, name)
        self.scale = Parameter(0.0, dtype="float32")
        self._of_channels = ("scale",)

    def fake_quant_forward(self, inp, qparams=None):
        """Rounds `inp`, float[*D]."""
        return tqt_forward(self.qmin, self.qmax, inp, self.scale)

    def set_qparams(self, qparams):
        """Begins at the scale of QParams, or at the next larger power of two."""
        self._check_qparams(qparams)
        if qparams.mode is not QuantMode.SYMMERTIC:
            raise ValueError(f"TQT: qparams must be symmetric, got {qparams}")
        log2_scale = np.log2(qparams.scale.numpy().astype(np.float64))
        self.scale._reset(Tensor(log2_scale, dtype="float32"))

    def get_qparams(self):
        """Gives QParams with the step as scale, float32[]."""
        # Infinity is cut off at 1, so that the operator itself says its step.
        step = tqt_forward(0, 1, Tensor(float("inf"), dtype="float32"), self.scale.detach())
        return create_qparams(QuantMode.SYMMERTIC, self.dtype, step)


class LSQ(QParamsModuleMixin, _FakeQuantize):
    """Learned step size: rounds by a step `abs(step_size) + eps`, where the parameter `step_size`
    is trained (S. Esser et al., arXiv:1902.08153).

    Args:
        dtype: kind of dtype, as "qint8"
        enable: whether it rounds at first
        eps: the least step, above 0
        narrow_range: ignored, with a warning, as in MegEngine
        name: name of the module

    Raises:
        ValueError: dtype must be the name of a quantized dtype, eps finite and above 0; QParams
            that are set must have a scale and that dtype

    >>> import tessera as ts
    >>> from tessera.quantization import LSQ, create_qparams
    >>> rounds = LSQ("qint8")
    >>> rounds.set_qparams(create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5)))
    >>> rounds(ts.tensor([0.7, 100.0])).tolist()
    [0.5, 63.5]
    """

    def __init__(self, dtype, enable=True, eps=1e-5, narrow_range=None, name=None):
        super().__init__(dtype, enable, narrow_range, name)
        check_range("LSQ", "eps", eps, float(np.finfo(np.float32).smallest_normal))
        self.mode = mode_of_kind(dtype)
        self.eps = Tensor(eps, dtype="float32")
        self.step_size = Parameter(1.0, dtype="float32")
        self.zero_point = Tensor(0, dtype="int32")
        self.grad_scale = Tensor(1.0, dtype="float32")
        self._of_channels = ("step_size", "zero_point")

    def _step(self, step_size):
        return F.abs(step_size) + self.eps

    def fake_quant_forward(self, inp, qparams=None):
        """Rounds `inp`, float[*D]."""
        step = self._step(self.step_size)
        return lsq_forward(self.qmin, self.qmax, inp, step, self.zero_point, self.grad_scale)

    def set_qparams(self, qparams):
        """Begins at the scale and the zero point of QParams; those of LSQParams with the factor of
        the step's gradient, too.
        """
        self._check_qparams(qparams)
        self.mode = qparams.mode
        step_size = F.maximum(qparams.scale.detach() - self.eps, 0.0)
        self.step_size._reset(step_size)
        self.zero_point._reset(Tensor(zero_point_of(qparams), dtype="int32"))
        grad_scale = getattr(qparams, "grad_scale", None)
        if grad_scale is not None:
            self.grad_scale._reset(Tensor(grad_scale, dtype="float32"))

    def get_qparams(self):
        """Gives LSQParams with the step as scale."""
        zero_point = self.zero_point if self.mode is QuantMode.ASYMMERTIC else None
        step = self._step(self.step_size.detach())
        return LSQParams(self.mode, self.dtype, step, zero_point, self.grad_scale)
