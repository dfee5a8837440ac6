"""Cells of recurrent networks: one step each."""

import math

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._gates import gru_step, lstm_step, rnn_step
from ..functional._states import check_axes
from ..functional.generated import check_choice
from ..tensor import Parameter, Tensor
from . import init
from .module import Module


class _Cell(Module):
    gates = 1  # parts of hidden_size rows that the weights have

    def __init__(self, input_size, hidden_size, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = Parameter(np.zeros((rows, input_size), dtype=np.float32))
        self.weight_hh = Parameter(np.zeros((rows, hidden_size), dtype=np.float32))
        zeros = np.zeros(rows, dtype=np.float32)  # without a bias nothing updates them
        self.bias_ih = Parameter(zeros) if bias else Tensor(zeros)
        self.bias_hh = Parameter(zeros) if bias else Tensor(zeros)
        self.reset_parameters()

    def reset_parameters(self):
        """Uniform numbers between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size)."""
        limit = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -limit, limit)

    def _zeros(self, x):
        """The first state of every sample: one row broadcasts, whatever number of samples comes."""
        check_axes(type(self).__name__, "input", x, 2)
        return F.zeros((1, self.hidden_size), dtype=x.dtype, device=x.device)

    def _products(self, x, h):
        """Of the weights with input and state, biases added: float[N, gates * hidden_size] each."""
        check_axes(type(self).__name__, "input", x, 2)
        of_input = F.linear(x, self.weight_ih, self.bias_ih)
        return of_input, F.linear(h, self.weight_hh, self.bias_hh)

    def _module_info_string(self):
        return f"{self.input_size}, {self.hidden_size}, bias={self.bias}"


class RNNCell(_Cell):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`: J. Elman, Finding
    Structure in Time, 1990.

    Called with float[N, input_size] and the state float[N, hidden_size], zeros where none is given;
    gives the next state. `weight_ih` is float[hidden_size, input_size].

    ValueError: nonlinearity must be "tanh" or "relu"; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.RNNCell(10, 20)(F.ones((3, 10))).shape
    (3, 20)
    """

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", **kwargs):
        check_choice(type(self).__name__, "nonlinearity", nonlinearity, ("tanh", "relu"))
        super().__init__(input_size, hidden_size, bias, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        """See the class."""
        of_input, of_state = self._products(input, self._zeros(input) if hx is None else hx)
        return rnn_step(of_input, of_state, self.nonlinearity)


class LSTMCell(_Cell):
    """One step of long short-term memory: S. Hochreiter, J. Schmidhuber, 1997, with the forget gate
    of F. Gers et al., 2000.

        i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
        c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
        h' = sigmoid(o) * tanh(c')

    Called with float[N, input_size] and the state (h, c), float[N, hidden_size] each, zeros where
    none is given; gives (h', c'). `weight_ih` is float[4 * hidden_size, input_size], the gates in
    the order i, f, g, o.

    ValueError: shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> h, c = M.LSTMCell(10, 20)(F.ones((3, 10)))
    >>> h.shape, c.shape
    ((3, 20), (3, 20))
    """

    gates = 4

    def forward(self, input, hx=None):
        """See the class."""
        h, c = (self._zeros(input), self._zeros(input)) if hx is None else hx
        of_input, of_state = self._products(input, h)
        return lstm_step(of_input, of_state, c)


class GRUCell(_Cell):
    """One step of a gated recurrent unit: K. Cho et al., EMNLP 2014, the reset gate behind the
    product as in cuDNN and PyTorch.

        r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh), their first two thirds
        n = tanh(W_in x + b_in + r * (W_hn h + b_hn)), the last third
        h' = (1 - z) * n + z * h

    Called with float[N, input_size] and the state float[N, hidden_size], zeros where none is given;
    gives the next state. `weight_ih` is float[3 * hidden_size, input_size], in the order r, z, n.

    ValueError: shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> M.GRUCell(10, 20)(F.ones((3, 10))).shape
    (3, 20)
    """

    gates = 3

    def forward(self, input, hx=None):
        """See the class."""
        h = self._zeros(input) if hx is None else hx
        of_input, of_state = self._products(input, h)
        return gru_step(of_input, of_state, h)
