"""Recurrent networks over sequences: one scan for a layer and a direction.

The products of the weights with the inputs of all steps are one matrix product before the loop.
"""

from .._core import Tensor as _Tensor
from .._core import ops as _ops
from ._gates import gru_step as _gru_step
from ._gates import lstm_step as _lstm_step
from ._gates import rnn_step as _rnn_step
from ._lengths import chosen as _chosen
from ._lengths import marked as _marked
from ._states import check_pair as _check_pair
from ._states import check_sequence as _check_sequence
from ._states import first_state as _first_state
from .control import scan as _scan
from .generated import check_choice as _check_choice
from .tensor import split as _split

__all__ = ["gru", "lstm", "pad_sequence", "rnn"]


def rnn(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, nonlinearity="tanh",
        reverse=False, lengths=None):  # fmt: skip
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
        lengths: int[N], how many steps of each sequence count, or None for all: outputs behind them
            are 0, and the state after all steps is that of the last one that counts

    Returns:
        the states float[L, N, H], and the one after all steps float[N, H]

    Raises:
        ValueError: inp must have 3 axes; shapes must fit; nonlinearity must be one of its values
        IndexError: lengths must be in [0, L]; found when the kernel runs
        TypeError: operands must be tensors of one dtype, lengths integers

    Example:
        >>> import tessera.functional as F
        >>> output, last = F.rnn(F.ones((7, 3, 4)), None, F.ones((5, 4)), F.ones((5, 5)))
        >>> output.shape, last.shape
        ((7, 3, 5), (3, 5))
    """
    _check_choice("rnn", "nonlinearity", nonlinearity, ("tanh", "relu"))
    _check_sequence("rnn", inp)

    def _step(h, of_input):
        h = _rnn_step(of_input, _product(h, weight_hh, bias_hh), nonlinearity)
        return h, h

    h = _first_state(inp, weight_hh) if hx is None else hx
    of_inputs = _product(inp, weight_ih, bias_ih)
    last, output = _scanned("rnn", _step, h, of_inputs, lengths, reverse)
    return output, last


def lstm(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, weight_hr=None,
         reverse=False, lengths=None):  # fmt: skip
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
        lengths: int[N], how many steps of each sequence count, or None for all: outputs behind them
            are 0, and the state after all steps is that of the last one that counts

    Returns:
        the outputs h float[L, N, P], and the state (h, c) after all steps

    Raises:
        ValueError: inp must have 3 axes; shapes must fit
        IndexError: lengths must be in [0, L]; found when the kernel runs
        TypeError: operands must be tensors of one dtype; hx must be a pair; lengths integers

    Example:
        >>> import tessera.functional as F
        >>> output, (h, c) = F.lstm(F.ones((7, 3, 4)), None, F.ones((20, 4)), F.ones((20, 5)))
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

    of_inputs = _product(inp, weight_ih, bias_ih)
    last, output = _scanned("lstm", _step, tuple(hx), of_inputs, lengths, reverse)
    return output, last


def gru(inp, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None, reverse=False, lengths=None):
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
        lengths: int[N], how many steps of each sequence count, or None for all: outputs behind them
            are 0, and the state after all steps is that of the last one that counts

    Returns:
        the states float[L, N, H], and the one after all steps float[N, H]

    Raises:
        ValueError: inp must have 3 axes; shapes must fit
        IndexError: lengths must be in [0, L]; found when the kernel runs
        TypeError: operands must be tensors of one dtype, lengths integers

    Example:
        >>> import tessera.functional as F
        >>> output, last = F.gru(F.ones((7, 3, 4)), None, F.ones((15, 4)), F.ones((15, 5)))
        >>> output.shape, last.shape
        ((7, 3, 5), (3, 5))
    """
    _check_sequence("gru", inp)

    def _step(h, of_input):
        h = _gru_step(of_input, _product(h, weight_hh, bias_hh), h)
        return h, h

    h = _first_state(inp, weight_hh) if hx is None else hx
    of_inputs = _product(inp, weight_ih, bias_ih)
    last, output = _scanned("gru", _step, h, of_inputs, lengths, reverse)
    return output, last


def _scanned(name, step, first, of_inputs, lengths, reverse):
    """`step` over all inputs. With lengths the state of a sequence stays as it is behind its end,
    and outputs there are 0.
    """
    if lengths is None:
        return _scan(step, first, of_inputs, reverse=reverse)
    size = of_inputs.shape[2]

    def _held(before, of_input_and_mark):
        of_input, mark = _split(of_input_and_mark, [size], axis=1)
        is_there = mark > 0
        after, output = step(before, of_input)
        there = _ops.where(is_there, output, _ops.zeros_like(output))
        return _chosen(is_there, after, before), there

    return _scan(_held, first, _marked(name, of_inputs, lengths), reverse=reverse)


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    """Sequences of several lengths as one tensor, each followed by `padding_value` up to the length
    of the longest: what `lengths` of rnn, lstm and gru go with.

    Args:
        sequences: several any[L, *D], which differ in L only
        batch_first: whether the sequences are the first axis
        padding_value: a number

    Returns:
        any[L, N, *D], or any[N, L, *D], of the promoted dtype of the sequences

    Raises:
        ValueError: there must be a sequence; axes but the first must be the same
        TypeError: sequences must be tensors or arrays

    Example:
        >>> import tessera as ts
        >>> import tessera.functional as F
        >>> F.pad_sequence([ts.tensor([1, 2, 3]), ts.tensor([4])], batch_first=True).tolist()
        [[1, 2, 3], [4, 0, 0]]
    """
    sequences = [each if isinstance(each, _Tensor) else _Tensor(each) for each in sequences]
    if not sequences or not all(each.ndim for each in sequences):
        shapes = [tuple(each.shape) for each in sequences]
        raise ValueError(f"pad_sequence: sequences must be tensors with an axis, got {shapes}")
    longest = max(each.shape[0] for each in sequences)
    padded = [
        _ops.pad(each, [0] * each.ndim, [longest - each.shape[0], *[0] * (each.ndim - 1)],
                 padding_value)
        for each in sequences
    ]  # fmt: skip
    return _ops.stack(padded, 0 if batch_first else 1)


def _product(x, weight, bias):
    return _ops.linear(x, weight) if bias is None else _ops.linear(x, weight, bias)
