"""Activations, and softmax with its relatives."""

import tessera.functional as F  # noqa: N812

from tests.opinfo.rows import composed, elementwise, summing


def _prelu(x, weight):
    if weight.size == 1:
        return F.prelu(x, F.reshape(weight, ()))
    return F.prelu(x, F.reshape(weight, (1, -1) + (1,) * (x.ndim - 2)))


def _softplus(x, beta=1, threshold=20):
    scaled = x * beta
    return F.where(scaled > threshold, x, F.softplus(scaled) / beta)


def _threshold(x, threshold, value):
    return F.where(x > threshold, x, value)


def _softmax(x, dim, *, dtype=None):
    return F.softmax(x if dtype is None else F.astype(x, dtype), dim)


def _log_softmax(x, dim, *, dtype=None):
    return F.logsoftmax(x if dtype is None else F.astype(x, dtype), dim)


def _softmin(x, dim=None, *, dtype=None):
    return F.softmax(-(x if dtype is None else F.astype(x, dtype)), dim)


_POINTWISE = {
    "celu": lambda x, alpha=1.0: F.celu(x, alpha),
    "elu": lambda x, alpha=1.0: F.elu(x, alpha),
    "glu": lambda x, dim=-1: F.glu(x, dim),
    "hardshrink": lambda x, lambd=0.5: F.hardshrink(x, lambd),
    "hardsigmoid": lambda x: F.hsigmoid(x),
    "hardswish": lambda x: F.hswish(x),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0: F.hardtanh(x, min_val, max_val),
    "leaky_relu": lambda x, negative_slope=0.01: F.leaky_relu(x, negative_slope),
    "logsigmoid": lambda x: F.logsigmoid(x),
    "mish": lambda x: F.mish(x),
    "prelu": _prelu,
    "relu": lambda x: F.relu(x),
    "relu6": lambda x: F.relu6(x),
    "selu": lambda x: F.selu(x),
    "silu": lambda x: F.silu(x),
    "softshrink": lambda x, lambd=0.5: F.softshrink(x, lambd),
    "softsign": lambda x: F.softsign(x),
    "threshold": _threshold,
}
_NORMALISING = {
    "log_softmax": _log_softmax,
    "log_softmax.with_dtype": _log_softmax,
    "nn.functional.softmin": _softmin,
    "nn.functional.softmin.with_dtype": _softmin,
    "softmax": _softmax,
    "softmax.with_dtype": _softmax,
}
# Differences of numbers that are nearly alike, as 1 + erf(x) far below 0; a softplus in steps.
_COMPOSED = {
    "nn.functional.gelu": lambda x, *, approximate="none": F.gelu(x, approximate),
    "nn.functional.softplus": _softplus,
    "nn.functional.tanhshrink": lambda x: F.tanhshrink(x),
}
ROWS = (
    elementwise({f"nn.functional.{name}": call for name, call in _POINTWISE.items()})
    | summing(_NORMALISING, 8)
    | composed(_COMPOSED)
)
