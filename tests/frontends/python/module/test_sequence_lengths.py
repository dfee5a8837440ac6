"""Recurrent networks over sequences of several lengths, and Embedding's row for padding."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager, grad

from tests.support.helper import assert_close, assert_same_everywhere, flat, floats

L, N, INPUT, HIDDEN = 6, 4, 3, 5
LENGTHS = np.array([6, 1, 0, 4], "int32")
KINDS = {"rnn": M.RNN, "lstm": M.LSTM, "gru": M.GRU}


def first(states):
    return states[0] if isinstance(states, tuple) else states


def alone(net, x, length):
    """Outputs and last states of one sequence of this length, without the others."""
    output, last = net(tessera.Tensor(x[:length, None]))
    lasts = last if isinstance(last, tuple) else (last,)
    return output.numpy()[:, 0], [each.numpy()[:, 0] for each in lasts]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_each_sequence_is_as_if_it_came_alone(kind, bidirectional):
    net = KINDS[kind](INPUT, HIDDEN, num_layers=2, bidirectional=bidirectional)
    x = floats(L, N, INPUT)
    output, last = net(tessera.Tensor(x), lengths=tessera.tensor(LENGTHS))
    lasts = last if isinstance(last, tuple) else (last,)
    for n, length in enumerate(LENGTHS):
        assert not output.numpy()[length:, n].any()
        if length == 0:
            assert not any(each.numpy()[:, n].any() for each in lasts)
            continue
        expected, states = alone(net, x[:, n], length)
        assert_close(output.numpy()[:length, n], expected, 1e-5, 1e-6)
        for got, state in zip(lasts, states, strict=True):
            assert_close(got.numpy()[:, n], state, 1e-5, 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_in_every_mode(kind):
    net = KINDS[kind](INPUT, HIDDEN, batch_first=True, bidirectional=True)
    x = floats(N, L, INPUT)
    got = assert_same_everywhere(lambda x, n: flat(net(x, None, n)), x, LENGTHS)
    listed = flat(net(tessera.Tensor(x), lengths=LENGTHS.tolist()))
    assert all(np.array_equal(a, b.numpy()) for a, b in zip(got, listed, strict=True))


def test_padding_gets_no_gradient_and_given_states_stay():
    net = M.GRU(INPUT, HIDDEN)
    hx = tessera.Tensor(floats(1, N, HIDDEN, seed=1))
    lengths = tessera.tensor(LENGTHS)

    def loss(x):
        output, last = net(x, hx, lengths)
        return (output * output).sum() + (last * last).sum()

    x = tessera.Tensor(floats(L, N, INPUT))
    slope = grad(loss)(x).numpy()
    for n, length in enumerate(LENGTHS):
        assert not slope[length:, n].any() and slope[:length, n].all()
    assert net(x, hx, lengths)[1].numpy()[0, 2].tolist() == hx.numpy()[0, 2].tolist()


@pytest.mark.parametrize(("lengths", "kind", "text"), [
    (np.array([1, 2, 3], "int32"), ValueError, r"gru: lengths must have shape \(4,\), got \(3,\)"),
    (np.ones(N, "float32"), TypeError, "gru: lengths must be integers, got float32"),
    (np.array([7, 1, 1, 1], "int32"), IndexError, "gru: lengths"),
    (np.array([-1, 1, 1, 1], "int32"), IndexError, "gru: lengths"),
])  # fmt: skip
def test_what_are_no_lengths(lengths, kind, text):
    net, x = M.GRU(INPUT, HIDDEN), tessera.Tensor(floats(L, N, INPUT))
    with pytest.raises(kind, match=text):
        net(x, lengths=tessera.tensor(lengths))[0].numpy()


def test_pad_sequence():
    rows = [np.arange(3.0), np.arange(1.0), np.arange(0.0)]
    got = F.pad_sequence(rows, padding_value=-1.0)
    assert got.tolist() == [[0, 0, -1], [1, -1, -1], [2, -1, -1]]
    images = [tessera.Tensor(floats(n, 2, 2)) for n in (2, 3)]
    padded = F.pad_sequence(images, batch_first=True)
    assert padded.shape == (2, 3, 2, 2)
    assert padded.numpy()[0, :2].tolist() == images[0].tolist() and not padded.numpy()[0, 2].any()
    with pytest.raises(ValueError, match=r"pad_sequence: sequences must be .*, got \[\]"):
        F.pad_sequence([])
    with pytest.raises(ValueError, match="stack"):
        F.pad_sequence([np.zeros((1, 2)), np.zeros((1, 3))])


def test_the_row_of_padding_is_zero_and_stays():
    table = M.Embedding(5, 3, padding_idx=1)
    assert table.padding_idx == 1 and "padding_idx=1" in repr(table)
    assert table.weight.numpy()[1].tolist() == [0, 0, 0] and table.weight.numpy()[0].any()
    ids = tessera.tensor([[1, 4], [-4, 0]], dtype="int32")  # -4 is row 1, too
    with GradManager().attach(table.weight) as gm:
        gm.backward((table(ids) * 3).sum())
    assert table.weight.grad.tolist() == [[3] * 3, [0] * 3, [0] * 3, [0] * 3, [3] * 3]
    assert table(ids).numpy()[0, 0].tolist() == [0, 0, 0]


def test_a_given_row_of_padding_stays_as_it_is():
    values = tessera.Tensor(floats(4, 2))
    table = M.Embedding.from_pretrained(values, freeze=False, padding_idx=-1)
    assert table.padding_idx == 3
    assert table(tessera.tensor([3])).tolist() == [values.numpy()[3].tolist()]
    traced = jit.trace(lambda ids: F.embedding(ids, values, padding_idx=3), symbolic=True)
    ids = tessera.tensor([0, 3], dtype="int32")
    assert all(traced(ids).tolist() == values.numpy()[[0, 3]].tolist() for _ in range(3))
    slope = grad(lambda w: F.embedding(ids, w, padding_idx=3).sum())(values)
    assert slope.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]


def test_what_is_no_row():
    with pytest.raises(ValueError, match=r"Embedding: padding_idx must be in \[-3, 2\], got 3"):
        M.Embedding(3, 2, padding_idx=3)
    with pytest.raises(TypeError, match="Embedding: padding_idx must be an int or None, got 1.0"):
        M.Embedding(3, 2, padding_idx=1.0)
    with pytest.raises(ValueError, match="Embedding: max_norm must be None, got 2.0"):
        M.Embedding(3, 2, max_norm=2.0)
