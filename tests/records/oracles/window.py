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


def _pooled(x, kernel_size, strides, padding, fill=0.0):
    """[N, C, *result, *window] of what is pooled, and the axes of the windows."""
    windows = _windows(x, kernel_size, strides, padding, (1,) * len(kernel_size), fill)
    return windows, tuple(range(x.ndim, windows.ndim))


def max_pool(x, kernel_size, strides, padding):
    """The largest element of each window."""
    windows, inner = _pooled(x, kernel_size, strides, padding, -np.inf)
    return windows.max(inner)


def max_pool_backward(x, dout, kernel_size, strides, padding):
    """The first largest element of each window takes its gradient."""
    padded = np.zeros([n + 2 * p for n, p in zip(x.shape, (0, 0, *padding), strict=True)])
    windows, _ = _pooled(x, kernel_size, strides, padding, -np.inf)
    for n, c, *place in np.ndindex(*dout.shape):
        first = np.unravel_index(windows[(n, c, *place)].argmax(), kernel_size)
        source = [i * s + k for i, s, k in zip(place, strides, first, strict=True)]
        padded[(n, c, *source)] += dout[(n, c, *place)]
    inside = [slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True)]
    return padded[(slice(None), slice(None), *inside)]


def avg_pool(x, kernel_size, strides, padding, count_include_pad):
    """The mean of each window."""
    windows, inner = _pooled(x, kernel_size, strides, padding)
    ones, _ = _pooled(np.ones_like(x), kernel_size, strides, padding)
    return windows.sum(inner) / (np.prod(kernel_size) if count_include_pad else ones.sum(inner))


def avg_pool_backward(dout, shape, kernel_size, strides, padding, count_include_pad):
    """Gradient of avg_pool."""
    geometry = (kernel_size, strides, padding, count_include_pad)
    return _linear_adjoint(lambda x: avg_pool(x, *geometry), shape, dout)


def adaptive_pool(x, output_size, uneven, reduce):
    """What `reduce` makes of windows: MegEngine's, of one size, or PyTorch's, which are uneven."""
    out, inner = np.zeros((*x.shape[:2], *output_size)), tuple(range(2, x.ndim))
    windows = _uneven_window if uneven else _even_window
    for place in np.ndindex(*output_size):
        rows = zip(place, x.shape[2:], output_size, strict=True)
        window = [slice(*windows(*row)) for row in rows]
        all_images = (slice(None), slice(None))
        out[(*all_images, *place)] = reduce(x[(*all_images, *window)], inner)
    return out


def _even_window(i, size, count):
    stride = size // count
    return i * stride, i * stride + size - (count - 1) * stride


def _uneven_window(i, size, count):
    return i * size // count, -(-(i + 1) * size // count)


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
