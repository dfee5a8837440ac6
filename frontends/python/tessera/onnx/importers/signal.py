"""Transforms of signals, by matrices of sines and cosines, and windows."""

import math

import numpy as np

from ..._core import ops as _ops
from ..registry import importer
from ..values import dtype_of, tensor_of
from .elementwise import cast
from .shapes import moved_last


def _matrices(rows, columns, length, sign, dtype):
    """The cosines and sines of 2 pi j k / length, as [rows, columns]."""
    angles = np.outer(np.arange(rows), np.arange(columns)) % length * (2 * math.pi / length)
    return (tensor_of(each.astype(dtype)) for each in (np.cos(angles), sign * np.sin(angles)))


def _fitted(x, length):
    """The last axis cut or filled with zeros to a length."""
    extra = length - x.shape[-1]
    return _ops.pad(x, [0] * x.ndim, [0] * (x.ndim - 1) + [extra], 0.0) if extra else x


def transformed(real, imaginary, length, inverse, columns):
    """(real, imaginary) of `columns` frequencies: the discrete transform along the last axis."""
    sign = 1.0 if inverse else -1.0
    real = _fitted(real, length)
    cos, sin = _matrices(length, columns, length, sign, real.dtype.name)
    out = _ops.matmul(real, cos), _ops.matmul(real, sin)
    if imaginary is not None:
        imaginary = _fitted(imaginary, length)
        out = out[0] - _ops.matmul(imaginary, sin), out[1] + _ops.matmul(imaginary, cos)
    return tuple(each / length for each in out) if inverse else out


def _inverse_real(real, imaginary, length):
    """The real signal whose first half of frequencies is given."""
    half = length // 2 + 1
    real, imaginary = _fitted(real, half), _fitted(imaginary, half)
    twice = np.full(half, 2.0)
    twice[0] = 1.0
    if length % 2 == 0:
        twice[-1] = 1.0
    weight = tensor_of((twice / length).astype(real.dtype.name))
    cos, sin = _matrices(half, length, length, 1.0, real.dtype.name)
    return _ops.matmul(real * weight, cos) - _ops.matmul(imaginary * weight, sin)


@importer("DFT")
def _dft(node, x, length=None, axis=None):
    axis = node["axis"] if axis is None else int(node.number(2, axis))
    axis = -2 if axis is None else axis
    axis %= x.ndim
    inverse, onesided = bool(node["inverse"]), bool(node["onesided"])
    dtype = x.dtype.name
    parts = [_ops.squeeze(each, [-1]) for each in _ops.split(x, [1] * x.shape[-1], -1)]
    moved = [moved_last(each, axis) for each in parts]
    back, (real, *rest) = moved[0][1], [each[0] for each in moved]
    if length is None:
        size = int(real.shape[-1])
        size = 2 * (size - 1) if inverse and onesided else size
    else:
        size = int(node.number(1, length))
    imaginary = rest[0] if rest else None
    if inverse and onesided:
        signal = _inverse_real(real, imaginary, size)
        return cast(_ops.expand_dims(back(signal), [-1]), dtype)
    columns = size // 2 + 1 if onesided else size
    found = transformed(real, imaginary, size, inverse, columns)
    return cast(_ops.stack([back(each) for each in found], -1), dtype)


@importer("STFT")
def _stft(node, x, step, window=None, length=None):
    step = int(node.number(1, step))
    x = _ops.expand_dims(x, [-1]) if x.ndim == 2 else x
    size = _frame_length(node, x, window, length)
    count = 1 + (x.shape[1] - size) // step
    frames = _ops.stack([x[:, i * step : i * step + size] for i in range(count)], 1)
    if window is not None:
        frames = frames * _ops.reshape(cast(window, x.dtype.name), (1, 1, size, 1))
    parts = [_ops.squeeze(each, [-1]) for each in _ops.split(frames, [1] * x.shape[-1], -1)]
    columns = size // 2 + 1 if node["onesided"] else size
    imaginary = parts[1] if len(parts) > 1 else None
    return _ops.stack(transformed(parts[0], imaginary, size, False, columns), -1)


def _frame_length(node, x, window, length):
    if length is not None:
        return int(node.number(3, length))
    return int(x.shape[1] if window is None else window.shape[0])


# Coefficients of a sum of cosines: a0 - a1 cos(t) + a2 cos(2 t).
_WINDOWS = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}


@importer(*_WINDOWS)
def _window(node, size):
    count = int(node.number(0, size))
    divisor = count if node["periodic"] else count - 1
    angles = np.arange(count) * (2 * math.pi / max(divisor, 1))
    a0, a1, a2 = _WINDOWS[node.op_type]
    values = a0 - a1 * np.cos(angles) + a2 * np.cos(2 * angles)
    return cast(tensor_of(values), dtype_of(node["output_datatype"], str(node)))


@importer("MelWeightMatrix")
def _mel_weight_matrix(node, bins, length, rate, low, high):
    """Triangles that are even on the mel scale 2595 log10(1 + f / 700)."""
    inputs = (bins, length, rate, low, high)
    bins, length, rate, low, high = (node.number(i, each) for i, each in enumerate(inputs))
    count = int(length) // 2 + 1
    ends = 2595 * np.log10(1 + np.array([low, high], "float64") / 700)
    mel = ends[0] + np.arange(int(bins) + 2) * (ends[1] - ends[0]) / (int(bins) + 2)
    hertz = 700 * (10 ** (mel / 2595) - 1)
    edges = ((int(length) + 1) * hertz // rate).astype(int)
    weights = np.zeros((count, int(bins)))
    for i in range(int(bins)):
        lower, centre, upper = edges[i : i + 3]
        if centre == lower:
            weights[centre, i] = 1
        for j in range(lower, centre + 1 if centre != lower else lower):
            weights[j, i] = (j - lower) / (centre - lower)
        for j in range(centre, upper):
            weights[j, i] = (upper - j) / (upper - centre)
    return cast(tensor_of(weights), dtype_of(node["output_datatype"], str(node)))
