"""tessera.autodiff: GradManager, functions of functions, higher order, own rules, memory."""

import gc
import weakref

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import autodiff
from tessera.autodiff import Function, GradManager, grad, value_and_grad, vjp

from tests.support.helper import assert_close, floats, numeric_gradient


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def test_gradient_of_a_network():
    x, w, b = floats(5, 4), floats(4, 3, seed=1), floats(3, seed=2)

    def loss(x, w, b, tanh, mean):
        return mean(tanh(x @ w + b) ** 2)

    ts = [tessera.Tensor(a) for a in (x, w, b)]
    manager = GradManager().attach(ts)
    with manager:
        manager.backward(loss(*ts, F.tanh, F.mean))
    for i, t in enumerate(ts):
        expected = numeric_gradient(lambda *a: loss(*a, np.tanh, np.mean), [x, w, b], i)
        assert_close(t.grad, expected, rtol=1e-4, atol=1e-6)


def test_dy_and_several_outputs():
    x = tensor(3)
    manager = GradManager().attach(x)
    with manager:
        manager.backward(
            [x * 2, x * x], [tessera.Tensor([1.0, 2.0, 3.0]), tessera.Tensor([1.0, 1.0, 1.0])]
        )
    assert_close(x.grad, np.array([2, 4, 6]) + 2 * x.numpy())


def test_untouched_tensors_get_no_gradient():
    x, y = tensor(2), tensor(2)
    manager = GradManager().attach([x, y])
    with manager:
        manager.backward((x * 3).sum())
    assert y.grad is None and x.grad.tolist() == [3.0, 3.0]


def test_attach_while_recording():
    x = tensor(2)
    manager = GradManager()
    with manager:
        y = x * 2
        manager.attach(y)
        manager.backward((y * y).sum())
    assert_close(y.grad, 2 * y.numpy())
    assert manager.attached_tensors()[0] is y and x.grad is None


def test_callbacks_change_gradients():
    x, seen = tensor(2), []
    manager = GradManager()
    manager.attach(x, callbacks=[lambda t, g: seen.append(t is x) or g * 10])
    with manager:
        manager.backward(x.sum())
    assert seen == [True] and x.grad.tolist() == [10.0, 10.0]


def test_record_and_release():
    x = tensor(2)
    manager = GradManager().attach(x)
    manager.record()
    y = x.sum()
    with pytest.raises(RuntimeError, match="record: a GradManager must record once at a time"):
        manager.record()
    manager.release()
    with pytest.raises(RuntimeError, match="backward: the manager must be recording"):
        manager.backward(y)


def test_backward_stops_recording():
    x = tensor(2)
    manager = GradManager().attach(x)
    with manager:
        manager.backward(x.sum())
        with pytest.raises(RuntimeError, match="must be recording"):
            manager.backward(x.sum())


def test_attach_wants_tensors():
    with pytest.raises(TypeError, match="attach: tensors must be Tensor, got int"):
        GradManager().attach([3])


def test_no_grad():
    x = tensor(2)
    manager = GradManager().attach(x)

    @autodiff.no_grad()
    def constant(t):
        return t * 100

    with manager:
        with autodiff.no_grad():
            a = x * 100
        manager.backward((x * a.detach() * 0 + x + constant(x)).sum())
    assert x.grad.tolist() == [1.0, 1.0]


def test_second_order_through_two_managers():
    x = tessera.Tensor([1.0, 2.0])
    outer, inner = GradManager().attach(x), GradManager().attach(x)
    with outer:
        with inner:
            inner.backward((x * x * x).sum())
        first = x.grad
        x.grad = None
        outer.backward((first * first).sum())
    assert_close(first, [3.0, 12.0])
    assert_close(x.grad, 2 * np.array([3.0, 12.0]) * 6 * np.array([1.0, 2.0]))


def test_third_order():
    f = grad(grad(grad(lambda t: (t**4).sum() if t.ndim else t**4)))
    assert f(tessera.Tensor(2.0)).item() == pytest.approx(48)


def test_value_and_grad():
    def f(x, y, scale=1.0):
        return (x * y * scale).sum(), "aux"

    a, b = tensor(3), tensor(3, seed=1)
    (value, aux), grads = value_and_grad(f, argnums=(0, 1), has_aux=True)(a, b, scale=2.0)
    assert aux == "aux" and value.item() == pytest.approx(
        2 * float(a.numpy() @ b.numpy()), rel=1e-5
    )
    assert_close(grads[0], 2 * b.numpy())
    assert_close(grads[1], 2 * a.numpy())
    assert grad(lambda x, y: y.sum())(a, b).tolist() == [0.0, 0.0, 0.0]


def test_vjp():
    x = tensor(2, 3)
    y, pullback = vjp(lambda t: t * t, x)
    assert_close(y, x.numpy() ** 2)
    for factor in (1.0, 2.0):
        assert_close(pullback(F.full_like(x, factor))[0], 2 * factor * x.numpy())


class Cube(Function):
    def forward(self, x):
        self.x = x
        return x * x * x

    def backward(self, dy):
        return dy * self.x * 100  # not the true gradient, so that it shows


def test_own_gradient():
    x = tensor(3)
    manager = GradManager().attach(x)
    with manager:
        y = Cube()(x * 2)
        manager.backward(y.sum())
    assert_close(y, (2 * x.numpy()) ** 3, rtol=1e-5)
    assert_close(x.grad, 2 * x.numpy() * 200, rtol=1e-5)


class TwoInTwoOut(Function):
    def forward(self, a, b):
        return a + b, a - b

    def backward(self, d_sum, d_difference):
        return d_sum * 2, None


def test_own_gradient_of_several():
    a, b = tensor(2), tensor(2)
    manager = GradManager().attach([a, b])
    with manager:
        s, _ = TwoInTwoOut()(a, b)
        manager.backward(s.sum())
    assert a.grad.tolist() == [2.0, 2.0] and b.grad is None


def test_memory_goes_without_gc():
    gc.disable()
    try:
        x = tensor(2)
        manager = GradManager().attach(x)
        with manager:
            middle = x * 2
            ref = weakref.ref(middle)
            loss = middle.sum()
            del middle
            manager.backward(loss)
        assert ref() is None
        held, before = weakref.ref(x), weakref.ref(manager)
        del x, manager, loss
        assert held() is None and before() is None
    finally:
        gc.enable()


def test_gradients_do_not_pile_up():
    from tessera.utils import counters

    x = tensor(1000)
    manager = GradManager().attach(x)

    def step():
        with manager:
            manager.backward((F.exp(x) * x).sum())
        x.grad = None
        tessera.sync()
        return counters.memory()["in_use"]

    sizes = [step() for _ in range(20)]
    assert sizes[-1] == sizes[4]


def test_group():
    x = tessera.Tensor([3.0])
    one, two = GradManager().attach(x), GradManager().attach(x)
    with one | two:
        y = (x * x).sum()
        two.backward(y)
        slope, x.grad = x.grad, None
        one.backward([slope.sum(), y])
    assert slope.tolist() == [6.0] and x.grad.tolist() == [6.0]


@pytest.mark.parametrize("fill", [F.zeros_like, F.ones_like, lambda x: F.full_like(x, 2.0)])
def test_filled_tensors_have_no_slope(fill):
    x = tessera.tensor([1.0, 3.0])
    manager = GradManager().attach([x])
    with manager:
        y = (x * fill(x)).sum()
        manager.backward(y)
    assert x.grad.tolist() == fill(x).tolist()
