"""RNN, GRU and LSTM: a scan for each direction."""

import functools

from ... import functional as _functional
from ..._core import ops as _ops
from ..registry import importer
from .elementwise import cast, hard_sigmoid

_FUNCTIONS = {
    "relu": lambda x, a, b: _ops.relu(x),
    "tanh": lambda x, a, b: _ops.tanh(x),
    "sigmoid": lambda x, a, b: _ops.sigmoid(x),
    "affine": lambda x, a, b: a * x + b,
    "leakyrelu": lambda x, a, b: _ops.leaky_relu(x, a),
    "thresholdedrelu": lambda x, a, b: _ops.where(x >= a, x, _ops.zeros_like(x)),
    "scaledtanh": lambda x, a, b: a * _ops.tanh(b * x),
    "hardsigmoid": hard_sigmoid,
    "elu": lambda x, a, b: _ops.elu(x, a),
    "softsign": lambda x, a, b: _ops.softsign(x),
    "softplus": lambda x, a, b: _ops.softplus(x),
}
# alpha and beta where a node does not give them.
_DEFAULTS = {
    "leakyrelu": (0.01, 0.0),
    "thresholdedrelu": (1.0, 0.0),
    "scaledtanh": (1.0, 1.0),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, 0.0),
    "affine": (1.0, 0.0),
}


def _activations(node, defaults, directions):
    """For each direction its functions, in ONNX's order."""
    names = [name.lower() for name in _texts(node["activations"])] or defaults * directions
    alphas, betas = list(node["activation_alpha"] or []), list(node["activation_beta"] or [])
    found = []
    for name in names:
        if name not in _FUNCTIONS:
            node.refuse(f"activations must be of {sorted(_FUNCTIONS)}", name)
        alpha, beta = _DEFAULTS.get(name, (None, None))
        if alpha is not None:
            alpha = alphas.pop(0) if alphas else alpha
            beta = betas.pop(0) if betas else beta
        found.append(functools.partial(_FUNCTIONS[name], a=alpha, b=beta))
        if name == "hardsigmoid":
            found[-1] = functools.partial(hard_sigmoid, alpha=alpha, beta=beta)
    count = len(defaults)
    return [found[count * i : count * i + count] for i in range(directions)]


def _texts(values):
    return [each.decode() if isinstance(each, bytes) else each for each in values or []]


class _Layer:
    """What the three operators have in common: `step(direction, state, of_input)`."""

    def __init__(self, node, x, weights, recurrent, bias, lengths, gates, defaults):
        self.node, self.lengths, self.gates = node, lengths, gates
        self.batch_first = bool(node["layout"])
        self.x = _ops.transpose(x, [1, 0, 2]) if self.batch_first else x
        self.weights, self.recurrent, self.bias = weights, recurrent, bias
        self.directions = weights.shape[0]
        self.hidden = recurrent.shape[2]
        self.functions = _activations(node, defaults, self.directions)
        self.clip = node["clip"]

    def limited(self, x):
        """x within the limit of the attribute clip."""
        return x if self.clip is None else _ops.clip(x, -self.clip, self.clip)

    def biases(self, direction):
        """(of the inputs, of the state), zeros where there is none."""
        size = self.gates * self.hidden
        if self.bias is None:
            zeros = _ops.full([size], 0, self.x.dtype.name)
            return zeros, zeros
        return self.bias[direction, :size], self.bias[direction, size:]

    def first(self, state, direction):
        """The first state of a direction, float[N, H]."""
        if state is None:
            return _ops.full([self.x.shape[1], self.hidden], 0, self.x.dtype.name)
        return state[:, direction] if self.batch_first else state[direction]

    def run(self, states, step):
        """(Y, last values of each state) for `states`, the first values or None."""
        outputs, lasts = [], []
        backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
        for direction, is_reverse in enumerate(backward[self.node["direction"]]):
            first = [self.first(state, direction) for state in states]
            last, output = self._scan(direction, first, step, is_reverse)
            outputs.append(output)
            lasts.append(last)
        y = _ops.stack(outputs, 1)
        lasts = [_ops.stack(each, 0) for each in zip(*lasts, strict=True)]
        if self.batch_first:
            y = _ops.transpose(y, [2, 0, 1, 3])
            lasts = [_ops.transpose(each, [1, 0, 2]) for each in lasts]
        return y, *lasts

    def _scan(self, direction, first, step, is_reverse):
        bias = self.biases(direction)[0]
        of_input = _ops.linear(self.x, self.weights[direction], bias)
        xs = [of_input]
        if self.lengths is not None:
            steps = _ops.reshape(_ops.arange(self.x.shape[0], 0, 1, "int64"), (-1, 1, 1))
            lengths = _ops.reshape(cast(self.lengths, "int64"), (1, -1, 1))
            xs.append(steps < lengths)

        def _step(state, each):
            new = step(direction, state, each[0])
            if len(each) == 1:
                return new, new[0]
            kept = [_ops.where(each[1], a, b) for a, b in zip(new, state, strict=True)]
            return kept, _ops.where(each[1], new[0], _ops.zeros_like(new[0]))

        return _functional.scan(_step, first, xs, reverse=is_reverse)


@importer("RNN")
def _rnn(node, x, w, r, b=None, lengths=None, h=None):
    layer = _Layer(node, x, w, r, b, lengths, 1, ["tanh"])

    def _step(direction, state, of_input):
        of_state = _ops.linear(state[0], r[direction], layer.biases(direction)[1])
        return [layer.functions[direction][0](layer.limited(of_input + of_state))]

    return layer.run([h], _step)


@importer("GRU")
def _gru(node, x, w, r, b=None, lengths=None, h=None):
    """Gates stand in the order update, reset, hidden."""
    layer = _Layer(node, x, w, r, b, lengths, 3, ["sigmoid", "tanh"])
    size, resets_first = layer.hidden, not node["linear_before_reset"]

    def _step(direction, state, of_input):
        (h,), (f, g) = state, layer.functions[direction]
        weight, bias = r[direction], layer.biases(direction)[1]
        gates = _ops.linear(h, weight[: 2 * size], bias[: 2 * size]) + of_input[:, : 2 * size]
        gates = f(layer.limited(gates))
        update, reset = gates[:, :size], gates[:, size:]
        if resets_first:
            hidden = _ops.linear(reset * h, weight[2 * size :], bias[2 * size :])
        else:
            hidden = reset * _ops.linear(h, weight[2 * size :], bias[2 * size :])
        hidden = g(layer.limited(of_input[:, 2 * size :] + hidden))
        return [(1 - update) * hidden + update * h]

    return layer.run([h], _step)


@importer("LSTM")
def _lstm(node, x, w, r, b=None, lengths=None, h=None, c=None, p=None):
    """Gates stand in the order input, output, forget, cell; `p` looks at the cell."""
    layer = _Layer(node, x, w, r, b, lengths, 4, ["sigmoid", "tanh", "tanh"])
    size, coupled = layer.hidden, bool(node["input_forget"])

    def _step(direction, state, of_input):
        (h, c), (f, g, k) = state, layer.functions[direction]
        gates = of_input + _ops.linear(h, r[direction], layer.biases(direction)[1])
        i, o, forget, cell = (gates[:, size * n : size * n + size] for n in range(4))
        looks = [None] * 3
        if p is not None:
            looks = [p[direction, size * n : size * n + size] for n in range(3)]
        i = f(layer.limited(i if p is None else i + looks[0] * c))
        forget = (
            1 - i if coupled else f(layer.limited(forget if p is None else forget + looks[2] * c))
        )
        c = forget * c + i * g(layer.limited(cell))
        o = f(layer.limited(o if p is None else o + looks[1] * c))
        return [o * k(c), c]

    return layer.run([h, c], _step)
