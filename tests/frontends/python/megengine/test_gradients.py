"""Gradients."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Parameter, Tensor, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import GradManager

from tests.support.helper import assert_close, bits, floats, same_bits


@pytest.mark.parametrize("wrap", [lambda f: f, jit.trace], ids=["eager", "traced"])
def test_b30_a_frozen_batch_norm_does_not_learn(wrap):
    """freeze keeps weight and bias without a gradient, and uses the running statistics."""
    layer, x = M.BatchNorm2d(3, freeze=True), Parameter(floats(2, 3, 4, 4))
    manager, before = (
        GradManager().attach([x, *layer.parameters()]),
        [bits(each) for each in layer.tensors()],
    )

    @wrap
    def step():
        with manager:
            manager.backward((layer(x) ** 2).sum())

    for _ in range(3):
        step()
    assert layer.weight.grad is None and layer.bias.grad is None and x.grad is not None
    assert [bits(each) for each in layer.tensors()] == before


def test_b31_statistics_switched_off_stay_and_on_is_an_error():
    """track_running_stats set to False later leaves the statistics; set to True it is an error."""
    layer, x = M.BatchNorm2d(3), Tensor(floats(2, 3, 4, 4))
    layer.track_running_stats = False
    before = bits(layer.running_mean)
    layer(x)
    assert bits(layer.running_mean) == before
    with pytest.raises(ValueError, match="track_running_stats must be True where the running"):
        layer.eval()(x)
    layer = M.BatchNorm2d(3, track_running_stats=False)
    layer.track_running_stats = True
    with pytest.raises(ValueError, match="track_running_stats must be given when the module is"):
        layer(x)


def cube(x):
    return (x * x * x).sum()


def entered(how, a, b):
    """Both managers, b within a, outside of it, or together with it."""
    return {"within": (a, b), "outside": (b, a)}.get(how, (a | b,) if how == "a|b" else (b | a,))


@pytest.mark.parametrize("how", ["outside", "a|b", "b|a"])
def test_b32_who_does_not_see_whose_backward(how):
    """A manager does not record the backward of one entered before it or together with it."""
    x = Parameter([2.0])
    a, b = GradManager().attach(x), GradManager().attach(x)
    from contextlib import ExitStack

    with ExitStack() as stack:
        for each in entered(how, a, b):
            stack.enter_context(each)
        y = cube(x)
        b.backward(y)
        assert x.grad.tolist() == [12.0]
        a.backward(x.grad)
    assert x.grad.tolist() == [12.0]


def test_b32_who_sees_whose_backward():
    """It records the backward of one entered within it."""
    x = Parameter([2.0])
    a, b = GradManager().attach(x), GradManager().attach(x)
    with a:
        with b:
            b.backward(cube(x))
        slope, x.grad = x.grad, None
        a.backward(slope)
    assert (slope.tolist(), x.grad.tolist()) == ([12.0], [12.0])


def test_b32_three_managers():
    """Of three within each other the outermost sees both; the results are x's derivatives."""
    x = Parameter([2.0])
    outer, middle, inner = (GradManager().attach(x) for _ in range(3))
    found = []
    with outer:
        with middle:
            with inner:
                inner.backward((x**4).sum())
            first, x.grad = x.grad, None
            middle.backward(first.sum())
        second, x.grad = x.grad, None
        outer.backward(second.sum())
    found = [each.item() for each in (first, second, x.grad)]
    assert_close(np.array(found), [32.0, 48.0, 48.0], rtol=1e-5)


def test_b32_a_manager_begun_in_a_backward_records():
    """One that begins and ends within a gradient's function is none of these."""
    seen = []

    def slope_of_square(x):
        inner, y = GradManager(), Parameter(x.detach())
        inner.attach(y)
        with inner:
            inner.backward((y * y).sum())
        seen.append(y.grad.tolist())
        return y.grad

    class Square(tessera.autodiff.Function):
        def forward(self, x):
            self.x = x
            return x * x

        def backward(self, grad):
            return grad * slope_of_square(self.x)

    x = Parameter([3.0])
    manager = GradManager().attach(x)
    with manager:
        manager.backward(Square()(x).sum())
    assert seen == [[6.0]] and x.grad.tolist() == [6.0]


@pytest.mark.parametrize("dtype", ["int32", "bool", "uint8", "float8_e5m2"])
def test_b33_only_floats_are_attached(dtype):
    """attach takes floating-point tensors; else a TypeError with dtype and shape."""
    with pytest.raises(TypeError, match=rf"attach: tensors must be floating-point, got {dtype} of "
                                        r"shape \(2,\)"):  # fmt: skip
        GradManager().attach(Tensor(np.ones(2)).astype(dtype))
    for dtype in ("float16", "bfloat16", "float64", "complex64"):
        GradManager().attach(Tensor(np.ones(2)).astype(dtype))


@pytest.mark.parametrize("wrap", [lambda f: f, jit.trace], ids=["eager", "traced"])
def test_e13_dy_of_one_element_for_a_scalar(wrap):
    """A dy of shape (1,) is taken for a scalar y; of another shape it is refused."""
    x, manager = Parameter([2.0, 3.0]), GradManager()
    manager.attach(x)

    @wrap
    def step(dy):
        with manager:
            manager.backward(F.sum(x * x), dy)

    for _ in range(3):
        x.grad = None
        step(Tensor([0.5]))
        assert x.grad.tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="backward: dy must have the shape and dtype of y"):
        step(Tensor([0.5, 0.5]))


def test_e17_bounds_of_clip_get_gradients():
    """The bounds of clip may be tensors, which get gradients."""
    x, low = Parameter(floats(5)), Parameter(np.float32(0.5))
    manager = GradManager().attach([x, low])
    with manager:
        manager.backward(F.clip(x, low, 1.0).sum())
    assert low.grad.item() == (x.numpy() < 0.5).sum()
    assert same_bits(x.grad, ((x.numpy() > 0.5) & (x.numpy() < 1)).astype(np.float32))
