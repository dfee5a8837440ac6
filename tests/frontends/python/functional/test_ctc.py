"""Connectionist temporal classification against the sum over all alignments."""

import itertools

import numpy as np
import pytest
import tessera.functional as F  # noqa: N812
from tessera import Tensor, jit, tensor
from tessera.autodiff import grad

from tests.support.helper import same_bits

RANDOM = np.random.RandomState(0)
T, N, C = 4, 4, 3
PRED_LENGTHS = np.array([4, 3, 4, 0], "int32")
LABEL = np.array([[1, 2, 9], [2, 2, 9], [1, 2, 1], [9, 9, 9]], "int32")  # 9: no label
LABEL_LENGTHS = np.array([2, 2, 3, 0], "int32")


def probabilities(dtype="float64"):
    x = RANDOM.rand(T, N, C) + 0.1
    return (x / x.sum(-1, keepdims=True)).astype(dtype)


def wide(array):
    return Tensor(array, dtype="float64")


def collapsed(path, blank):
    return [k for k, _ in itertools.groupby(path) if k != blank]


def reference(pred, pred_lengths, label, label_lengths, blank):
    """float64[N], by enumeration."""
    losses = []
    for n, steps in enumerate(pred_lengths):
        wanted = list(label[n][: label_lengths[n]])
        ways = [p for p in itertools.product(range(pred.shape[2]), repeat=int(steps))
                if collapsed(p, blank) == wanted]  # fmt: skip
        total = sum(np.prod([pred[t, n, k] for t, k in enumerate(way)]) for way in ways)
        losses.append(-np.log(total) if total else np.inf)
    return np.array(losses)


def call(pred, reduction="none", blank=0, label=LABEL):
    return F.ctc_loss(pred, PRED_LENGTHS, label, LABEL_LENGTHS, blank, reduction)


@pytest.mark.parametrize("blank", [0, 2])
def test_every_alignment_counts(blank):
    label = np.where(np.equal(LABEL, blank), 0, LABEL) if blank else LABEL
    pred = probabilities()
    want = reference(pred, PRED_LENGTHS, label, LABEL_LENGTHS, blank)
    assert want[3] == 0 and np.isfinite(want).all()
    np.testing.assert_allclose(call(wide(pred), "none", blank, label).numpy(), want, rtol=1e-12)
    total = call(wide(pred), "sum", blank, label).item()
    np.testing.assert_allclose(total, want.sum(), rtol=1e-12)
    mean = call(wide(pred), "mean", blank, label).item()
    np.testing.assert_allclose(mean, (want / [2, 2, 3, 1]).mean(), rtol=1e-12)


def test_the_example_of_megengine():
    pred = tensor([[[0.0614, 0.9386], [0.8812, 0.1188]], [[0.699, 0.301], [0.2572, 0.7428]]])
    two, one = np.array([2, 2], "int32"), np.array([1, 1], "int32")
    assert abs(F.nn.ctc_loss(pred, two, one, one).item() - 0.1504417) < 1e-6


def test_labels_one_after_the_other():
    flat = np.concatenate([row[:count] for row, count in zip(LABEL, LABEL_LENGTHS, strict=True)])
    pred = wide(probabilities())
    assert same_bits([call(pred)], [call(pred, label=flat)])


def test_what_no_alignment_gives_is_infinite_and_has_no_gradient():
    pred = wide(probabilities()[:2])
    lengths = np.array([2, 2, 2, 2], "int32")
    found = F.ctc_loss(pred, lengths, LABEL, LABEL_LENGTHS, reduction="none").numpy()
    assert np.isfinite(found).tolist() == [True, False, False, True]
    slope = grad(lambda x: F.ctc_loss(x, lengths, LABEL, LABEL_LENGTHS, reduction="sum"))(pred)
    assert np.isfinite(slope.numpy()).all() and not slope.numpy()[:, 1:3].any()
    certain = tensor([[[0.0, 1.0]]])
    one = np.array([1], "int32")
    assert F.ctc_loss(certain, one, np.array([[1]], "int32"), one).item() == 0
    slope = grad(lambda x: F.ctc_loss(x, one, np.array([[1]], "int32"), one))(certain).numpy()
    np.testing.assert_array_equal(slope, [[[0, -1]]])


def test_without_labels_only_blanks_count():
    nothing = np.zeros((N, 0), "int32")
    pred = probabilities()
    found = F.ctc_loss(wide(pred), [T] * N, nothing, [0] * N, reduction="none").numpy()
    np.testing.assert_allclose(found, -np.log(pred[..., 0]).sum(0), rtol=1e-12)


def differences(function, x, step=1e-6):
    out = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        out[place] = (function(moved[0]) - function(moved[1])) / (2 * step)
    return out


def test_gradients_of_first_and_second_order():
    pred, direction = probabilities(), RANDOM.rand(T, N, C)
    first = grad(lambda x: call(x, "mean"))
    want = differences(lambda x: call(wide(x), "mean").item(), pred)
    np.testing.assert_allclose(first(wide(pred)).numpy(), want, rtol=1e-6, atol=1e-8)

    def along(x):
        return (first(x) * wide(direction)).sum()

    want = differences(lambda x: along(wide(x)).item(), pred)
    np.testing.assert_allclose(grad(along)(wide(pred)).numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_trace_has_the_bits_of_eager(dtype):
    pred = tensor(probabilities("float32")).astype(dtype)
    traced = jit.trace(lambda x: call(x, "mean"), capture_as_const=True)
    wanted = call(pred, "mean")
    assert wanted.dtype == pred.dtype
    assert same_bits([traced(pred)], [wanted]) and same_bits([traced(pred)], [wanted])


def test_refusals():
    pred = wide(probabilities())
    with pytest.raises(ValueError, match=r"^ctc_loss: reduction must be one of .*, got 'all'"):
        call(pred, "all")
    with pytest.raises(IndexError, match="ctc_loss: label must be in"):
        call(pred, label=LABEL + 3).numpy()
    with pytest.raises((ValueError, TypeError), match=", got"):
        call(tensor(np.zeros((2, 3), "float32")))
