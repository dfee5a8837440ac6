"""Functions with a gradient of the user's own: further gradients, refusals."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import Function, GradManager, grad


class Sigmoid(Function):
    """Keeps its result."""

    def forward(self, x):
        self.y = 1 / (1 + F.exp(-x))
        return self.y

    def backward(self, dy):
        return dy * self.y * (1 - self.y)


class Cube(Function):
    """Keeps a value on the way."""

    def forward(self, x):
        self.square = x * x
        return self.square * x

    def backward(self, dy):
        return 3 * self.square * dy


class Rounded(Function):
    """Has a gradient of its own where its operators have none; keeps input and result."""

    def forward(self, x):
        self.x, self.y = x, F.round(x)
        return self.y

    def backward(self, dy):
        return dy * self.y * self.x


class TwoResults(Function):
    """Keeps one result of two."""

    def forward(self, x, y):
        self.x, self.y, self.product = x, y, x * y
        return x + y, self.product

    def backward(self, of_sum, of_product):
        assert of_sum is None  # nothing reads the sum
        return of_product * self.y, of_product * self.product / self.y


def nth(function, order):
    for _ in range(order):
        function = (lambda inner: lambda x: grad(lambda t: inner(t).sum())(x))(function)
    return function


SIGMOID = 1 / (1 + np.exp(-2.0))
SLOPE = SIGMOID * (1 - SIGMOID)


@pytest.mark.parametrize(
    ("kind", "order", "want"),
    [
        (Sigmoid, 1, SLOPE),
        (Sigmoid, 2, SLOPE * (1 - 2 * SIGMOID)),
        (Sigmoid, 3, SLOPE * (1 - 6 * SIGMOID + 6 * SIGMOID**2)),
        (Cube, 2, 12.0),
        (Cube, 3, 6.0),
        (Rounded, 1, 4.0),
        (Rounded, 2, 2.0 + 2 * 4.0),  # through the kept result by the own gradient, not round's
    ],
)
def test_further_gradients(kind, order, want):
    found = nth(lambda x: kind()(x), order)(tessera.tensor([2.0]))
    np.testing.assert_allclose(found.numpy(), [want], rtol=1e-5)


def test_further_gradients_of_two_managers():
    x = tessera.Tensor([2.0])
    with GradManager().attach(x) as outer:
        with GradManager().attach(x) as inner:
            inner.backward(Cube()(x))
        slope, x.grad = x.grad, None
        outer.backward(slope)
    assert x.grad.tolist() == [12.0]


def test_further_gradients_of_several_results():
    x, y = tessera.Tensor([2.0]), tessera.Tensor([5.0])
    product = lambda x, y: TwoResults()(x, y)[1].sum()  # noqa: E731
    assert grad(product, 0)(x, y).tolist() == [5.0]
    assert grad(product, 1)(x, y).tolist() == [2.0]
    assert grad(lambda y: grad(product, 0)(x, y).sum())(y).tolist() == [1.0]
    assert grad(lambda x: grad(product, 1)(x, y).sum())(x).tolist() == [1.0]


def test_an_input_as_result():
    class Same(Function):
        def forward(self, x):
            return x

        def backward(self, dy):
            return dy * 3

    assert grad(lambda x: (Same()(x) * x).sum())(tessera.tensor([2.0])).tolist() == [8.0]
    assert nth(lambda x: Same()(x) * x, 2)(tessera.tensor([2.0])).tolist() == [6.0]


def writes_in_place(x):
    x += 1
    return x * 2


def writes_an_element(x):
    x[0] = 1.0
    return x * 2


def writes_through_a_view(x):
    part = x[:1]
    part += 1
    x[:1] = part
    return x * 2


@pytest.mark.parametrize("write", [writes_in_place, writes_an_element, writes_through_a_view])
def test_forward_must_not_write_its_inputs(write):
    class Writes(Function):
        def forward(self, scale, x):
            return write(x)

        def backward(self, dy):
            return None, dy * 2

    w = tessera.Parameter([1.0, 2.0])
    with (
        GradManager().attach(w),
        pytest.raises(ValueError, match="Writes: forward must not write its inputs, .* tensor 1"),
    ):
        Writes()(w * 2, w * 1)
    with (
        GradManager().attach(w),
        GradManager().attach(w),
        pytest.raises(ValueError, match="forward must not write"),
    ):
        Writes()(w * 2, w * 1)
    assert Writes()(tessera.Tensor(1.0), tessera.Tensor([1.0, 2.0])).shape == (2,)  # no gradient


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda dy: dy.sum(), ValueError, r"gradient 0 must have .* f32\[2\], got f32\[\]"),
        (lambda dy: F.broadcast_to(dy, (3, 2)), ValueError, r"f32\[2\], got f32\[3, 2\]"),
        (lambda dy: dy.astype("float64"), ValueError, r"f32\[2\], got f64\[2\]"),
        (lambda dy: dy.astype("int32"), ValueError, r"f32\[2\], got i32\[2\]"),
        (lambda dy: 1.0, TypeError, "must be Tensor"),
        (lambda dy: (dy, dy), ValueError, "one gradient for each input, got 2 for 1"),
    ],
)
def test_gradients_must_fit(wrong, error, message):
    class Wrong(Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return wrong(dy)

    w = tessera.Parameter([1.0, 2.0])
    with GradManager().attach(w) as manager, pytest.raises(error, match=message):
        manager.backward(Wrong()(w).sum())
    assert w.grad is None
