"""One step of each recurrent cell, of its products: cells and sequences share them."""

from .._core import ops as _ops
from .tensor import split as _split


def rnn_step(of_input, of_state, nonlinearity):
    """h' from float[N, H] with biases: their sum's "tanh" or "relu"."""
    total = of_input + of_state
    return _ops.tanh(total) if nonlinearity == "tanh" else _ops.relu(total)


def lstm_step(of_input, of_state, c):
    """(h', c') from float[N, 4 * H] with biases, in the order i, f, g, o, and c float[N, H]."""
    i, f, g, o = _split(of_input + of_state, 4, axis=1)
    c = _ops.sigmoid(f) * c + _ops.sigmoid(i) * _ops.tanh(g)
    return _ops.sigmoid(o) * _ops.tanh(c), c


def gru_step(of_input, of_state, h):
    """h' from float[N, 3 * H] with biases, in the order r, z, n, and h float[N, H]."""
    ri, zi, ni = _split(of_input, 3, axis=1)
    rh, zh, nh = _split(of_state, 3, axis=1)
    r, z = _ops.sigmoid(ri + rh), _ops.sigmoid(zi + zh)
    return (1 - z) * _ops.tanh(ni + r * nh) + z * h
