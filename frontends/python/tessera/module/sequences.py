"""Recurrent networks over sequences, in layers and both directions."""

import math
import re
from itertools import accumulate

import numpy as np

from .. import functional as F  # noqa: N812
from ..functional._states import check_pair, described
from ..functional.generated import check_choice
from ..functional.recurrent import gru, lstm, rnn
from ..tensor import Parameter
from . import init
from .module import Module

_OF_CELLS = r"cells\.\d+\.\d+\.(weight|bias)_(ih|hh)"


class _Sequences(Module):
    """Layers of cells. `_flatten_weights` has MegEngine's name, shape and order: cell by cell, the
    directions of a layer side by side, each with weight_ih, weight_hh, bias_ih and bias_hh.
    """

    gates = 1  # parts of hidden_size rows that the weights have

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, **kwargs):  # fmt: skip
        super().__init__(**kwargs)
        name = type(self).__name__
        _check_size(name, "input_size", input_size)
        _check_size(name, "hidden_size", hidden_size)
        _check_size(name, "num_layers", num_layers)
        check_dropout(name, dropout)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.num_directions = bidirectional, 1 + bool(bidirectional)
        self._make_weights()
        self.reset_parameters()

    @property
    def output_size(self):
        """How many features a direction gives."""
        return self.hidden_size

    def reset_parameters(self):
        """Uniform numbers between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size)."""
        limit = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -limit, limit)

    def forward(self, input, hx=None, lengths=None):
        """See the class."""
        if hx is not None:
            self._check_states(hx)
        x = F.swapaxes(input, 0, 1) if self.batch_first else input
        parts = self._parts()
        lasts = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, self.dropout, self.training)
            outputs = []
            for direction in range(self.num_directions):
                cell = layer * self.num_directions + direction
                state = None if hx is None else self._state_of(hx, cell)
                weights = self._weights(parts, cell)
                output, last = self._run(x, state, weights, cell, direction == 1, lengths)
                outputs.append(output)
                lasts.append(last)
            x = F.concat(outputs, -1) if self.bidirectional else outputs[0]
        return F.swapaxes(x, 0, 1) if self.batch_first else x, self._stacked(lasts)

    def _convert_state(self, values, prefix):
        """MegEngine's files have the cells' weights, too, which nothing is computed with."""
        unused = re.compile(re.escape(prefix) + _OF_CELLS)
        for name in [name for name in values if unused.fullmatch(name)]:
            del values[name]

    def _make_weights(self):
        rows = self.gates * self.hidden_size
        count = sum(math.prod(shape) for shape in self._shapes())
        self._flatten_weights = Parameter(np.zeros((rows, count // rows), dtype=np.float32))

    def _shapes(self):
        """Of the weights of all cells, one after the other."""
        first = [*self._shapes_of(self.input_size)] * self.num_directions
        layer = [*self._shapes_of(self.num_directions * self.output_size)] * self.num_directions
        return [*first, *([*layer] * (self.num_layers - 1))]

    def _shapes_of(self, columns):
        """Of the weights of a cell whose input has so many features."""
        rows = self.gates * self.hidden_size
        weights = [(rows, columns), (rows, self.output_size)]
        return [*weights, (rows,), (rows,)] if self.bias else weights

    def _parts(self):
        """The weights of all cells."""
        shapes = self._shapes()
        ends = [*accumulate(math.prod(shape) for shape in shapes)][:-1]
        parts = F.split(F.flatten(self._flatten_weights), ends, 0)
        return [F.reshape(weight, shape) for weight, shape in zip(parts, shapes, strict=True)]

    def _weights(self, parts, cell):
        """Of a cell weight_ih, weight_hh, bias_ih and bias_hh, which are None without bias."""
        if self.bias:
            return parts[4 * cell : 4 * cell + 4]
        return [*parts[2 * cell : 2 * cell + 2], None, None]

    def _state_of(self, hx, cell):
        return hx[cell]

    def _stacked(self, lasts):
        return F.stack(lasts, 0)

    def _check_states(self, hx):
        self._check_state(hx)

    def _check_state(self, state):
        cells, name = self.num_layers * self.num_directions, type(self).__name__
        if state.ndim != 3 or state.shape[0] != cells:
            raise ValueError(
                f"{name}: hx must have 3 axes, the first of {cells} cells, got {described(state)}"
            )

    def _module_info_string(self):
        named = ("num_layers", "bias", "batch_first", "dropout", "bidirectional")
        settings = ", ".join(f"{name}={getattr(self, name)}" for name in named)
        return f"{self.input_size}, {self.hidden_size}, {settings}"


def _check_size(name, what, size):
    if size < 1:
        raise ValueError(f"{name}: {what} must be at least 1, got {size}")


def check_dropout(name, dropout):
    """ValueError unless it is a probability."""
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(f"{name}: dropout must be in [0, 1], got {dropout!r}")


class RNN(_Sequences):
    """Layers of h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`: J. Elman,
    Finding Structure in Time, 1990.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    states float[D * num_layers, N, hidden_size], zeros where none are given; D is 2 where it is
    bidirectional, else 1. Gives the outputs float[L, N, D * hidden_size] (with batch_first N is
    first) and the last states. Between layers elements are set to 0 with the probability `dropout`.
    With `lengths`, int[N], only so many steps of a sequence count: outputs behind them are 0, and
    the last state is that of the last one that counts.

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; nonlinearity
    must be "tanh" or "relu"; input and hx must have 3 axes; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> output, last = M.RNN(10, 20, num_layers=2)(F.ones((7, 3, 10)))
    >>> output.shape, last.shape
    ((7, 3, 20), (2, 3, 20))
    """

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, *, nonlinearity="tanh", **kwargs):  # fmt: skip
        check_choice(type(self).__name__, "nonlinearity", nonlinearity, ("tanh", "relu"))
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, **kwargs
        )
        self.nonlinearity = nonlinearity

    def _run(self, x, state, weights, cell, reverse, lengths):
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        return rnn(x, state, weight_ih, weight_hh, bias_ih, bias_hh, self.nonlinearity, reverse,
                   lengths)  # fmt: skip


class LSTM(_Sequences):
    """Layers of long short-term memory; the formula is that of `functional.lstm`.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    state (h, c), float[D * num_layers, N, P] and float[D * num_layers, N, hidden_size], zeros where
    none is given; D is 2 where it is bidirectional, else 1. P is proj_size, or hidden_size where
    that is 0. Gives the outputs float[L, N, D * P] (with batch_first N is first) and the last
    (h, c). Between layers elements are set to 0 with the probability `dropout`. The projections of
    all cells are `weight_hr`, float[D * num_layers, P, hidden_size]. With `lengths`, int[N], only
    so many steps of a sequence count: outputs behind them are 0, and the last state is that of the
    last one that counts.

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; proj_size must
    be in [0, hidden_size); input and hx must have 3 axes; shapes must fit.
    TypeError: hx must be a pair.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> output, (h, c) = M.LSTM(10, 20, bidirectional=True)(F.ones((7, 3, 10)))
    >>> output.shape, h.shape, c.shape
    ((7, 3, 40), (2, 3, 20), (2, 3, 20))
    """

    gates = 4

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0.0, bidirectional=False, proj_size=0, **kwargs):  # fmt: skip
        if not 0 <= proj_size < max(hidden_size, 1):
            raise ValueError(
                f"LSTM: proj_size must be in [0, hidden_size), got {proj_size} and {hidden_size}"
            )
        self.proj_size = proj_size
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, **kwargs
        )

    @property
    def output_size(self):
        """How many features a direction gives."""
        return self.proj_size or self.hidden_size

    def _make_weights(self):
        super()._make_weights()
        if self.proj_size:
            shape = (self.num_layers * self.num_directions, self.proj_size, self.hidden_size)
            self.weight_hr = Parameter(np.zeros(shape, dtype=np.float32))

    def _run(self, x, state, weights, cell, reverse, lengths):
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        projection = self.weight_hr[cell] if self.proj_size else None
        return lstm(x, state, weight_ih, weight_hh, bias_ih, bias_hh, projection, reverse,
                    lengths)  # fmt: skip

    def _state_of(self, hx, cell):
        h, c = hx
        return h[cell], c[cell]

    def _stacked(self, lasts):
        return F.stack([h for h, _ in lasts], 0), F.stack([c for _, c in lasts], 0)

    def _check_states(self, hx):
        check_pair("LSTM", hx)
        for state in hx:
            self._check_state(state)


class GRU(_Sequences):
    """Layers of gated recurrent units; the formula is that of `functional.gru`.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    states float[D * num_layers, N, hidden_size], zeros where none are given; D is 2 where it is
    bidirectional, else 1. Gives the outputs float[L, N, D * hidden_size] (with batch_first N is
    first) and the last states. Between layers elements are set to 0 with the probability `dropout`.
    With `lengths`, int[N], only so many steps of a sequence count: outputs behind them are 0, and
    the last state is that of the last one that counts.

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; input and hx
    must have 3 axes; shapes must fit.

    >>> import tessera.functional as F
    >>> import tessera.module as M
    >>> output, last = M.GRU(10, 20, batch_first=True)(F.ones((3, 7, 10)))
    >>> output.shape, last.shape
    ((3, 7, 20), (1, 3, 20))
    """

    gates = 3

    def _run(self, x, state, weights, cell, reverse, lengths):
        weight_ih, weight_hh, bias_ih, bias_hh = weights
        return gru(x, state, weight_ih, weight_hh, bias_ih, bias_hh, reverse, lengths)
