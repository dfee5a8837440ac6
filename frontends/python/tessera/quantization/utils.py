"""Parameters of quantization, beside a tensor or of its dtype."""

import enum

from .. import _core
from .._core import Tensor


class QuantMode(enum.Enum):
    """Whether 0 is the integer 0 (MegEngine's spelling), or a zero point says which one it is."""

    SYMMERTIC = 1
    ASYMMERTIC = 2


class QParams:
    """What a tensor's numbers would be as integers: `(q - zero_point) * scale`. `mode` is a
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
        """Takes over what another one says."""
        for name in self._order:
            setattr(self, name, getattr(qparams, name))

    def __eq__(self, other):
        if not isinstance(other, QParams):
            return NotImplemented
        return all(_is_same(getattr(self, name), getattr(other, name)) for name in self._order)

    __hash__ = None

    def __repr__(self):
        rows = ", ".join(f"{name}={getattr(self, name)}" for name in self._order)
        return f"QParams({rows})"


def _is_same(first, second):
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return first is second or first.tolist() == second.tolist()
    return not isinstance(first, Tensor) and not isinstance(second, Tensor) and first == second


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
    """Those of its dtype; of one that is not quantized they say nothing yet."""
    found = _core.quantization(tensor.dtype)
    if found is None:
        return create_qparams()
    kind, scale, zero_point, _ = found
    mode = QuantMode.SYMMERTIC if zero_point is None else QuantMode.ASYMMERTIC
    number = None if zero_point is None else Tensor(zero_point, dtype="int32")
    return create_qparams(mode, kind, Tensor(scale, dtype="float32"), number)
