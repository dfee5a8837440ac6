"""Where formulas have corners: gradients at kinks as PyTorch has them, NaN, infinities, ties."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import grad

INF, NAN = np.inf, np.nan

# Calls of one tensor: its elements, what becomes of them, and the derivatives there.
ACTIVATIONS = {
    "elu": (lambda x: F.elu(x, 2.0), [-INF, 0, INF, NAN], [-2, 0, INF, NAN], [0, 2, 1, NAN]),
    "celu": (lambda x: F.celu(x, 2.0), [-INF, 0, INF, NAN], [-2, 0, INF, NAN], [0, 1, 1, NAN]),
    "selu": (
        F.selu,
        [-INF, 0, INF],
        [-1.7580993408473769, 0, INF],
        [0, 1.7580993408473769, 1.0507009873554805],
    ),
    "hardtanh": (
        F.hardtanh,
        [-INF, -1, 0.5, 1, INF, NAN],
        [-1, -1, 0.5, 1, 1, NAN],
        [0, 0, 1, 0, 0, 1],
    ),
    "hardshrink": (F.hardshrink, [-0.5, 0.5, 0.75, INF, NAN], [0, 0, 0.75, INF, NAN],
                   [0, 0, 1, 1, 1]),
    "softshrink": (F.softshrink, [-0.5, 0.5, 0.75, INF, NAN], [0, 0, 0.25, INF, NAN],
                   [0, 0, 1, 1, 1]),
    "softsign": (F.softsign, [-1, 0, NAN], [-0.5, 0, NAN], [0.25, 1, NAN]),
    "tanhshrink": (F.tanhshrink, [-INF, 0, INF], [-INF, 0, INF], [1, 0, 1]),
    "mish": (F.mish, [0, NAN], [0, NAN], [0.6, NAN]),
    "prelu": (lambda x: F.prelu(x, 0.25), [-INF, -2, 0, INF], [-INF, -0.5, 0, INF],
              [0.25, 0.25, 0.25, 1]),
    "huber_loss": (lambda x: F.huber_loss(x, 0.0, "none", 2.0), [-INF, -2, 0, 1, 2, 3],
                   [INF, 2, 0, 0.5, 2, 4], [-2, -2, 0, 1, 2, 2]),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, 0.0, "none", 2.0), [-INF, -2, 0, 1, 2, 3],
                       [INF, 1, 0, 0.25, 1, 2], [-1, -1, 0, 0.5, 1, 1]),
    "smooth_l1_loss with beta 0": (lambda x: F.smooth_l1_loss(x, 0.0, "none", 0.0),
                                   [-INF, -2, 0, 3], [INF, 2, 0, 3], [-1, -1, 0, 1]),
    "binary_cross_entropy": (lambda x: F.binary_cross_entropy(x, tessera.Tensor([0.0, 1.0, 1.0]),
                                                              reduction="none"),
                             [-1000, 1000, -1000], [0, 0, 1000], [0, 0, -1]),
    "hinge_loss": (lambda x: F.hinge_loss(F.reshape(x, (3, 1)), 1.0, reduction="none"),
                   [0, 1, 2], [1, 0, 0], [-1, 0, 0]),
    "kl_div by its label": (lambda x: F.kl_div(tessera.Tensor([-2.0, -2.0]), x, "none"),
                            [0, 1], [0, 2], [2, 3]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_and_gradients(name, dtype):
    function, elements, values, derivatives = ACTIVATIONS[name]
    x, limit = tessera.Tensor(elements, dtype=dtype), {"rtol": 2e-6, "atol": 1e-7}
    np.testing.assert_allclose(function(x).numpy(), values, **limit)
    found = grad(lambda x: F.sum(function(x)))(x).numpy()
    np.testing.assert_allclose(found, derivatives, **limit)


@pytest.mark.parametrize("function", [F.elu, F.celu, F.selu])
def test_no_branch_that_is_not_taken_overflows(function):
    x = tessera.Tensor([1000.0, -1000.0])
    second = grad(lambda x: F.sum(grad(lambda y: F.sum(function(y)))(x)))(x)
    assert second.tolist() == [0.0, 0.0]


def test_a_margin_that_is_just_kept_has_a_gradient():
    anchor, negative = tessera.Tensor([0.0]), tessera.Tensor([1.0])
    loss = lambda n: F.triplet_margin_loss(anchor, anchor, n, p=1.0, eps=0.0)  # noqa: E731
    assert loss(negative).item() == 0 and grad(loss)(negative).tolist() == [-1.0]


def test_a_vector_of_zeros_is_like_nothing():
    x, y = tessera.Tensor([[0.0, 0.0]]), tessera.Tensor([[3.0, 4.0]])
    alike = lambda x: F.sum(F.cosine_similarity(x, y, eps=0.5))  # noqa: E731
    assert alike(x).item() == 0
    np.testing.assert_allclose(grad(alike)(x).numpy(), [[1.2, 1.6]], rtol=1e-6)


def test_labels_that_do_not_count():
    pred, label = tessera.Tensor([[-1.0, -2.0]] * 3), tessera.Tensor([1, -100, 0])
    assert F.nll_loss(pred, label).item() == 1.5
    ones = tessera.Tensor([1, 1, 0])
    assert F.nll_loss(pred, ones, ignore_index=0, reduction="none").tolist() == [2, 2, 0]
    assert np.isnan(F.nll_loss(pred, tessera.Tensor([-100] * 3)).item())
    weight = tessera.Tensor([1.0, 3.0])
    assert F.nll_loss(pred, label, weight).item() == 7 / 4
    by_weight = grad(lambda w: F.nll_loss(pred, label, w, reduction="sum"))(weight)
    assert by_weight.tolist() == [1, 2]


def test_a_certain_and_right_prediction_has_no_loss():
    pred, label = tessera.Tensor([0.0, 1.0]), tessera.Tensor([0.0, 1.0])
    loss = lambda p, y: F.binary_cross_entropy(p, y, with_logits=False, reduction="sum")  # noqa: E731
    assert loss(pred, label).item() == 0 and loss(pred, 1 - label).item() == np.inf
    assert grad(lambda p: loss(p, label))(pred).tolist() == [1, -1]
    assert np.isfinite(grad(lambda y: loss(pred, y))(label).numpy()).all()


def test_the_first_of_equal_elements_takes_the_gradient():
    x = F.ones((1, 1, 3, 3))
    found = grad(lambda x: F.sum(F.adaptive_max_pool2d(x, 2)))(x)
    assert found.tolist() == [[[[1, 1, 0], [1, 1, 0], [0, 0, 0]]]]


def test_only_the_diagonal_counts():
    x = tessera.Tensor([[1.0, INF], [NAN, 2.0]])
    assert F.trace(x).item() == 3 and F.trace(x, 1).item() == INF
    assert grad(F.trace)(x).tolist() == [[1, 0], [0, 1]]
