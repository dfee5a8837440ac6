"""Cells of recurrent networks and the transformer's layer, against NumPy."""

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import assert_same_everywhere, check, floats, same_bits

N, INPUT, HIDDEN = 3, 4, 5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def wide(net):
    return {name: array.astype(np.float64) for name, array in net.state_dict().items()}


def products(net, x, h):
    p = wide(net)
    return x @ p["weight_ih"].T + p["bias_ih"], h @ p["weight_hh"].T + p["bias_hh"]


def rnn(net, x, h):
    total = sum(products(net, x, h))
    return np.tanh(total) if net.nonlinearity == "tanh" else np.maximum(total, 0)


def lstm(net, x, h, c):
    i, f, g, o = np.split(sum(products(net, x, h)), 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru(net, x, h):
    (ri, zi, ni), (rh, zh, nh) = (np.split(each, 3, axis=1) for each in products(net, x, h))
    z = sigmoid(zi + zh)
    return (1 - z) * np.tanh(ni + sigmoid(ri + rh) * nh) + z * h


CELLS = {
    "tanh": (lambda bias: M.RNNCell(INPUT, HIDDEN, bias), rnn),
    "relu": (lambda bias: M.RNNCell(INPUT, HIDDEN, bias, nonlinearity="relu"), rnn),
    "lstm": (lambda bias: M.LSTMCell(INPUT, HIDDEN, bias), lstm),
    "gru": (lambda bias: M.GRUCell(INPUT, HIDDEN, bias), gru),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_cells(name, bias):
    make, oracle = CELLS[name]
    net, x = make(bias), floats(N, INPUT)
    states = [floats(N, HIDDEN, seed=1 + i) for i in range(1 + (name == "lstm"))]

    def step(x, *states):
        return net(x, states if name == "lstm" else states[0])

    check(step, x, *states, oracle=lambda *all: oracle(net, *all), rtol=1e-5, atol=1e-6)
    zeros = [tessera.Tensor(np.zeros((N, HIDDEN), dtype=np.float32)) for _ in states]
    without = assert_same_everywhere(net, x)
    assert same_bits(without, step(tessera.Tensor(x), *zeros))


@pytest.mark.parametrize("name", CELLS)
def test_parameters_of_cells(name):
    net = CELLS[name][0](True)
    rows = net.gates * HIDDEN
    assert {n: tuple(p.shape) for n, p in net.named_parameters()} == {
        "bias_hh": (rows,),
        "bias_ih": (rows,),
        "weight_hh": (rows, HIDDEN),
        "weight_ih": (rows, INPUT),
    }
    values = net.weight_ih.numpy()
    assert 0 < np.abs(values).max() <= 1 / np.sqrt(HIDDEN)
    without = CELLS[name][0](False)
    assert [n for n, _ in without.named_parameters()] == ["weight_hh", "weight_ih"]
    assert not without.bias_ih.numpy().any()


def test_a_cell_learns():
    net, x = M.LSTMCell(INPUT, HIDDEN), tessera.Tensor(floats(N, INPUT))
    with GradManager().attach(net.parameters()) as manager:
        state = net(x)
        for _ in range(3):
            state = net(x, state)
        manager.backward(state[0].sum())
    assert all(np.abs(p.grad.numpy()).max() > 0 for p in net.parameters())


def test_arguments_of_cells():
    with pytest.raises(ValueError, match="RNNCell: nonlinearity must be one of"):
        M.RNNCell(INPUT, HIDDEN, nonlinearity="sigmoid")
    with pytest.raises(ValueError, match="linear"):
        M.GRUCell(INPUT, HIDDEN)(tessera.Tensor(floats(N, INPUT + 1)))


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(p, x, heads):
    def split(name):
        y = x @ p[f"self_attn.{name}.weight"].T + p[f"self_attn.{name}.bias"]
        return np.swapaxes(y.reshape(*x.shape[:2], heads, -1), 1, 2)

    q, k, v = (split(name) for name in ("q_proj", "k_proj", "v_proj"))
    scores = np.exp(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))
    mixed = scores / scores.sum(-1, keepdims=True) @ v
    joined = np.swapaxes(mixed, 1, 2).reshape(x.shape)
    return joined @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]


def gelu(x):
    from math import erf

    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_transformer_encoder_layer(activation, norm_first):
    net = M.TransformerEncoderLayer(8, 2, 16, activation=activation, norm_first=norm_first).eval()
    for number, name in enumerate(["linear1", "linear2"]):
        net.load_state_dict({f"{name}.bias": floats(*getattr(net, name).bias.shape, seed=number)},
                            strict=False)  # fmt: skip
    p, x = wide(net), floats(3, 5, 8)
    act = gelu if activation == "gelu" else lambda y: np.maximum(y, 0)

    def feed(y):
        hidden = act(y @ p["linear1.weight"].T + p["linear1.bias"])
        return hidden @ p["linear2.weight"].T + p["linear2.bias"]

    def oracle(x):
        if norm_first:
            x = x + attention(p, layer_norm(x), 2)
            return x + feed(layer_norm(x))
        x = layer_norm(x + attention(p, x, 2))
        return layer_norm(x + feed(x))

    check(net, x, oracle=oracle, rtol=1e-4, atol=1e-5, dynamic=False)


def test_transformer_masks_and_modes():
    net, x = M.TransformerEncoderLayer(8, 2, 16, dropout=0.5), tessera.Tensor(floats(2, 4, 8))
    assert net(x).tolist() != net(x).tolist()
    net.eval()
    full, causal = net(x).numpy(), net(x, is_causal=True).numpy()
    np.testing.assert_allclose(full[:, -1], causal[:, -1], rtol=1e-5, atol=1e-6)
    assert np.abs(full[:, 0] - causal[:, 0]).max() > 1e-3
    left_out = tessera.Tensor(np.triu(np.ones((4, 4), dtype=bool), 1))
    np.testing.assert_allclose(net(x, left_out).numpy(), causal, rtol=1e-5, atol=1e-6)
    padding = tessera.Tensor([[False, False, True, True]] * 2)
    short = net(x[:, :2]).numpy()
    masked = net(x, src_key_padding_mask=padding).numpy()
    np.testing.assert_allclose(masked[:, :2], short, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="TransformerEncoderLayer: activation must be one of"):
        M.TransformerEncoderLayer(8, 2, activation="no")
