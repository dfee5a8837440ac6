"""Oracles of windows of images and sequences. Plain loops, float64."""

import numpy as np


def _windows(x, size, strides, padding, dilation, fill=0.0):
    """[N, C, *result, *window] of images."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilation, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, x.ndim)))
    return view[(slice(None), slice(None), *(slice(None, None, n) for n in (*strides, *dilation)))]


def conv(x, weight, strides, padding, dilation, groups):
    """Correlation, group by group."""
    windows = _windows(x, weight.shape[2:], strides, padding, dilation)
    summed = [(1, *range(x.ndim, windows.ndim)), (1, *range(2, x.ndim))]
    parts = zip(np.split(windows, groups, 1), np.split(weight, groups, 0), strict=True)
    return np.concatenate([np.moveaxis(np.tensordot(a, b, summed), -1, 1) for a, b in parts], 1)


def _linear_adjoint(function, shape, dout):
    """Gradient of the linear `function` at dout, from its values at unit vectors."""
    grad = np.zeros(shape)
    for place in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[place] = 1
        grad[place] = (function(unit) * dout).sum()
    return grad


def conv_backward_data(weight, dout, shape, *geometry):
    """Gradient for the images."""
    return _linear_adjoint(lambda x: conv(x, weight, *geometry), shape, dout)


def conv_backward_weight(x, dout, shape, *geometry):
    """Gradient for the weight."""
    return _linear_adjoint(lambda weight: conv(x, weight, *geometry), shape, dout)


def conv_transpose(x, weight, strides, padding, dilation, groups, output_padding):
    """Gradient of a convolution for its input, which ends with rows that no window needs."""
    rows = zip(
        x.shape[2:], weight.shape[2:], strides, padding, dilation, output_padding, strict=True
    )
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + more for n, k, s, p, d, more in rows]
    shape = (x.shape[0], weight.shape[1] * groups, *sizes)
    return conv_backward_data(weight, x, shape, strides, padding, dilation, groups)


def max_pool2d(x, kernel_size, strides, padding):
    """The largest element of each window."""
    return _windows(x, kernel_size, strides, padding, (1, 1), -np.inf).max((4, 5))


def max_pool2d_backward(x, dout, kernel_size, strides, padding):
    """The first largest element of each window takes its gradient."""
    padded = np.zeros([n + 2 * p for n, p in zip(x.shape, (0, 0, *padding), strict=True)])
    windows = _windows(x, kernel_size, strides, padding, (1, 1), -np.inf)
    for n, c, i, j in np.ndindex(*dout.shape):
        a, b = np.unravel_index(windows[n, c, i, j].argmax(), kernel_size)
        padded[n, c, i * strides[0] + a, j * strides[1] + b] += dout[n, c, i, j]
    (p, q), (h, w) = padding, x.shape[2:]
    return padded[:, :, p : p + h, q : q + w]


def avg_pool2d(x, kernel_size, strides, padding, count_include_pad):
    """The mean of each window."""
    total = _windows(x, kernel_size, strides, padding, (1, 1)).sum((4, 5))
    ones = _windows(np.ones_like(x), kernel_size, strides, padding, (1, 1)).sum((4, 5))
    return total / (np.prod(kernel_size) if count_include_pad else ones)


def avg_pool2d_backward(dout, shape, kernel_size, strides, padding, count_include_pad):
    """Gradient of avg_pool2d."""
    geometry = (kernel_size, strides, padding, count_include_pad)
    return _linear_adjoint(lambda x: avg_pool2d(x, *geometry), shape, dout)


def max_pool1d(x, kernel_size, strides, padding):
    """The largest element of each window of sequences."""
    return max_pool2d(x[:, :, None], (1, *kernel_size), (1, *strides), (0, *padding))[:, :, 0]


def avg_pool1d(x, kernel_size, strides, padding, count_include_pad):
    """The mean of each window of sequences."""
    geometry = (1, *kernel_size), (1, *strides), (0, *padding), count_include_pad
    return avg_pool2d(x[:, :, None], *geometry)[:, :, 0]


def adaptive_pool2d(x, output_size, reduce):
    """What `reduce` makes of windows that divide the image."""
    bounds = [
        [(i * n // k, -(-(i + 1) * n // k)) for i in range(k)]
        for n, k in zip(x.shape[2:], output_size, strict=True)
    ]
    rows = [[reduce(x[:, :, a:b, c:d], (2, 3)) for c, d in bounds[1]] for a, b in bounds[0]]
    return np.moveaxis(np.array(rows), (0, 1), (2, 3))


def adaptive_pool1d(x, output_size, reduce):
    """The same of sequences."""
    return adaptive_pool2d(x[:, :, None], (1, *output_size), reduce)[:, :, 0]


def local_response_norm(x, kernel_size, k, alpha, beta):
    """Division by the squares of neighbouring channels."""
    side = kernel_size // 2
    padded = np.pad(x**2, ((0, 0), (side, side), (0, 0), (0, 0)))
    sums = np.stack([padded[:, c : c + kernel_size].sum(1) for c in range(x.shape[1])], 1)
    return x / (k + alpha * sums) ** beta


def pixel_shuffle(x, upscale_factor):
    """Channels made pixels, place by place."""
    *batch, channels, height, width = x.shape
    r = upscale_factor
    out = np.empty((*batch, channels // r**2, height * r, width * r), x.dtype)
    for i, j in np.ndindex(r, r):
        out[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return out
