"""Recurrent networks over sequences, in layers and both directions."""

import itertools
import math
import re

import numpy as np

from .. import functional as F  # noqa: N812
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
        _check_sizes(name, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(f"{name}: dropout must be in [0, 1], got {dropout!r}")
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

    def forward(self, input, hx=None):
        """See the class."""
        self._check_states(hx)
        x = F.swapaxes(input, 0, 1) if self.batch_first else input
        weights, lasts = self._weights(), []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, self.dropout, self.training)
            outputs = []
            for direction in range(self.num_directions):
                cell = layer * self.num_directions + direction
                state = None if hx is None else self._each(lambda h, cell=cell: h[cell], hx)
                output, last = self._run(x, state, weights[cell], cell, bool(direction))
                outputs.append(output)
                lasts.append(last)
            x = F.concat(outputs, -1) if direction else output
        return (F.swapaxes(x, 0, 1) if self.batch_first else x), self._stacked(lasts)

    def _convert_state(self, values, prefix):
        """MegEngine's files have the cells' weights, too, which nothing is computed with."""
        unused = re.compile(re.escape(prefix) + _OF_CELLS)
        for name in [name for name in values if unused.fullmatch(name)]:
            del values[name]

    def _make_weights(self):
        rows = self.gates * self.hidden_size
        count = sum(map(math.prod, self._shapes()))
        self._flatten_weights = Parameter(np.zeros((rows, count // rows), dtype=np.float32))

    def _shapes(self):
        """Of the weights of all cells, one after the other."""
        rows, shapes = self.gates * self.hidden_size, []
        for layer in range(self.num_layers):
            columns = self.num_directions * self.output_size if layer else self.input_size
            own = [(rows, columns), (rows, self.output_size), *[(rows,)] * (2 * bool(self.bias))]
            shapes += own * self.num_directions
        return shapes

    def _weights(self):
        """For each cell weight_ih, weight_hh and, with bias, bias_ih and bias_hh."""
        shapes = self._shapes()
        ends = [*itertools.accumulate(map(math.prod, shapes))][:-1]
        parts = F.split(F.flatten(self._flatten_weights), ends, 0)
        parts = [F.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        size = 4 if self.bias else 2
        return [parts[first : first + size] for first in range(0, len(parts), size)]

    def _each(self, function, state):
        """`function` of each tensor of a state."""
        return function(state)

    def _stacked(self, lasts):
        return F.stack(lasts, 0)

    def _check_states(self, hx):
        cells, name = self.num_layers * self.num_directions, type(self).__name__

        def _check(state):
            if state.ndim != 3 or state.shape[0] != cells:
                raise ValueError(
                    f"{name}: hx must have 3 axes, the first of {cells} cells, got "
                    f"{state.dtype}{list(state.shape)}"
                )

        if hx is not None:
            self._each(_check, hx)

    def _module_info_string(self):
        named = ("num_layers", "bias", "batch_first", "dropout", "bidirectional")
        settings = ", ".join(f"{name}={getattr(self, name)}" for name in named)
        return f"{self.input_size}, {self.hidden_size}, {settings}"


def _check_sizes(name, **sizes):
    for what, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name}: {what} must be at least 1, got {size}")


class RNN(_Sequences):
    """Layers of h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`: J. Elman,
    Finding Structure in Time, 1990.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    states float[D * num_layers, N, hidden_size], zeros where none are given; D is 2 where it is
    bidirectional, else 1. Gives the outputs float[L, N, D * hidden_size] (with batch_first N is
    first) and the last states. Between layers elements are set to 0 with the probability `dropout`.

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; nonlinearity
    must be "tanh" or "relu"; input and hx must have 3 axes; shapes must fit.

    >>> from tessera.functional import ones
    >>> output, last = RNN(10, 20, num_layers=2)(ones((7, 3, 10)))
    >>> output.shape, last.shape
    ((7, 3, 20), (2, 3, 20))
    """

    def __init__(self, *args, nonlinearity="tanh", **kwargs):
        check_choice(type(self).__name__, "nonlinearity", nonlinearity, ("tanh", "relu"))
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity

    def _run(self, x, state, weights, cell, reverse):
        return rnn(x, state, *weights, nonlinearity=self.nonlinearity, reverse=reverse)


class LSTM(_Sequences):
    """Layers of long short-term memory; the formula is that of `functional.lstm`.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    state (h, c), float[D * num_layers, N, P] and float[D * num_layers, N, hidden_size], zeros where
    none is given; D is 2 where it is bidirectional, else 1. P is proj_size, or hidden_size where
    that is 0. Gives the outputs float[L, N, D * P] (with batch_first N is first) and the last
    (h, c). Between layers elements are set to 0 with the probability `dropout`. The projections of
    all cells are `weight_hr`, float[D * num_layers, P, hidden_size].

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; proj_size must
    be in [0, hidden_size); input and hx must have 3 axes; shapes must fit.
    TypeError: hx must be a pair.

    >>> from tessera.functional import ones
    >>> output, (h, c) = LSTM(10, 20, bidirectional=True)(ones((7, 3, 10)))
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

    def _run(self, x, state, weights, cell, reverse):
        projection = self.weight_hr[cell] if self.proj_size else None
        biases = weights[2:] or (None, None)
        return lstm(x, state, *weights[:2], *biases, projection, reverse)

    def _each(self, function, state):
        if not isinstance(state, (tuple, list)) or len(state) != 2:
            raise TypeError(f"LSTM: hx must be a pair of tensors (h, c), got {state!r}")
        return tuple(map(function, state))

    def _stacked(self, lasts):
        return tuple(F.stack(each, 0) for each in zip(*lasts, strict=True))


class GRU(_Sequences):
    """Layers of gated recurrent units; the formula is that of `functional.gru`.

    Called with float[L, N, input_size], or float[N, L, input_size] with batch_first, and the first
    states float[D * num_layers, N, hidden_size], zeros where none are given; D is 2 where it is
    bidirectional, else 1. Gives the outputs float[L, N, D * hidden_size] (with batch_first N is
    first) and the last states. Between layers elements are set to 0 with the probability `dropout`.

    ValueError: sizes and num_layers must be at least 1; dropout must be in [0, 1]; input and hx
    must have 3 axes; shapes must fit.

    >>> from tessera.functional import ones
    >>> output, last = GRU(10, 20, batch_first=True)(ones((3, 7, 10)))
    >>> output.shape, last.shape
    ((3, 7, 20), (1, 3, 20))
    """

    gates = 3

    def _run(self, x, state, weights, cell, reverse):
        biases = weights[2:] or (None, None)
        return gru(x, state, *weights[:2], *biases, reverse=reverse)
