"""First and second derivatives at zeros, ties, infinities and masked elements: known values.

The values are limits (by hand, or mpmath's) where there is one, else PyTorch's or, where it has
NaN, 0. Second ones are those of the sum of the first.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import grad, hessian, jvp

INF, NAN = np.inf, np.nan


def tensor(values):
    return tessera.tensor(values, dtype="float64")


def masked(function, where, other=0.0):
    """`function` where the condition holds, `other` elsewhere."""
    return lambda x: F.where(where(x), function(x), tensor(other))


POSITIVE = lambda x: x > 0  # noqa: E731
# name: function, elements, first derivatives, second ones (None: not asked for)
VALUES = {
    "norm at 0": (F.norm, [0, 0], [0, 0], [0, 0]),
    "norm of a negative zero": (F.norm, [-0.0, 0], [0, 0], [0, 0]),
    "norm of order 1 at 0": (lambda x: F.norm(x, 1), [0, 3], [0, 1], [0, 0]),
    "norm of order 3 at 0": (lambda x: F.norm(x, 3), [0, 0], [0, 0], [0, 0]),
    "norm of order 3 beside a 0": (lambda x: F.norm(x, 3), [0, 2], [0, 1], [0, 0]),
    "norm of order 0.5 beside a 0": (lambda x: F.norm(x, 0.5), [0, 4], [0, 1], None),
    "norm of order inf, a tie": (lambda x: F.norm(x, INF), [-2, 2], [-0.5, 0.5], [0, 0]),
    "norm of rows": (lambda x: F.norm(x, axis=1), [[0, 0], [3, 4]], [[0, 0], [0.6, 0.8]], None),
    "norm squared at 0": (lambda x: F.norm(x) ** 2, [0, 0], [0, 0], None),
    "normalize a row of 0": (lambda x: F.normalize(x, axis=1), [[0, 0]], [[1e12, 1e12]], [[0, 0]]),
    "std of equal numbers": (F.std, [2, 2, 2], [0, 0, 0], [0, 0, 0]),
    "std of one number": (F.std, [5], [0], [0]),
    "sqrt at 0": (F.sqrt, [0, 4], [INF, 0.25], [-INF, -0.03125]),
    "sqrt, masked": (masked(F.sqrt, POSITIVE), [-1, 0, 4], [0, 0, 0.25], [0, 0, -0.03125]),
    "log, masked": (masked(F.log, POSITIVE), [-1, 0, 2], [0, 0, 0.5], [0, 0, -0.25]),
    "x log x, masked": (masked(lambda x: x * F.log(x), POSITIVE), [-1, 0, 1], [0, 0, 1], [0, 0, 1]),
    "1 / x, masked": (masked(lambda x: 1 / x, lambda x: x != 0), [0, 2], [0, -0.25], [0, 0.25]),
    "sinc, masked": (masked(lambda x: F.sin(x) / x, lambda x: x != 0, 1.0), [0], [0], [0]),
    "exp, masked": (masked(F.exp, lambda x: x < 9), [1000, 0], [0, 1], [0, 1]),
    "NaN, masked": (masked(F.exp, lambda x: x == x), [NAN, 0], [0, 1], [0, 1]),
    "asin, masked": (masked(F.asin, lambda x: F.abs(x) < 1), [1, 2, 0], [0, 0, 1], [0, 0, 0]),
    "power, masked": (masked(lambda x: x**0.5, POSITIVE), [0, 1], [0, 0.5], [0, -0.25]),
    "logsumexp of -inf": (F.logsumexp, [-INF, -INF], [0, 0], [0, 0]),
    "logsumexp beside -inf": (lambda x: F.logsumexp(x, 0), [-INF, 0, 0], [0, 0.5, 0.5], [0, 0, 0]),
    "logsumexp, masked": (lambda x: F.logsumexp(x, 1)[1], [[-INF, -INF], [0, 0]],
                          [[0, 0], [0.5, 0.5]], None),
    "logcumsumexp of -inf": (lambda x: F.logcumsumexp(x, 0)[1:], [-INF, -INF, 0], [0, 0, 1],
                             [0, 0, 0]),
    "logaddexp of -inf": (lambda x: F.logaddexp(x, tensor(-INF)), [-INF, 0], [0, 1], [0, 0]),
    "logaddexp of inf": (lambda x: F.logaddexp(x, tensor(INF)), [INF, 0], [0.5, 0], [0, 0]),
    "a tie of logaddexp": (lambda x: F.logaddexp(x, tensor(1.0)), [1], [0.5], [0.25]),
    "softmax, masked": (lambda x: F.softmax(x, 1)[1, 0], [[-INF, -INF], [0, 0]],
                        [[0, 0], [0.25, -0.25]], None),
    "logsoftmax, masked": (lambda x: F.logsoftmax(x, 1)[1, 0], [[-INF, -INF], [0, 0]],
                           [[0, 0], [0.5, -0.5]], None),
    "x squared by pow at 0": (lambda x: x ** tensor(2.0), [0, 1], [0, 2], [2, 2]),
    "x to the 1 at 0": (lambda x: x ** tensor(1.0), [0], [1], [0]),
    "x to the 0 at 0": (lambda x: x ** tensor(0.0), [0, NAN], [0, 0], [0, 0]),
    "x to the 3 at 0": (lambda x: x ** tensor(3.0), [0, -1], [0, 3], [0, -6]),
    "0 to the x": (lambda x: tensor(0.0) ** x, [0, 1, 2], [0, 0, 0], [0, 0, 0]),
    "prod with one 0": (F.prod, [0, 2, 5], [10, 0, 0], [7, 5, 2]),
    "prod with two 0": (F.prod, [0, 2, 5, 0], [0, 0, 0, 0], [10, 0, 0, 10]),
    "cumprod with two 0": (lambda x: F.cumprod(x, 0)[3], [0, 2, 5, 0], [0, 0, 0, 0],
                           [10, 0, 0, 10]),
    "atan2 at 0": (lambda x: F.atan2(x, x * 0), [0], [0], [0]),
    "atan2 of inf": (lambda x: F.atan2(x, tensor(INF)), [1], [0], [0]),
    "hypot at 0": (lambda x: F.hypot(x, tensor(0.0)), [0, 2], [0, 1], [0, 0]),
    "hypot of inf": (lambda x: F.hypot(x, tensor(1.0)), [-INF, INF], [-1, 1], [0, 0]),
    "atan of inf": (F.atan, [INF, -INF], [0, 0], [0, 0]),
    "erf of inf": (F.erf, [INF, -INF], [0, 0], [0, 0]),
    "tanh of inf": (F.tanh, [INF, -INF], [0, 0], [0, 0]),
    "silu of inf": (F.silu, [INF, 1000], [1, 1], [0, 0]),
    "gelu of inf": (F.gelu, [INF, 1000], [1, 1], [0, 0]),
    "mish of inf": (F.mish, [INF, 1000], [1, 1], [0, 0]),
    "abs at 0": (F.abs, [0, -0.0], [0, 0], [0, 0]),
    "a tie of max": (F.max, [1, 1, 0], [0.5, 0.5, 0], [0, 0, 0]),
    "a tie of maximum": (lambda x: F.maximum(x, tensor(1.0)), [1, 2], [1, 1], [0, 0]),
    "clip at its ends": (lambda x: F.clip(x, 0, 1), [0, 1, 2], [1, 1, 0], [0, 0, 0]),
    "det of zeros": (F.det, [[0, 0], [0, 0]], [[0, 0], [0, 0]], None),
    "det of rank 1": (F.det, [[1, 2], [2, 4]], [[4, -2], [-2, 1]], None),
    "det of rank 2": (F.det, [[1, 0, 0], [0, 2, 0], [0, 0, 0]],
                      [[0, 0, 0], [0, 0, 0], [0, 0, 2]], None),
    "det of one number": (F.det, [[0]], [[1]], None),
    "adjugate": (lambda x: F.adjugate(x)[0, 0], [[1, 2], [3, 4]], [[0, 0], [0, 1]], None),
}  # fmt: skip


def first_of(function):
    return grad(lambda x: F.sum(function(x)))


@pytest.mark.parametrize("name", VALUES)
def test_first(name):
    function, elements, first, _ = VALUES[name]
    found = first_of(function)(tensor(elements)).numpy()
    np.testing.assert_allclose(found, np.array(first, "float64"), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in VALUES if VALUES[name][3] is not None])
def test_second(name):
    function, elements, _, second = VALUES[name]
    found = first_of(first_of(function))(tensor(elements)).numpy()
    np.testing.assert_allclose(found, np.array(second, "float64"), rtol=1e-9, atol=1e-12)


def test_power_by_its_exponent():
    by_both = lambda x, y: grad(lambda y: grad(lambda x: x**y)(x))(y)  # noqa: E731
    for x, y, want in [(0, 2, 0), (3, 0, 1 / 3), (2, 3, 4 + 12 * np.log(2))]:
        np.testing.assert_allclose(by_both(tensor(x), tensor(y)).numpy(), want, rtol=1e-12)


def test_hessian_of_a_product_with_two_zeros():
    x = tensor([0.0, 2.0, 5.0, 0.0])
    want = np.zeros((4, 4))
    want[0, 3] = want[3, 0] = 10
    assert hessian(F.prod)(x).tolist() == want.tolist()


def test_products_over_several_axes():
    x = np.random.RandomState(2).rand(2, 3, 4) + 0.5
    x[0, 1, 2] = 0
    found = first_of(lambda x: F.prod(x, (0, 2)))(tensor(x)).numpy()
    want = [
        np.prod(np.delete(x[:, j].reshape(-1), i * 4 + k)) for i in range(2)
        for j in range(3) for k in range(4)
    ]  # fmt: skip
    np.testing.assert_allclose(found, np.reshape(want, x.shape), rtol=1e-12)


def test_the_derivative_along_a_direction_is_infinite_where_a_slope_is():
    assert jvp(F.sqrt, (tensor(0.0),), (tensor(1.0),))[1].item() == INF
    assert jvp(F.norm, (tensor([0.0, 0.0]),), (tensor([1.0, 0.0]),))[1].item() == 0


def test_complex_numbers():
    z = tessera.tensor([0j, 3 + 4j], dtype="complex128")
    found = grad(lambda z: F.sum(F.angle(z)))(z).numpy()
    np.testing.assert_allclose(found, [0, (-4 + 3j) / 25], rtol=1e-12)
    found = grad(lambda z: F.sum(F.real(z**2.0)))(z).numpy()
    np.testing.assert_allclose(found, [0, 6 - 8j], rtol=1e-12)
    found = grad(lambda z: F.sum(F.real(F.log(z))))(z[1:]).numpy()
    np.testing.assert_allclose(found, [1 / (3 - 4j)], rtol=1e-12)


def test_an_infinite_slope_stays_where_a_gradient_arrives():
    x = tensor([0.0, 0.0])
    assert grad(lambda x: F.sqrt(x)[0])(x).tolist() == [INF, 0]
    assert np.isnan(grad(lambda x: F.sum(F.log(x)))(tensor([NAN])).numpy()).all()
