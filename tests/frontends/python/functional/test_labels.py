"""Class numbers, positions and lengths: what is outside is an error that names the value."""

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import jit, tensor
from tessera.autodiff import grad

SCORES = np.random.RandomState(0).randn(4, 3).astype("float32")
CERTAIN = np.full((2, 1, 3), 1 / 3, "float32")


def one(number):
    return tensor([number], dtype="int32")


# (function of the numbers, those that are right, those that are not, what the error says)
TAKES = {
    "cross_entropy": (lambda y: F.cross_entropy(tensor(SCORES), y), [0, 2, -100, 1],
                      ([0, 3, 0, 0], [0, 100, 0, 0], [-1, 0, 0, 0], [0, -4, 0, 0]),
                      r"cross_entropy: label must be in \[0, 2\], got {0}"),
    "cross_entropy of probabilities": (
        lambda y: F.cross_entropy(F.softmax(tensor(SCORES), 1), y, with_logits=False),
        [0, 2, -100, 1], ([3, 0, 0, 0], [-2, 0, 0, 0]), "cross_entropy: label .* got {0}"),
    "cross_entropy along another axis": (
        lambda y: F.cross_entropy(tensor(SCORES.T), y, axis=0, reduction="none"),
        [0, 2, -100, 1], ([3, 0, 0, 0], [-2, 0, 0, 0]), "cross_entropy: label .* got {0}"),
    "nll_loss": (lambda y: F.nll_loss(tensor(SCORES), y), [0, 2, -100, 1],
                 ([3, 0, 0, 0], [-1, 0, 0, 0]), r"nll_loss: label must be in \[0, 2\], got {0}"),
    "one_hot": (lambda y: F.one_hot(y, 3), [0, 2, 1], ([5, 0, 0], [-1, 0, 0]),
                r"one_hot: x must be in \[0, 2\], got {0}"),
    "topk_accuracy": (lambda y: F.topk_accuracy(tensor(SCORES), y), [0, 2, 1, 0],
                      ([7, 0, 0, 0], [-1, 0, 0, 0]),
                      r"topk_accuracy: target must be in \[0, 2\], got {0}"),
    "ctc_loss, lengths of predictions": (
        lambda n: F.ctc_loss(tensor(CERTAIN), n, one(1)[:, None], one(1)), [2], ([3], [-1]),
        r"ctc_loss: pred_lengths must be in \[0, 2\], got {0}"),
    "ctc_loss, labels": (
        lambda y: F.ctc_loss(tensor(CERTAIN), one(2), y[:, None], one(1)), [2], ([3], [-1]),
        r"ctc_loss: label must be in \[0, 2\], got {0}"),
    "ctc_loss, lengths of labels": (
        lambda n: F.ctc_loss(tensor(CERTAIN), one(2), one(1)[:, None], n), [1], ([2], [-1]),
        r"ctc_loss: label_lengths must be in \[0, 1\], got {0}"),
    "embedding": (lambda i: F.embedding(i, tensor(SCORES)), [0, 3, -1], ([4, 0, 0], [-5, 0, 0]),
                  r"index must be in \[-4, 3\], got {0}"),
    "gather": (lambda i: F.gather(tensor(SCORES), 1, i[:, None]), [0, 2, 1, -3],
               ([3, 0, 0, 0], [-4, 0, 0, 0]), r"index must be in \[-3, 2\], got {0}"),
}  # fmt: skip


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", TAKES)
def test_what_is_outside_is_an_error_that_names_it(name, dtype, traced):
    function, right, wrong, message = TAKES[name]
    call = jit.trace(function) if traced else function
    assert np.isfinite(call(tensor(right, dtype=dtype)).numpy()).all()
    for numbers in wrong:
        outside = next(n for n in numbers if n)
        with pytest.raises(IndexError, match=message.format(outside)):
            call(tensor(numbers, dtype=dtype)).numpy()


@pytest.mark.parametrize("function", [F.cross_entropy, F.nll_loss])
def test_float_labels_are_a_type_error(function):
    with pytest.raises(TypeError, match="label must be i32 or i64, got f32"):
        function(tensor(SCORES), tensor([0.0, 1.0, 2.0, 0.5]))


def test_float_labels_of_ctc_are_a_type_error():
    with pytest.raises(TypeError, match="ctc_loss: label must be integers, got float32"):
        F.ctc_loss(tensor(CERTAIN), one(2), tensor([[1.0]]), one(1))


def log_softmax(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 3.0]])
@pytest.mark.parametrize("smooth", [0.0, 0.2])
@pytest.mark.parametrize("ignored", [-100, 2])
def test_cross_entropy_by_weights(weight, smooth, ignored):
    labels = np.array([0, ignored, 1, 2 if ignored < 0 else 0])
    weights = np.ones(3) if weight is None else np.array(weight)
    counts = labels != ignored
    chosen = np.eye(3)[np.where(counts, labels, 0)]
    losses = -((chosen * (1 - smooth) + smooth / 3) * weights * log_softmax(SCORES)).sum(1)
    want = (losses * counts).sum() / ((chosen * weights).sum(1) * counts).sum()

    def loss(x, y):
        given = weight and tensor(weight)
        return F.cross_entropy(x, y, label_smooth=smooth, ignore_index=ignored, weight=given)

    x, y = tensor(SCORES), tensor(labels, dtype="int32")
    assert loss(x, y).item() == pytest.approx(want, rel=1e-5)
    assert jit.trace(loss)(x, y).item() == loss(x, y).item()
    slope = grad(lambda x: loss(x, y))(x).numpy()
    assert not slope[1].any() and np.abs(slope[0]).max() > 0
    step = 1e-2 * slope / np.abs(slope).max()
    moved = loss(tensor(SCORES + step), y).item() - loss(tensor(SCORES - step), y).item()
    assert moved == pytest.approx(2 * (step * slope).sum(), rel=2e-2)


def test_labels_that_all_do_not_count_have_no_mean():
    assert np.isnan(F.cross_entropy(tensor(SCORES), tensor([-100] * 4)).item())
    every = F.cross_entropy(tensor(SCORES), tensor([-100] * 4), reduction="none")
    assert every.tolist() == [0, 0, 0, 0]


def test_one_class():
    assert F.one_hot(tensor([0, 0]), 1).tolist() == [[1], [1]]


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
def test_a_program_of_the_gradient_alone_refuses_labels(loss):
    step = jit.trace(lambda x, y: grad(lambda x: loss(x, y))(x))
    assert np.isfinite(step(tensor(SCORES), tensor([0, 2, -100, 1])).numpy()).all()
    with pytest.raises(IndexError, match=r"label must be in \[0, 2\], got 3"):
        step(tensor(SCORES), tensor([0, 3, 0, 0])).numpy()


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_means_of_many_halves(loss, dtype):
    scores = tensor(np.full((70_000, 2), -3.0), dtype=dtype)
    label = np.full(70_000, -100, "int32")
    label[::1000] = 1
    expected = loss(tensor([[-3.0, -3.0]]), tensor([1])).item()
    for labels in (label, np.ones_like(label)):
        assert loss(scores, tensor(labels)).item() == pytest.approx(expected, rel=1e-2)
