"""Formulas of quantization in NumPy, as the papers have them, and what tests of them share."""

import contextlib
import logging

import numpy as np
import tessera

LIMITS = {
    "qint8": (-128, 127),
    "qint8_narrow": (-127, 127),
    "quint8": (0, 255),
    "qint4": (-8, 7),
    "quint4": (0, 15),
}


def floats(*shape, seed=0, scale=1.0):
    """Normally distributed float32."""
    return np.float32(np.random.default_rng(seed).standard_normal(shape) * scale)


@contextlib.contextmanager
def logged():
    """The list of messages that the package logs."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    tessera.get_logger().addHandler(handler)
    try:
        yield lines
    finally:
        tessera.get_logger().removeHandler(handler)


def away(x):
    """Rounded, halves away from 0."""
    return np.trunc(x + np.copysign(0.5, x))


def symmetric_scale(low, high, dtype, eps=1e-5):
    """The scale at which the larger end is the middle of the range of integers."""
    qmin, qmax = LIMITS[dtype]
    largest = np.maximum(-np.minimum(low, 0), np.maximum(high, 0))
    return np.maximum(np.float32(largest) / np.float32((qmax - qmin) / 2), np.float32(eps))


def affine(low, high, dtype, eps=1e-5):
    """(scale, zero point) of Jacob et al., arXiv:1712.05877, section 3."""
    qmin, qmax = LIMITS[dtype]
    low, high = np.minimum(np.float32(low), 0), np.maximum(np.float32(high), 0)
    half = high / 2 - low / 2  # of the width, which may be no float32
    scale = np.maximum(half / np.float32((qmax - qmin) / 2), np.float32(eps))
    return scale, np.int32(qmin - away(np.float64(low / scale)))


def fake_quant(x, scale, zero_point, qmin, qmax):
    """Dequantize of quantize, in float32."""
    q = np.clip(away(np.float64(np.float32(x) / np.float32(scale))) + zero_point, qmin, qmax)
    return np.float32(q - zero_point) * np.float32(scale)


def squared_error(x, low, high, levels):
    """Squared error of numbers that become the middle of the nearest of `levels` equal parts of
    [low, high].
    """
    width = (high - low) / levels
    level = np.clip(np.floor((x - low) / width), 0, levels - 1)
    return float(((x - (low + (level + 0.5) * width)) ** 2).sum())


def search(counts, levels, step=1e-5):
    """(first, last) bin of Caffe2's search: quantiles come closer from the end where more bins are
    left out by it, and the range follows until its error grows.
    """
    bins, below, inside = len(counts), np.cumsum(counts), (np.arange(200) + 0.5) / 200
    places = (np.arange(bins)[:, None] + inside).ravel()
    weights = np.repeat(counts, 200)

    def error(first, last):
        width = (last + 1 - first) / levels
        middle = first + (np.clip((places - first) // width, 0, levels - 1) + 0.5) * width
        return (weights * (places - middle) ** 2).sum()

    first, last, least, left, right = 0, bins - 1, np.inf, 0, 0
    while left + right < round(1 / step):
        low, high = first, last
        while low < last and below[low] < (left + 1) * step * below[-1]:
            low += 1
        while high > first and below[high] > below[-1] - (right + 1) * step * below[-1]:
            high -= 1
        if low - first > last - high:
            left, new = left + 1, (low, last)
        else:
            right, new = right + 1, (first, high)
        if new == (first, last):
            continue
        if error(*new) > least:
            break
        (first, last), least = new, error(*new)
    return first, last
