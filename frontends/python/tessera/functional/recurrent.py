"""Recurrent networks over sequences: one scan for a layer and a direction.

The products of the weights with the inputs of all steps are one matrix product before the loop.
"""

from .._core import ops as _ops
from ._gates import gru_step as _gru_step
from ._gates import lstm_step as _lstm_step
from ._gates import rnn_step as _rnn_step
from ._states import check_pair as _check_pair
from ._states import check_sequence as _check_sequence
from ._states import first_state as _first_state
from .control import scan as _scan
from .generated import check_choice as _check_choice

__all__ = ["gru", "lstm", "rnn"]


def rnn(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, nonlinearity="tanh",
        reverse=False):  # fmt: skip
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) for each step, or relu: J. Elman, Finding Structure
    in Time, 1990.

    Args:
        inp: float[L, N, I]
        hx: float[N, H], the first state; None: zeros
        weight_ih: float[H, I]
        weight_hh: float[H, H]
        bias_ih, bias_hh: float[H] or None
        nonlinearity: "tanh" or "relu"
        reverse: from the last step to the first; an output stands where its input does

    Returns:
        the states float[L, N, H], and the one after all steps float[N, H]

    Raises:
        ValueError: inp must have 3 axes; shapes must fit; nonlinearity must be one of its values
        TypeError: operands must be tensors of one dtype

    Example:
        >>> from tessera.functional import ones
        >>> output, last = rnn(ones((7, 3, 4)), None, ones((5, 4)), ones((5, 5)))
        >>> output.shape, last.shape
        ((7, 3, 5), (3, 5))
    """
    _check_choice("rnn", "nonlinearity", nonlinearity, ("tanh", "relu"))
    _check_sequence("rnn", inp)

    def _step(h, of_input):
        h = _rnn_step(of_input, _product(h, weight_hh, bias_hh), nonlinearity)
        return h, h

    h = _first_state(inp, weight_hh) if hx is None else hx
    last, output = _scan(_step, h, _product(inp, weight_ih, bias_ih), reverse=reverse)
    return output, last


def lstm(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, weight_hr=None,
         reverse=False):  # fmt: skip
    """Long short-term memory: S. Hochreiter, J. Schmidhuber, 1997, with the forget gate of F. Gers
    et al., 2000, and the projection of H. Sak et al., arXiv:1402.1128, 2014.

    For each step:

        i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
        c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h' = sigmoid(o) * tanh(c'), times W_hr where it is given

    Args:
        inp: float[L, N, I]
        hx: (h, c), float[N, P] and float[N, H], the first state; None: zeros
        weight_ih: float[4 * H, I]
        weight_hh: float[4 * H, P]; P is H where nothing is projected
        bias_ih, bias_hh: float[4 * H] or None
        weight_hr: float[P, H] or None
        reverse: from the last step to the first; an output stands where its input does

    Returns:
        the outputs h float[L, N, P], and the state (h, c) after all steps

    Raises:
        ValueError: inp must have 3 axes; shapes must fit
        TypeError: operands must be tensors of one dtype; hx must be a pair

    Example:
        >>> from tessera.functional import ones
        >>> output, (h, c) = lstm(ones((7, 3, 4)), None, ones((20, 4)), ones((20, 5)))
        >>> output.shape, h.shape, c.shape
        ((7, 3, 5), (3, 5), (3, 5))
    """
    _check_sequence("lstm", inp)
    if hx is None:
        of_cell = weight_hh if weight_hr is None else weight_hr
        hx = _first_state(inp, weight_hh), _first_state(inp, of_cell)
    _check_pair("lstm", hx)

    def _step(state, of_input):
        h, c = state
        h, c = _lstm_step(of_input, _product(h, weight_hh, bias_hh), c)
        h = h if weight_hr is None else _ops.linear(h, weight_hr)
        return (h, c), h

    last, output = _scan(_step, tuple(hx), _product(inp, weight_ih, bias_ih), reverse=reverse)
    return output, last


def gru(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, reverse=False):
    """Gated recurrent units: K. Cho et al., EMNLP 2014, the reset gate behind the product as in
    cuDNN and PyTorch.

    For each step:

        r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh), their first two thirds
        n = tanh(W_in x + b_in + r * (W_hn h + b_hn)), the last third
        h' = (1 - z) * n + z * h

    Args:
        inp: float[L, N, I]
        hx: float[N, H], the first state; None: zeros
        weight_ih: float[3 * H, I]
        weight_hh: float[3 * H, H]
        bias_ih, bias_hh: float[3 * H] or None
        reverse: from the last step to the first; an output stands where its input does

    Returns:
        the states float[L, N, H], and the one after all steps float[N, H]

    Raises:
        ValueError: inp must have 3 axes; shapes must fit
        TypeError: operands must be tensors of one dtype

    Example:
        >>> from tessera.functional import ones
        >>> output, last = gru(ones((7, 3, 4)), None, ones((15, 4)), ones((15, 5)))
        >>> output.shape, last.shape
        ((7, 3, 5), (3, 5))
    """
    _check_sequence("gru", inp)

    def _step(h, of_input):
        h = _gru_step(of_input, _product(h, weight_hh, bias_hh), h)
        return h, h

    h = _first_state(inp, weight_hh) if hx is None else hx
    last, output = _scan(_step, h, _product(inp, weight_ih, bias_ih), reverse=reverse)
    return output, last


def _product(x, weight, bias):
    return _ops.linear(x, weight) if bias is None else _ops.linear(x, weight, bias)
