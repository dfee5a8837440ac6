"""A language model: embedding, LSTM over several layers, gradient clipping, a carried state."""

import math

import megengine as mge
import megengine.functional as F  # noqa: N812
import megengine.module as M  # noqa: N812
import megengine.optimizer as optim
import numpy as np
from megengine import Parameter
from megengine.autodiff import GradManager

TEXT = "the cat sat on the mat. the dog sat on the log. the cat saw the dog. "
LETTERS = sorted(set(TEXT))
HIDDEN, BATCH, STEPS = 24, 4, 12


class LanguageModel(M.Module):
    """Letters to logits of the letters that follow; gives the state for the next ones, too."""

    def __init__(self, layers=2):
        super().__init__()
        self.embedding = M.Embedding(len(LETTERS), 10)
        self.lstm = M.LSTM(10, HIDDEN, num_layers=layers)
        self.norm = M.LayerNorm(HIDDEN)
        self.drop = M.Dropout(0.1)
        self.decoder = M.Linear(HIDDEN, len(LETTERS))
        self.shape = (layers, BATCH, HIDDEN)

    def start(self):
        return mge.tensor(np.zeros(self.shape, dtype="float32")), F.zeros(self.shape)

    def forward(self, letters, state):
        x, state = self.lstm(self.embedding(letters), state)
        return self.decoder(self.drop(self.norm(x))), state


def batches(epochs):
    """Stretches of letters [STEPS, BATCH] and of those that follow."""
    codes = np.array([LETTERS.index(letter) for letter in TEXT * 3], dtype="int32")
    length = (len(codes) - 1) // BATCH
    starts = np.arange(BATCH) * length
    for _ in range(epochs):
        for begin in range(0, length - STEPS, STEPS):
            places = begin + np.arange(STEPS)[:, None] + starts
            yield mge.tensor(codes[places]), mge.tensor(codes[places + 1])


def train(model, epochs):
    manager = GradManager().attach(model.parameters())
    optimizer = optim.AdamW(model.parameters(), lr=0.02, weight_decay=1e-3)
    state, losses, norms = model.start(), [], []
    for letters, following in batches(epochs):
        with manager:
            logits, state = model(letters, tuple(each.detach() for each in state))
            loss = F.nn.cross_entropy(logits.reshape(-1, len(LETTERS)), following.flatten(), axis=1)
            manager.backward(loss)
        norm = optim.clip_grad_norm(model.parameters(), max_norm=0.5, ord=2.0)
        check_norm(model, float(norm), 0.5)
        optim.clip_grad_value(model.parameters(), lower=-0.2, upper=0.2)
        optimizer.step().clear_grad()
        losses.append(loss.item())
        norms.append(float(norm))
    assert max(norms) > 0.5, "nothing was clipped"
    return losses


def check_norm(model, before, limit):
    grads = [p.grad.numpy().astype("float64") for p in model.parameters() if p.grad is not None]
    squares = sum((grad**2).sum() for grad in grads)
    np.testing.assert_allclose(math.sqrt(squares), min(before, limit), rtol=1e-3)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def check_lstm():
    """The numbers and the order of weights: of one layer, beside NumPy and beside a cell."""
    inputs, hidden, length = 3, 4, 5
    net = M.LSTM(inputs, hidden)
    flat = net.state_dict()["_flatten_weights"]
    assert flat.shape == (4 * hidden, inputs + hidden + 2)
    ends = np.cumsum([4 * hidden * inputs, 4 * hidden * hidden, 4 * hidden])
    w_ih, w_hh, b_ih, b_hh = np.split(flat.reshape(-1), ends)
    cell = M.LSTMCell(inputs, hidden)
    cell.load_state_dict({
        "weight_ih": w_ih.reshape(-1, inputs), "weight_hh": w_hh.reshape(-1, hidden),
        "bias_ih": b_ih, "bias_hh": b_hh,
    })  # fmt: skip
    x = np.random.RandomState(0).normal(size=(length, 2, inputs)).astype("float32")
    h = c = np.zeros((2, hidden), dtype="float32")
    h_cell, c_cell = mge.tensor(h), mge.tensor(c)
    outputs, (h_last, c_last) = net(mge.tensor(x))
    for step in range(length):
        gates = x[step] @ w_ih.reshape(-1, inputs).T + b_ih + h @ w_hh.reshape(-1, hidden).T + b_hh
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        h_cell, c_cell = cell(mge.tensor(x[step]), (h_cell, c_cell))
        np.testing.assert_allclose(outputs[step].numpy(), h, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(h_cell.numpy(), h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(h_last[0].numpy(), h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(c_last[0].numpy(), c, rtol=1e-4, atol=1e-5)


def check_kinds():
    """Shapes of both directions, of other layouts, and of a plain network."""
    x = mge.tensor(np.ones((6, 5, 3), dtype="float32"))
    both = M.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
    out, (h, c) = both(x)
    assert out.shape == (6, 5, 8) and h.shape == (4, 6, 4) and c.shape == (4, 6, 4)
    assert isinstance(both._flatten_weights, Parameter)
    plain = M.RNN(3, 4, nonlinearity="relu", bias=False)
    out, h = plain(x, mge.tensor(np.zeros((1, 5, 4), dtype="float32")))
    assert out.shape == (6, 5, 4) and (out.numpy() >= 0).all()
    np.testing.assert_array_equal(out[-1].numpy(), h[0].numpy())
    cell = M.RNNCell(3, 4)
    assert cell(x[0]).shape == (5, 4) and np.abs(cell(x[0]).numpy()).max() < 1


def write(model, count):
    """Goes on with the likeliest letter each time."""
    model.eval()
    model.shape = (model.shape[0], 1, HIDDEN)
    state, text = model.start(), "the "
    for letter in text:
        logits, state = model(mge.tensor([[LETTERS.index(letter)]]), state)
    for _ in range(count):
        code = F.argmax(logits[-1, 0]).item()
        text += LETTERS[code]
        logits, state = model(mge.tensor([[code]]), state)
    return text


def main():
    check_lstm()
    check_kinds()
    mge.random.seed(1)
    model = LanguageModel()
    losses = train(model, 14)
    assert losses[0] > 2 and np.mean(losses[-5:]) < 0.45 * losses[0], losses
    text = write(model, 40)
    assert sum(word in TEXT.split() for word in text.split()) >= 4, text
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}: {text!r}")


if __name__ == "__main__":
    main()
