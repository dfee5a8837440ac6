"""Recurrent networks over sequences, against NumPy and against their cells."""

import itertools

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager, grad

from tests.support.helper import (
    as_list,
    assert_close,
    assert_same_everywhere,
    default_device,
    flat,
    floats,
    numeric_gradient,
    same_bits,
)

L, N, INPUT, HIDDEN, PROJ = 6, 3, 4, 5, 2
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
KINDS = {"rnn": (M.RNN, M.RNNCell), "lstm": (M.LSTM, M.LSTMCell), "gru": (M.GRU, M.GRUCell)}
FUNCTIONS = {"rnn": F.rnn, "lstm": F.lstm, "gru": F.gru}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, state, a, b, projection=None):
    """The next state from the products with input and state, as PyTorch's documentation has it."""
    if kind == "rnn":
        return (np.tanh(a + b),)
    if kind == "lstm":
        i, f, g, o = np.split(a + b, 4, 1)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h if projection is None else h @ projection.T), c
    (ri, zi, ni), (rh, zh, nh) = np.split(a, 3, 1), np.split(b, 3, 1)
    z = sigmoid(zi + zh)
    return ((1 - z) * np.tanh(ni + sigmoid(ri + rh) * nh) + z * state[0],)


def run(kind, x, state, weights, reverse=False, projection=None):
    """One layer in one direction: (outputs, last state)."""
    wi, wh, bi, bh = weights if len(weights) == 4 else (*weights, 0, 0)
    outputs = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        state = step(kind, state, x[t] @ wi.T + bi, state[0] @ wh.T + bh, projection)
        outputs[t] = state[0]
    return np.stack(outputs), state


def arrays_of(kind, dtype=np.float32, seed=0):
    rows = GATES[kind] * HIDDEN
    shapes = [(rows, INPUT), (rows, HIDDEN), (rows,), (rows,)]
    return [
        floats(*s, seed=seed + i, low=-0.7, high=0.7, dtype=dtype) for i, s in enumerate(shapes)
    ]


def states_of(kind, dtype=np.float32):
    return [floats(N, HIDDEN, seed=20 + i, dtype=dtype) for i in range(1 + (kind == "lstm"))]


def in_its_form(kind, states):
    """The state as the function takes it."""
    return tuple(states) if kind == "lstm" else states[0]


def wide(arrays):
    return [each.astype(np.float64) for each in arrays]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("bias", [4, 2])
@pytest.mark.parametrize("kind", GATES)
def test_functions_beside_numpy_in_every_mode(kind, bias, reverse):
    x, states, weights = floats(L, N, INPUT, seed=9), states_of(kind), arrays_of(kind)[:bias]

    def call(x, *rest):
        states, weights = rest[: len(rest) - bias], rest[len(rest) - bias :]
        hx = in_its_form(kind, states)
        return flat(FUNCTIONS[kind](x, hx, *weights, reverse=reverse))

    got = assert_same_everywhere(call, x, *states, *weights)
    output, last = run(kind, *wide([x]), wide(states), wide(weights), reverse)
    for each, expected in zip(got, [output, *last], strict=True):
        assert_close(each, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_no_state_is_zeros_and_a_program_serves_every_length(kind):
    weights = list(map(tessera.Tensor, arrays_of(kind)))
    x = floats(L, N, INPUT)
    got = assert_same_everywhere(lambda x: flat(FUNCTIONS[kind](x, None, *weights)), x)
    zeros = [tessera.Tensor(np.zeros_like(each)) for each in states_of(kind)]
    assert same_bits(
        got, flat(FUNCTIONS[kind](tessera.Tensor(x), in_its_form(kind, zeros), *weights))
    )


@pytest.mark.parametrize("kind", GATES)
def test_a_layer_is_the_loop_over_its_cell(kind):
    """To the bit for one step; one product for all steps may add in another order."""
    whole, cell = (make(INPUT, HIDDEN) for make in KINDS[kind])
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    values = np.concatenate([getattr(cell, name).numpy().ravel() for name in names])
    shape = whole._flatten_weights.shape
    assert shape == (GATES[kind] * HIDDEN, INPUT + HIDDEN + 2)
    whole.load_state_dict({"_flatten_weights": values.reshape(shape)})
    x, hx, outputs = tessera.Tensor(floats(L, N, INPUT)), None, []
    for t in range(L):
        hx = cell(x[t], hx)
        outputs.append(as_list(hx)[0])
    for got, want in zip(flat(whole(x)), [F.stack(outputs), *as_list(hx)], strict=True):
        assert_close(got, want.numpy().reshape(got.shape), 1e-5, 1e-6)
    assert same_bits([last[0] for last in flat(whole(x[:1])[1])], as_list(cell(x[0])))


@pytest.mark.parametrize("proj", [0, PROJ])
def test_layers_in_both_directions(proj):
    net = M.LSTM(INPUT, HIDDEN, 2, batch_first=True, bidirectional=True, proj_size=proj)
    x, p = floats(N, L, INPUT), net.output_size
    h, c = floats(4, N, p, seed=1), floats(4, N, HIDDEN, seed=2)
    got = assert_same_everywhere(lambda x, h, c: flat(net(x, (h, c))), x, h, c)
    cells = [net._weights(net._parts(), cell) for cell in range(4)]
    weights, layer = [wide([w.numpy() for w in cell]) for cell in cells], x.swapaxes(0, 1)
    lasts, maps = [], net.weight_hr.numpy().astype("f8") if proj else [None] * 4
    for first in (0, 2):
        pairs = [
            run("lstm", layer, (h[i], c[i]), weights[i], i % 2 == 1, maps[i])
            for i in (first, first + 1)
        ]
        layer, lasts = np.concatenate([o for o, _ in pairs], -1), lasts + [s for _, s in pairs]
    expected = [layer.swapaxes(0, 1), *map(np.stack, zip(*lasts, strict=True))]
    for each, want in zip(got, expected, strict=True):
        assert_close(each, want, 1e-5, 1e-6)


@pytest.mark.parametrize("kind", GATES)
def test_gradients(kind):
    """In float64 beside central differences; traced, those of float32 have eager's bits."""
    base = [floats(3, N, INPUT, seed=9), *states_of(kind), *arrays_of(kind)]

    def loss(function, arrays):
        x, states, weights = arrays[0], arrays[1:-4], arrays[-4:]
        results = flat(function(x, states, weights))
        return sum(((k + 1) * r * r).sum() for k, r in enumerate(results))

    def numpy_loss(*arrays):
        return loss(lambda x, s, w: run(kind, x, s, w), arrays)

    def tensor_loss(*tensors):
        call = FUNCTIONS[kind]
        return loss(lambda x, s, w: call(x, in_its_form(kind, s), *w), tensors)

    gradients = grad(tensor_loss, range(len(base)))
    exact = wide(base)
    got = gradients(*(tessera.Tensor(a, dtype="float64") for a in exact))
    for number, each in enumerate(got):
        assert_close(each, numeric_gradient(numpy_loss, exact, number), 1e-6, 1e-7)
    assert_same_everywhere(gradients, *base, dynamic=False)


@pytest.mark.parametrize("kind", GATES)
def test_a_file_with_free_length_and_batch(kind, tmp_path):
    net, path = KINDS[kind][0](INPUT, HIDDEN, 2, bidirectional=True), tmp_path / "net.tess"
    call = jit.trace(lambda x: tuple(flat(net(x))), capture_as_const=True)
    call(tessera.Tensor(floats(L, N, INPUT)))
    free = {"x": {0: jit.Dim("steps", 0, 64), 1: jit.Dim("batch", 0, 64)}}
    call.dump(path, arg_names=["x"], dims=free, targets=["host", "sim"])
    for device, shape in itertools.product(("cpu0", "sim0"), [(9, 2), (1, 1), (0, 2), (4, 0)]):
        x = floats(*shape, INPUT)
        expected = flat(net(tessera.Tensor(x)))
        with default_device(device):
            assert same_bits(jit.load(path)(tessera.Tensor(x)), expected), (device, shape)


def test_no_step_leaves_the_state():
    h = tessera.Tensor(floats(1, N, HIDDEN))
    output, last = M.GRU(INPUT, HIDDEN)(F.zeros((0, N, INPUT)), h)
    assert output.shape == (0, N, HIDDEN) and same_bits(last, h)


def test_dropout_is_between_layers():
    x = tessera.Tensor(floats(L, N, INPUT))
    deep, flat_net = M.RNN(INPUT, HIDDEN, 2, dropout=0.5), M.RNN(INPUT, HIDDEN, dropout=0.5)
    assert not same_bits(deep(x)[0], deep(x)[0])
    assert same_bits(flat_net(x)[0], flat_net(x)[0])
    deep.eval()
    assert same_bits(deep(x)[0], deep(x)[0])


def test_a_relu_network_learns():
    net = M.RNN(INPUT, HIDDEN, nonlinearity="relu", bias=False)
    x = floats(L, N, INPUT)
    with GradManager().attach(net.parameters()) as manager:
        output, _ = net(tessera.Tensor(x))
        manager.backward(output.sum())
    wi, wh = (each.numpy() for each in net._weights(net._parts(), 0)[:2])
    h = np.zeros((N, HIDDEN))
    for row in x:
        h = np.maximum(row @ wi.T + h @ wh.T, 0)
    assert_close(output[-1], h, 1e-5, 1e-6)
    assert net._flatten_weights.shape == (HIDDEN, INPUT + HIDDEN)
    assert np.abs(net._flatten_weights.grad.numpy()).max() > 0


def test_initial_values():
    values = M.LSTM(INPUT, HIDDEN, 2)._flatten_weights.numpy()
    assert 0 < np.abs(values).max() <= 1 / np.sqrt(HIDDEN)


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (ValueError, "RNN: nonlinearity must be one of", lambda: M.RNN(4, 5, nonlinearity="no")),
        (ValueError, "RNN: dropout must be in", lambda: M.RNN(4, 5, dropout=1.5)),
        (ValueError, "GRU: num_layers must be at least 1, got 0", lambda: M.GRU(4, 5, 0)),
        (ValueError, "GRU: hidden_size must be at least 1, got 0", lambda: M.GRU(4, 0)),
        (ValueError, "LSTM: proj_size must be in", lambda: M.LSTM(4, 5, proj_size=5)),
        (ValueError, "gru: inp must have 3 axes, got", lambda: M.GRU(4, 5)(F.ones((3, 4)))),
        (ValueError, "linear: ", lambda: M.GRU(4, 5)(F.ones((2, 3, 7)))),
        (ValueError, "GRU: hx must have 3 axes, the first of 1",
         lambda: M.GRU(4, 5)(F.ones((2, 3, 4)), F.ones((2, 3, 5)))),
        (ValueError, "scan: ", lambda: M.GRU(4, 5)(F.ones((2, 3, 4)), F.ones((1, 1, 5)))),
        (TypeError, "LSTM: hx must be a pair",
         lambda: M.LSTM(4, 5)(F.ones((2, 3, 4)), F.ones((1, 3, 5)))),
        (TypeError, "lstm: hx must be a pair",
         lambda: F.lstm(F.ones((2, 3, 4)), F.ones((3, 5)), F.ones((20, 4)), F.ones((20, 5)))),
        (ValueError, "rnn: nonlinearity must be one of",
         lambda: F.rnn(F.ones((2, 3, 4)), None, F.ones((5, 4)), F.ones((5, 5)), nonlinearity="")),
        (TypeError, "rnn: inp must be a tensor, got", lambda: F.rnn(None, None, None, None)),
    ],
)  # fmt: skip
def test_what_is_refused(error, says, call):
    with pytest.raises(error, match="^" + says):
        call()


@pytest.mark.parametrize("name", ["RNN", "LSTM", "RNNCell", "LSTMCell"])
def test_arguments_have_megengines_names(name):
    net, x = getattr(M, name)(INPUT, HIDDEN), tessera.Tensor(np.ones((2, INPUT), dtype=np.float32))
    x = x if name.endswith("Cell") else x.reshape(1, 2, INPUT)
    assert same_bits(net(input=x, hx=None), net(x))
