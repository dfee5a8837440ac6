"""Float functions of the modes that MegEngine's elementwise operators of quantized tensors have."""

from .._core import ops as _ops


def _then(function):
    return lambda x, y: function(_ops.add(x, y))


# MegEngine's names of functions that have another one here.
_NAMES = {
    "QNEGATE": "neg",
    "QMAX": "maximum",
    "QMIN": "minimum",
    "QTRUE_DIV": "div",
    "QLOG_SUM_EXP": "logaddexp",
    "QH_SWISH": "hswish",
}
_OF_THE_SAME_NAME = """
    QABS QACOS QADD QASIN QATAN2 QCEIL QCOS QERF QERFC QEXP QEXPM1 QFLOOR QFLOOR_DIV QGELU
    QHSIGMOID QHSWISH QLOG QLOG1P QMISH QMOD QMUL QPOW QRECIPROCAL QRELU QRELU6 QROUND QRSQRT
    QSIGMOID QSIGN QSILU QSIN QSOFTPLUS QSQRT QSQUARE QSUB QTANH"""
_MODES = {
    **{mode: getattr(_ops, mode[1:].lower()) for mode in _OF_THE_SAME_NAME.split()},
    **{mode: getattr(_ops, name) for mode, name in _NAMES.items()},
    "QFAST_TANH": lambda x: x * (27 + x * x) / (27 + 9 * x * x),
    "QFUSE_ADD_H_SWISH": _then(_ops.hswish),
    "QFUSE_ADD_RELU": _then(_ops.relu),
    "QFUSE_ADD_SIGMOID": _then(_ops.sigmoid),
    "QFUSE_ADD_TANH": _then(_ops.tanh),
    "QFUSE_MUL_ADD3": lambda x, y, z: x * y + z,
    "QFUSE_MUL_ADD4": lambda x, y, z, w: x * y + z * w,
}


def function_of(mode):
    """The float function of a mode, in any case of letters.

    ValueError: mode must be a known one.
    """
    found = _MODES.get(mode.upper()) if isinstance(mode, str) else None
    if found is None:
        raise ValueError(f"elemwise: mode must be one of {sorted(_MODES)}, got {mode!r}")
    return found
