"""Code of the user that runs inside ours: callbacks, hooks, finalizers; and exceptions in it."""

import gc
import threading
import traceback
import weakref

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import _core, config, jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import Function, GradManager, grad, modes
from tessera.optimizer import SGD


@pytest.fixture(params=[0, 1, 2], autouse=True)
def level(request):
    """Every test at every async level; it leaves no scope, no tape and no failure behind."""
    config.set_async_level(request.param)
    yield
    assert _core.current_scope() == "" and not modes.is_recording()
    tessera.sync()
    config.set_async_level(2)


def ones(*shape):
    return tessera.Tensor(np.ones(shape), dtype="float32")


def slow():
    x = ones(600, 600)
    for _ in range(4):
        x = (x @ ones(600, 600)) * (1 / 600)
    return x


def everything(x):
    """Operators, reads, synchronisation, a gradient and a trace: what code in a callback may do."""
    y = (x + 1).sum().item()
    tessera.sync()
    with GradManager().attach([x]) as manager:
        manager.backward((x * x).sum())
    (x * 2).numpy()
    traced = jit.trace(lambda a: a * 3)
    return y, x.grad.tolist(), [traced(x).tolist() for _ in range(2)]


EXPECTED = (6.0, [2.0] * 3, [[3.0] * 3] * 2)


def test_a_finalizer_computes():
    log = []

    class Loud(tessera.Tensor):
        def __del__(self):
            log.append(everything(self))

    queued = slow()
    loud = Loud(np.ones(3, dtype=np.float32))
    del loud
    assert log == [EXPECTED] and (queued.numpy() == 1).all()


def test_a_finalizer_that_brings_the_tensor_back():
    kept = []

    class Phoenix(tessera.Tensor):
        def __del__(self):
            kept.append(self)

    phoenix = Phoenix(np.ones(3, dtype=np.float32))
    del phoenix
    assert (kept[0] + 1).tolist() == [2.0] * 3


def test_a_finalizer_runs_inside_an_operator():
    """The last reference goes while an operator's arguments are converted."""
    log = []

    class Loud:
        def __init__(self):
            self.x = ones(3)

        def __del__(self):
            log.append(everything(self.x))

        def __array__(self, dtype=None, copy=None):
            nonlocal loud
            loud = None
            return np.ones(3, dtype=np.float32)

    loud = Loud()
    loud.cycle = loud
    loud = None
    y = ones(3) + np.ones(3, dtype=np.float32)
    gc.collect()
    assert log == [EXPECTED] and y.tolist() == [2.0] * 3


def test_a_weak_callback_computes():
    log, x, y = [], ones(3), ones(3)
    reference = weakref.ref(x, lambda _: log.append(everything(y)))
    del x
    assert reference() is None and log == [EXPECTED]


def test_a_gradient_callback_computes():
    x, log = ones(3), []

    def callback(tensor, gradient):
        log.append(everything(ones(3)))
        return gradient * 10

    manager = GradManager().attach([x], callbacks=callback)
    with manager:
        manager.backward((x * 2).sum())
    assert log == [EXPECTED] and x.grad.tolist() == [20.0] * 3


class Squares(Function):
    def __init__(self, log):
        self.log = log

    def forward(self, x):  # under no_grad
        self.log.append((ones(3) + 1).sum().item())
        tessera.sync()
        self.x = x
        return x * x

    def backward(self, dy):
        self.log.append(everything(ones(3)))
        return grad(lambda x: (x * x * dy).sum())(self.x)


def test_a_function_computes_gradients_in_its_backward():
    x, log = ones(3), []
    manager = GradManager().attach([x])
    with manager:
        manager.backward((Squares(log)(x * 3)).sum())
    assert log == [6.0, EXPECTED] and x.grad.tolist() == [18.0] * 3


def test_a_forward_hook_computes():
    net, log = M.Linear(3, 2), []
    net.register_forward_pre_hook(lambda *_: log.append(everything(ones(3))))
    net.register_forward_hook(lambda *_: log.append(everything(ones(3))))
    assert net(ones(2, 3)).shape == (2, 2) and log == [EXPECTED] * 2


def test_callbacks_on_many_threads():
    errors = []

    def work():
        try:
            for _ in range(10):
                test_a_gradient_callback_computes()
                test_a_function_computes_gradients_in_its_backward()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


# Exceptions of the user come out as they are, and the next step computes right.


class MineError(Exception):
    """An exception that no code of ours knows."""


def fail(*_):
    raise MineError("mine")


class FailsBackward(Function):
    def forward(self, x):
        return x * 2

    def backward(self, dy):
        fail()


class FailsForward(FailsBackward):
    forward = fail


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.inner = M.Sequential(M.Linear(3, 3), M.ReLU())
        self.function = lambda x: x

    def forward(self, x):
        return self.function(self.inner(x)).sum()


def step(net, manager, optimizer):
    """The gradients of one step."""
    with manager:
        manager.backward(net(ones(2, 3)))
    grads = [p.grad.tolist() for p in net.parameters()]
    optimizer.clear_grad()
    return grads


def fails_in_forward_hook(net, manager):
    handle = net.inner[0].register_forward_hook(fail)
    return handle.remove


def fails_in_pre_hook(net, manager):
    return net.inner[1].register_forward_pre_hook(fail).remove


def fails_in_backward(net, manager):
    net.function = FailsBackward()
    return lambda: setattr(net, "function", lambda x: x)


def fails_in_forward(net, manager):
    net.function = FailsForward()
    return lambda: setattr(net, "function", lambda x: x)


def fails_in_callback(net, manager):
    failing = [True]
    manager.attach(net.parameters(), callbacks=lambda p, g: fail() if failing[0] else g)
    return lambda: failing.__setitem__(0, False)


PLACES = [
    fails_in_forward_hook,
    fails_in_pre_hook,
    fails_in_backward,
    fails_in_forward,
    fails_in_callback,
]


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("place", PLACES, ids=lambda each: each.__name__)
def test_an_exception_of_the_user(place, traced):
    net = Net()
    optimizer = SGD(net.parameters(), lr=0.1)
    manager = GradManager().attach(net.parameters())
    want = step(net, manager, optimizer)
    repair = place(net, manager)

    def once():
        with manager:
            manager.backward(net(ones(2, 3)))

    function = jit.trace(once) if traced else once
    for _ in range(2):
        with pytest.raises(MineError, match="mine") as caught:
            function()
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fail"
        assert _core.current_scope() == "" and not modes.is_recording()
    repair()
    optimizer.clear_grad()
    assert step(net, manager, optimizer) == want
    if traced:
        optimizer.clear_grad()
        function()
        assert [p.grad.tolist() for p in net.parameters()] == want


def test_an_exception_between_record_and_backward():
    x = ones(3)
    manager = GradManager().attach([x])
    with pytest.raises(MineError), manager:
        _ = x * 2
        fail()
    with pytest.raises(RuntimeError, match="backward: the manager must be recording"):
        manager.backward(x)
    with manager:
        manager.backward((x * 5).sum())
    assert x.grad.tolist() == [5.0] * 3


def test_an_error_of_ours_inside_a_hook():
    net = M.Linear(3, 2)
    handle = net.register_forward_hook(lambda module, inputs, y: y + ones(5))
    with pytest.raises(ValueError, match=r"add: .*f32\[2, 2\].*f32\[5\]"):
        net(ones(2, 3))
    handle.remove()
    assert net(ones(2, 3)).shape == (2, 2)


def test_a_function_without_a_gradient_for_each_input():
    class Wrong(Function):
        def forward(self, x, y):
            return x * y

        def backward(self, dy):
            return dy

    x = ones(3)
    manager = GradManager().attach([x])
    with pytest.raises(ValueError, match="Function.backward: .* got 1 for 2"), manager:
        manager.backward(Wrong()(x * 1, x * 2).sum())
    with manager:
        manager.backward((F.exp(x * 0) * x).sum())
    assert x.grad.tolist() == [1.0] * 3
