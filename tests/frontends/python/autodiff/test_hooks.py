"""Hooks on gradients of tensors and of modules; gradients of computed tensors; warnings."""

import warnings

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera import optimizer
from tessera.autodiff import GradManager, grad
from tessera.jit import trace


def parameter(*values):
    return tessera.Parameter(list(values))


def test_computed_tensors_have_gradients():
    w = parameter(1.0, 2.0)
    with GradManager().attach(w) as manager:
        h = w * 3
        manager.attach(h)
        y = h * h
        manager.attach(y)
        manager.backward(y.sum())
    assert y.grad.tolist() == [1.0, 1.0]
    assert h.grad.tolist() == [6.0, 12.0]
    assert w.grad.tolist() == [18.0, 36.0]


def test_what_a_computed_tensor_was_read_by_before_counts():
    w = parameter(2.0)
    with GradManager().attach(w) as manager:
        h = w * 1
        before = h * 5
        manager.attach(h)
        manager.backward((before + h * h).sum())
    assert h.grad.tolist() == [9.0] and w.grad.tolist() == [9.0]


def test_the_loss_itself():
    w = parameter(2.0)
    with GradManager().attach(w) as manager:
        loss = (w * w).sum()
        manager.attach([loss, w])
        manager.backward(loss, tessera.Tensor(3.0))
    assert loss.grad.item() == 3 and w.grad.tolist() == [12.0]


def test_a_hook_sees_and_changes_the_whole_gradient():
    w, seen = parameter(1.0, 2.0), []
    with GradManager().attach(w) as manager:
        h = w * 3
        before = h + 1
        h.register_hook(lambda g: seen.append(g.tolist()))
        h.register_hook(lambda g: g * 10)
        manager.attach(h)
        manager.backward((before + h * h).sum())
    assert seen == [[7.0, 13.0]]
    assert h.grad.tolist() == [70.0, 130.0] and w.grad.tolist() == [210.0, 390.0]


def test_hooks_of_parameters_stay_until_removed():
    w = parameter(1.0)
    handler = w.register_hook(lambda g: g * 2)
    manager = GradManager().attach(w)
    for want in (2.0, 2.0):
        w.grad = None
        with manager:
            manager.backward((w * 1).sum())
        assert w.grad.tolist() == [want]
    assert grad(lambda x: x.sum())(w).tolist() == [2.0]
    with manager:
        loss = (w * 1).sum()
        handler.remove()
        w.grad = None
        manager.backward(loss)
    assert w.grad.tolist() == [1.0]
    handler.remove()


def test_a_hook_runs_once_in_each_recording():
    w, seen = parameter(1.0), []
    manager = GradManager().attach(w)
    for _ in range(2):
        with manager:
            w.register_hook(lambda g: seen.append(g.item())).remove()
            handler = w.register_hook(lambda g: seen.append(g.item()))
            manager.attach(w)
            manager.backward((w * w).sum())
        handler.remove()
    assert seen == [2.0, 2.0]


def test_hooks_of_gradients_of_gradients():
    seen = []

    def cube(x):
        square = x * x
        square.register_hook(lambda g: seen.append(g.item()))
        return (square * x).sum()

    assert grad(lambda x: grad(cube)(x).sum())(tessera.tensor([2.0])).tolist() == [12.0]
    assert seen[0] == 2.0  # of the inner one; that of the outer one follows


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda g: 1.0, TypeError, "a hook must return a Tensor or None, got"),
        (lambda g: g.sum(), ValueError, r"must have the shape and dtype f32\[2\], got f32\[\]"),
        (lambda g: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_wrong_hooks(hook, error, message):
    w = parameter(1.0, 2.0)
    with GradManager().attach(w) as manager:
        h = w * 2
        h.register_hook(hook)
        with pytest.raises(error, match=message):
            manager.backward(h.sum())
    with pytest.raises(TypeError, match="register_hook: hook must be callable, got int"):
        w.register_hook(1)


class Scaled(M.Module):
    """Its own gradient by an input that others read, too."""

    def forward(self, x, factor):
        return {"scaled": x * factor, "factor": factor}


def test_a_hook_of_a_module_sees_its_own_gradients():
    net, seen = Scaled(), []
    net.register_backward_hook(lambda module, ins, outs: seen.append((module, ins, outs)))
    w = parameter(1.0, 2.0)
    with GradManager().attach(w) as manager:
        x = w * 1
        y = net(x, 3)["scaled"] + x
        manager.backward((y * tessera.Tensor([1.0, 10.0])).sum())
    ((module, ins, outs),) = seen
    assert module is net and ins[0].tolist() == [3.0, 30.0] and ins[1] is None
    assert [g.tolist() for g in outs] == [[1.0, 10.0]]
    assert w.grad.tolist() == [4.0, 40.0]


def test_hooks_of_modules_change_gradients_until_removed():
    net = M.Linear(2, 1)
    first = net.register_backward_hook(lambda module, ins, outs: ins[0] * 2)
    second = net.register_backward_hook(lambda module, ins, outs: (ins[0] + 1,))
    x, weight = tessera.Tensor([[1.0, 2.0]]), net.weight.numpy()
    slope = grad(lambda x: net(x).sum())
    np.testing.assert_allclose(slope(x).numpy(), 2 * weight + 1, rtol=1e-6)
    first.remove()
    np.testing.assert_allclose(slope(x).numpy(), weight + 1, rtol=1e-6)
    second.remove()
    np.testing.assert_allclose(slope(x).numpy(), weight, rtol=1e-6)
    assert "backward_hooks" not in str(list(net.named_tensors()))


def test_a_hook_of_the_first_module():
    net, seen = M.Linear(2, 1), []
    net.register_backward_hook(lambda module, ins, outs: seen.append((ins, outs[0].tolist())))
    with GradManager().attach(net.parameters()) as manager:
        manager.backward(net(tessera.Tensor([[1.0, 2.0]])).sum())
    assert seen == [((None,), [[1.0]])] and net.weight.grad.tolist() == [[1.0, 2.0]]
    net(tessera.Tensor([[1.0, 2.0]]))  # without a manager nothing runs
    assert len(seen) == 1


def test_a_hook_of_a_module_must_fit():
    net = M.ReLU()
    net.register_backward_hook(lambda module, ins, outs: (ins[0], ins[0]))
    with pytest.raises(ValueError, match="one gradient for each input, got 2 for 1"):
        grad(lambda x: net(x).sum())(tessera.Tensor([1.0]))


def backward_of(manager, loss):
    with manager:
        manager.backward(loss)


def test_a_loss_that_nothing_recorded_warns_once_with_its_line():
    w = parameter(1.0)
    manager = GradManager().attach(w)
    loss = (w * w).sum()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            backward_of(manager, loss)
    (warning,) = seen
    assert "backward: y must depend on an attached tensor" in str(warning.message)
    assert warning.filename == __file__ and w.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with manager:
            manager.backward((w * w).sum())
            assert w.grad.tolist() == [2.0]


def test_a_step_without_gradients_warns_once_with_its_line():
    w, other = parameter(1.0), parameter(1.0)
    sgd = optimizer.SGD([w, other], lr=0.5)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            sgd.step()
    (warning,) = seen
    assert "SGD.step: a parameter must have a gradient, got none" in str(warning.message)
    assert warning.filename == __file__ and w.item() == 1
    w.grad = tessera.Tensor([1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sgd.step()
    assert w.item() == 0.5 and other.item() == 1


def test_a_trace_follows_hooks_that_come_and_go():
    w = parameter(1.0, 2.0)
    manager = GradManager().attach(w)

    def step():
        with manager:
            manager.backward((w * w).sum())
        slope, w.grad = w.grad, None
        return slope

    traced = trace(step)
    for _ in range(2):
        assert [traced().tolist() for _ in range(3)] == [[2.0, 4.0]] * 3
        handle = w.register_hook(lambda g: g * 10)
        assert [traced().tolist() for _ in range(3)] == [[20.0, 40.0]] * 3
        handle.remove()


def test_hooks_of_computed_tensors_record_no_trace_anew():
    calls = []

    @trace
    def step(x):
        calls.append(0)
        with GradManager().attach(x) as manager:
            manager.backward((x * x).sum())
        slope, x.grad = x.grad, None
        return slope

    x = parameter(3.0)
    step(x), step(x)
    recorded = len(calls)
    for _ in range(3):
        with GradManager().attach(x) as manager:
            y = x * 2
            y.register_hook(lambda g: g * 2)
            manager.backward(y.sum())
        assert x.grad.tolist() == [4.0]
        x.grad = None
        assert step(x).tolist() == [6.0]
    assert len(calls) == recorded


def test_a_trace_follows_hooks_of_modules():
    net, w = M.Linear(2, 2, bias=False), parameter(1.0, 2.0)
    net.weight._reset(tessera.Tensor([[1.0, 0.0], [0.0, 1.0]]))
    manager = GradManager().attach(w)

    def step():
        with manager:
            manager.backward((net(w.reshape(1, 2)) * 3).sum())
        slope, w.grad = w.grad, None
        return slope

    traced = trace(step)
    for scale in (2, 3, 2):
        assert [traced().tolist() for _ in range(2)] == [[3.0, 3.0]] * 2
        handle = net.register_backward_hook(lambda _, into, out, n=scale: (into[0] * n,))
        assert [traced().tolist() for _ in range(2)] == [[3.0 * scale] * 2] * 2
        handle.remove()
        handle = net.register_backward_hook(lambda _, into, out, n=scale: (into[0] * n * 2,))
        assert [traced().tolist() for _ in range(2)] == [[6.0 * scale] * 2] * 2
        handle.remove()
