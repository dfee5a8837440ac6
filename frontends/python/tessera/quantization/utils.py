"""Parameters of quantization, beside a tensor or of its dtype, and the operators that use them."""

import abc
import enum

import numpy as np

from .. import _core, _quantized
from .._core import Tensor
from ..functional._integer_sums import MOST_BIAS

_KINDS = _core.quantized_kinds()


class QuantMode(enum.Enum):
    """Whether 0 is the integer 0 (MegEngine's spelling), or a zero point says which one it is."""

    SYMMERTIC = 1
    ASYMMERTIC = 2


class QParams:
    """Integers q that a tensor's numbers would be: `(q - zero_point) * scale`. `mode` is a
    QuantMode, `dtype_meta` the kind of dtype, as "qint8"; scale and zero_point are tensors or None.

    >>> from tessera.quantization import create_qparams
    >>> create_qparams(dtype_meta="qint8")
    QParams(mode=QuantMode.SYMMERTIC, dtype_meta=qint8, scale=None, zero_point=None)
    """

    __slots__ = ("dtype_meta", "mode", "scale", "zero_point")
    _order = ("mode", "dtype_meta", "scale", "zero_point")

    def __init__(self, mode, dtype_meta, scale, zero_point):
        self.mode, self.dtype_meta = mode, dtype_meta
        self.scale, self.zero_point = scale, zero_point

    def update(self, qparams):
        """Takes over all fields of another one."""
        for name in self._order:
            setattr(self, name, getattr(qparams, name))

    def __eq__(self, other):
        if not isinstance(other, QParams) or self._order != other._order:
            return NotImplemented
        return all(_is_same(getattr(self, name), getattr(other, name)) for name in self._order)

    __hash__ = None

    def __repr__(self):
        rows = ", ".join(f"{name}={getattr(self, name)}" for name in self._order)
        return f"{type(self).__name__}({rows})"


class LSQParams(QParams):
    """QParams of a step that is learnt: `grad_scale` is the factor of its gradient, a tensor.

    >>> import tessera as ts
    >>> from tessera.quantization.utils import LSQParams, QuantMode
    >>> LSQParams(QuantMode.SYMMERTIC, "qint8", ts.tensor(0.5), None, ts.tensor(0.1)).scale.item()
    0.5
    """

    __slots__ = ("grad_scale",)
    _order = (*QParams._order, "grad_scale")

    def __init__(self, mode, dtype_meta, scale, zero_point, grad_scale):
        super().__init__(mode, dtype_meta, scale, zero_point)
        self.grad_scale = grad_scale


class QParamsModuleMixin(abc.ABC):
    """Adds to a module with `get_qparams` the dtype that its parameters make."""

    _of_channels = ()  # names of tensors of one number, of which each channel may have its own

    def get_quantized_dtype(self):
        """Gives the quantized dtype of `get_qparams()`. Scales are read, so that a traced function
        cannot call it.

        Raises:
            ValueError: a kind without a zero point must have none but 0
        """
        return quantized_dtype(type(self).__name__, self.get_qparams())

    @abc.abstractmethod
    def get_qparams(self):
        """Gives the QParams that the module has found."""

    def _widen(self, name, shape):
        """Gives each channel its own number."""
        tensor = getattr(self, name)
        numbers = np.broadcast_to(tensor.numpy(), shape)
        tensor._reset(Tensor(numbers, dtype=tensor.dtype))

    def _convert_state(self, values, prefix):
        """Takes over the channels of a state that is loaded."""
        for name in self._of_channels:
            value = values.get(prefix + name)
            if value is not None and getattr(self, name).ndim == 0:
                self._widen(name, np.shape(value))


def _is_same(first, second):
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return first is second or first.tolist() == second.tolist()
    return not isinstance(first, Tensor) and not isinstance(second, Tensor) and first == second


def limits_of(caller, kind):
    """Least and largest integer of a kind of dtype.

    ValueError: kind must be the name of a quantized dtype; `caller` begins the message.

    >>> from tessera.quantization.utils import limits_of
    >>> limits_of("MinMaxObserver", "qint8_narrow")
    (-127, 127)
    """
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"{caller}: dtype must be one of {', '.join(_KINDS)}, got {kind!r}")
    return _KINDS[kind][:2]


def mode_of_kind(kind):
    """The QuantMode of a kind of dtype: whether it has a zero point."""
    return QuantMode.ASYMMERTIC if _KINDS[kind][2] else QuantMode.SYMMERTIC


def create_qparams(mode=QuantMode.SYMMERTIC, dtype_meta=None, scale=None, zero_point=None):
    """QParams of these. TypeError: mode must be a QuantMode or None.

    >>> from tessera.quantization import QuantMode, create_qparams
    >>> create_qparams(QuantMode.ASYMMERTIC).mode
    <QuantMode.ASYMMERTIC: 2>
    """
    if mode is not None and not isinstance(mode, QuantMode):
        raise TypeError(f"create_qparams: mode must be a QuantMode, got {mode!r}")
    return QParams(mode, dtype_meta, scale, zero_point)


def of_tensor(tensor):
    """Gives the QParams of a tensor's dtype, or of the grid that its numbers are on; those of other
    tensors say nothing yet.
    """
    found = _core.quantization(tensor.dtype)
    if found is None:
        return _of_grid(tensor)
    kind, scale, zero_point, _ = found
    mode = QuantMode.SYMMERTIC if zero_point is None else QuantMode.ASYMMERTIC
    number = None if zero_point is None else Tensor(zero_point, dtype="int32")
    return create_qparams(mode, kind, Tensor(scale, dtype="float32"), number)


def _of_grid(tensor):
    grid = _core.grid_of(tensor)
    if grid is None:
        return create_qparams()
    kind, scale, zero_point = grid
    mode = mode_of_kind(kind)
    return create_qparams(mode, kind, scale, zero_point if mode is QuantMode.ASYMMERTIC else None)


def keep_grid(tensor, qparams):
    """Lets results of functions that move or pool the elements of `tensor`, which these QParams
    rounded, have them, too. Scales of channels are not kept.
    """
    if qparams.dtype_meta is not None and qparams.scale.ndim == 0:
        zero_point = Tensor(0, dtype="int32") if qparams.zero_point is None else qparams.zero_point
        _core.set_grid(tensor, qparams.dtype_meta, qparams.scale.detach(), zero_point)


def quantized_dtype(caller, qparams):
    """The quantized dtype that QParams describe. Where scale has several numbers these are the
    channels of its axis that is not 1.

    ValueError: a kind without a zero point must have none but 0; `caller` begins the message.

    >>> import tessera as ts
    >>> from tessera.quantization.utils import create_qparams, quantized_dtype
    >>> dtype = quantized_dtype("net", create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5)))
    >>> ts.dtype.is_dtype_equal(dtype, ts.dtype.qint8(0.5))
    True
    """
    kind, scale = qparams.dtype_meta, qparams.scale.numpy()
    limits_of(caller, kind)
    zero_point = np.int32(0) if qparams.zero_point is None else qparams.zero_point.numpy()
    axis = next((axis for axis, size in enumerate(scale.shape) if size != 1), None)
    if axis is None:
        scale, zero_point = scale.item(), int(zero_point.item())
    else:
        scale = scale.reshape(-1).tolist()
        zero_point = np.int32(zero_point).reshape(-1).tolist()
    if mode_of_kind(kind) is QuantMode.ASYMMERTIC:
        return getattr(_quantized, kind)(scale, zero_point, axis=axis)
    if qparams.mode is QuantMode.ASYMMERTIC and np.any(zero_point):
        raise ValueError(
            f"{caller}: a dtype with a zero point must be quint8 or quint4, got {kind}"
        )
    return getattr(_quantized, kind)(scale, axis=axis)


def zero_point_of(qparams):
    """The zero point that counts: 0 where the mode is not QuantMode.ASYMMERTIC."""
    return qparams.zero_point if qparams.mode is QuantMode.ASYMMERTIC else 0


def fake_quant_tensor(inp, qparams):
    """Rounds a tensor to the grid of QParams: `(q - z) * s` with `q = clip(round(inp / s) + z)`.

    Gradients pass where nothing is cut off (Y. Bengio et al., arXiv:1308.3432; B. Jacob et al.,
    arXiv:1712.05877).

    Args:
        inp: float[*D]
        qparams: QParams with a kind of dtype and a scale; a zero point counts where its mode is
            QuantMode.ASYMMERTIC

    Raises:
        ValueError: dtype_meta must be the name of a quantized dtype

    >>> import tessera as ts
    >>> from tessera.quantization import create_qparams, fake_quant_tensor
    >>> qparams = create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5))
    >>> fake_quant_tensor(ts.tensor([0.7, 100.0]), qparams).tolist()
    [0.5, 63.5]
    """
    low, high = limits_of("fake_quant_tensor", qparams.dtype_meta)
    return _core.ops.fake_quant(inp, qparams.scale, zero_point_of(qparams), qmin=low, qmax=high)


def fake_quant_bias(bias, inp, w_qat):
    """Rounds a bias to integers of the scale that sums of products have: that of the input times
    that of the weight. Gives the bias itself where either has none.

    Integers are within 2**30 of 0, so that an int32 holds their sum with the products. Zero points
    do not count, because the integers of the input are taken less theirs.

    Args:
        bias: float[*B] or None
        inp: the input of the layer, with `qparams`
        w_qat: its weight, with `qparams` of one scale or of one for each channel of the bias

    >>> import tessera as ts
    >>> from tessera.quantization import create_qparams, fake_quant_bias
    >>> inp, weight = ts.tensor([1.0]), ts.tensor([1.0])
    >>> for each in (inp, weight):
    ...     each.qparams.update(create_qparams(dtype_meta="qint8", scale=ts.tensor(0.5)))
    >>> fake_quant_bias(ts.tensor([0.3]), inp, weight).tolist()
    [0.25]
    """
    x_scale, w_scale = inp.qparams.scale, w_qat.qparams.scale
    if bias is None or x_scale is None or w_scale is None:
        return bias
    scale = x_scale * w_scale
    if scale.size > 1:
        scale = scale.reshape(bias.shape)
    result = _core.ops.fake_quant(bias, scale, 0, qmin=-MOST_BIAS, qmax=MOST_BIAS)
    result.qparams.update(create_qparams(QuantMode.SYMMERTIC, "qint32", scale))
    return result


def tqt_forward(qmin, qmax, inp, scale):
    """Rounds a tensor to a grid whose step is a trained power of two, `2 ** ceil(scale)` (S. Jain
    et al., arXiv:1903.08066).

    Args:
        qmin: int, the least integer
        qmax: int, the largest integer
        inp: float[*D]
        scale: float[], the logarithm of the step to base 2

    >>> import tessera as ts
    >>> from tessera.quantization.utils import tqt_forward
    >>> tqt_forward(-128, 127, ts.tensor([0.7, 100.0]), ts.tensor(-1.5)).tolist()
    [0.5, 63.5]
    """
    return _core.ops.tqt(inp, scale, qmin=qmin, qmax=qmax)


def lsq_forward(qmin, qmax, inp, step_size, zero_point=None, scale_grad=None):
    """Rounds a tensor to a grid whose step is trained (S. Esser et al., arXiv:1902.08153).

    Args:
        qmin: int, the least integer
        qmax: int, the largest integer
        inp: float[*D]
        step_size: float[], above 0
        zero_point: int32[] or None, which is 0
        scale_grad: float[], the factor of the gradient of the step, or None, which is 1

    >>> import tessera as ts
    >>> from tessera.quantization.utils import lsq_forward
    >>> lsq_forward(-128, 127, ts.tensor([0.7, 100.0]), ts.tensor(0.5)).tolist()
    [0.5, 63.5]
    """
    zero_point = 0 if zero_point is None else zero_point
    scale_grad = 1.0 if scale_grad is None else scale_grad
    return _core.ops.lsq(inp, step_size, zero_point, scale_grad, qmin=qmin, qmax=qmax)
