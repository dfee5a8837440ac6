"""Traced functions while a GradManager records: programs forwards and backwards, eager's bits."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.autodiff import Function, GradManager, grad, value_and_grad
from tessera.optimizer import SGD
from tessera.utils import counters

from tests.support.helper import same_bits
from tests.support.networks import Net, tensor


def gradients(function, *args, calls=4, weigh=None):
    """Results and gradients of the arguments, of each of a few calls."""
    rows = []
    for seed in range(calls):
        tensors = [tensor(*shape, seed=seed + 7 * i) for i, shape in enumerate(args)]
        manager = GradManager().attach(tensors)
        with manager:
            y = function(*tensors)
            manager.backward(weigh(y) if weigh else y.sum())
        ys = list(y) if isinstance(y, tuple) else [y]
        rows.append([each.numpy() for each in [*ys, *(t.grad for t in tensors)]])
    return rows


FUNCTIONS = {
    "product": (lambda x, y: x * y + x, [(3, 4), (3, 4)]),
    "matmul": (lambda x, y: F.tanh(x @ y), [(3, 4), (4, 2)]),
    "one argument": (lambda x: F.softmax(F.gelu(x * 2), -1) * x, [(5, 6)]),
    "broadcast": (lambda x, y: F.exp(x) / (y * y + 1), [(3, 4), (4,)]),
    "view": (lambda x: x[:, 1:].T.reshape(-1) * 2, [(3, 4)]),
    "unused": (lambda x, y: x * 3, [(2,), (2,)]),
    "itself": (lambda x: x, [(2,)]),
    "twice": (lambda x: x * x * x, [(2,)]),
}


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "unused"])
def test_arguments_get_eager_s_gradients(name):
    function, shapes = FUNCTIONS[name]
    traced = jit.trace(function)
    for ours, theirs in zip(gradients(traced, *shapes), gradients(function, *shapes), strict=True):
        assert all(same_bits(a, b) for a, b in zip(ours, theirs, strict=True))
    assert traced.program() is not None


RETURNS_ITS_ARGUMENT = {
    "beside others": lambda x: (x * x, x, F.cumsum(x, 1) * x, F.exp(x)),
    "twice": lambda x: (x, x * F.sin(x), x, x / 3),
    "alone": lambda x: (x,),
    "one of two, both used": lambda x, y: (y, x * y, F.tanh(x) * y, y * y),
}


@pytest.mark.parametrize("name", RETURNS_ITS_ARGUMENT)
def test_what_arrives_at_a_returned_argument_comes_first_in_its_gradient_s_sum(name):
    function = RETURNS_ITS_ARGUMENT[name]
    shapes = [(16, 16)] * function.__code__.co_argcount

    def weigh(results):
        return sum((r * r * 0.7).sum() for r in results)

    traced = gradients(jit.trace(function), *shapes, weigh=weigh)
    for ours, theirs in zip(traced, gradients(function, *shapes, weigh=weigh), strict=True):
        assert all(same_bits(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_returned_argument_that_no_loss_reads():
    traced = jit.trace(lambda x: (x, x * x))
    for seed in range(3):
        x = tensor(3, seed=seed)
        with GradManager().attach([x]) as manager:
            manager.backward(traced(x)[seed % 2].sum())
        assert same_bits(x.grad.numpy(), 2 * x.numpy() if seed % 2 else np.ones(3, "f"))


def test_no_warning_and_few_kernels(recwarn):
    def f(x):
        return F.tanh(F.exp(x * 2) + 1) * 3

    traced, launches = jit.trace(f), []
    for _ in range(4):
        tessera.sync()
        before = counters.launches()
        gradients(traced, (64, 64), calls=1)
        launches.append(counters.launches() - before)
    assert not recwarn.list and launches[-1] < launches[0]


def test_a_function_without_arguments():
    weight, found = tensor(3, 4), []
    loss = jit.trace(lambda: F.tanh(weight).sum())
    for call in (*[loss] * 3, loss.function):
        with GradManager().attach([weight]) as manager:
            manager.backward(call())
        found.append(weight.grad.numpy())
        weight.grad = None
    assert loss.program() is not None and all(same_bits(each, found[-1]) for each in found)


def test_an_argument_without_a_gradient():
    traced = jit.trace(FUNCTIONS["unused"][0])
    for _ in range(3):
        x, y = tensor(2), tensor(2, seed=1)
        manager = GradManager().attach([x, y])
        with manager:
            manager.backward(traced(x, y).sum())
        assert x.grad.tolist() == [3, 3] and y.grad is None


def train(wrap, network, steps=6):
    """Losses and weights of a training whose network is traced."""
    tessera.seed(3)
    net = network()
    optim = SGD(net.parameters(), lr=0.1, momentum=0.9)
    manager, forward = GradManager().attach(net.parameters()), wrap(net)
    labels, losses = tessera.Tensor(np.arange(8) % 3), []
    for seed in range(steps):
        with manager:
            loss = F.cross_entropy(forward(tensor(8, 6, seed=seed)), labels)
            manager.backward(loss)
        optim.step().clear_grad()
        losses.append(loss.item())
    return losses, {key: value.tobytes() for key, value in net.state_dict().items()}


class Normed(M.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.drop = M.Linear(6, 4), M.BatchNorm1d(4), M.Dropout(0.3)
        self.out = M.Linear(4, 3)

    def forward(self, x):
        return self.out(self.drop(F.relu(self.norm(self.fc(x)))))


@pytest.mark.parametrize("network", [Net, Normed])
@pytest.mark.filterwarnings("error")
def test_training_around_a_traced_network_is_the_same_bit_for_bit(network):
    assert train(jit.trace, network) == train(lambda f: f, network)


def test_only_some_results_get_a_gradient():
    def f(x, y):
        return x * 2, F.exp(y) * x, (x > 0), y - 1

    traced = jit.trace(f)
    weights = [
        lambda r: r[0].sum(),
        lambda r: r[1].sum(),
        lambda r: (r[1] * r[3]).sum(),
        lambda r: (r[0] + r[1] + r[3]).sum(),
    ]
    for weigh in weights * 2:
        for ours, theirs in zip(
            gradients_or_none(traced, weigh), gradients_or_none(f, weigh), strict=True
        ):
            assert (ours is None) == (theirs is None)
            assert ours is None or same_bits(ours, theirs)


def gradients_or_none(function, weigh):
    x, y = tensor(3, seed=1), tensor(3, seed=2)
    manager = GradManager().attach([x, y])
    with manager:
        manager.backward(weigh(function(x, y)))
    return x.grad, y.grad


def test_what_the_gradient_reads_is_as_it_was_at_the_call():
    weight = tessera.Parameter(np.float32([2.0, 3.0]))
    manager = GradManager().attach(weight)
    traced = jit.trace(lambda x: (x * weight * weight).sum())
    for _ in range(4):
        weight._reset(tessera.Tensor(np.float32([2.0, 3.0])))
        x = tessera.Tensor([1.0, 10.0])
        with manager:
            y = traced(x)
            weight._reset(tessera.Tensor(np.float32([0.0, 0.0])))
            x._reset(tessera.Tensor([0.0, 0.0]))
            y_value = y.item()
            y._reset(y * 1)
            manager.backward(y)
        assert y_value == 94 and weight.grad.tolist() == [4, 60]
        weight.grad = None


def test_variables_are_updated_once():
    count, x = tessera.Tensor([0.0]), tensor(2)
    manager = GradManager().attach(x)

    @jit.trace
    def step(x):
        count._reset(count + 1)
        return x * count

    for n in range(1, 5):
        with manager:
            manager.backward(step(x).sum())
        assert count.item() == n and x.grad.tolist() == [n, n]
        x.grad = None


def test_detach_no_grad_and_functions_of_the_user_s():
    class Double(Function):
        def forward(self, x):
            self.x = x
            return x * 2

        def backward(self, dy):
            return dy * self.x * 100

    def f(x):
        with tessera.no_grad():
            factor = F.exp(x)
        return Double()(x) + x.detach() * x + factor

    traced = jit.trace(f)
    assert all(
        same_bits(a, b)
        for ours, theirs in zip(gradients(traced, (3,)), gradients(f, (3,)), strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )


def test_outside_of_the_recording_it_is_another_program():
    traced, x = jit.trace(lambda x: F.exp(x) * 2), tensor(3)
    manager = GradManager().attach(x)
    for _ in range(3):
        assert same_bits(traced(x), F.exp(x) * 2)
        with manager:
            y = traced(x)
            with tessera.no_grad():
                assert same_bits(traced(x), y)
            manager.backward(y.sum())
        assert same_bits(x.grad, F.exp(x) * 2)
        x.grad = None


def test_value_and_grad():
    traced = jit.trace(lambda x: (x * x).sum())
    for seed in range(4):
        value, slope = value_and_grad(traced)(tensor(3, seed=seed))
        x = tensor(3, seed=seed)
        assert same_bits(value, (x * x).sum()) and same_bits(slope, x * 2)


def test_several_managers_run_it_eagerly_and_loudly():
    traced = jit.trace(lambda x: x * x * x)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because several GradManagers record"):
        assert grad(grad(traced))(tessera.Tensor(2.0)).item() == 12
    assert [grad(grad(traced))(tessera.Tensor(float(n))).item() for n in range(3)] == [0, 6, 12]


def test_a_second_manager_that_begins_later_does_not_see_the_gradient():
    traced, x = jit.trace(lambda x: x * x), tensor(2)
    for _ in range(3):
        first, second = GradManager().attach(x), GradManager().attach(x)
        x.grad = None
        first.record()
        y = traced(x).sum()
        with second:
            first.backward(y)
            second.backward(x.grad)
        assert same_bits(x.grad, 2 * x)


def test_a_manager_that_begins_within_the_gradient_is_refused():
    traced, x, late = jit.trace(lambda x: x * x), tensor(2), []

    class Meddling(Function):
        def forward(self, y):
            return y + 0

        def backward(self, grad):
            late.append(GradManager().attach(x))
            late[-1].record()
            return grad

    for n in range(3):
        manager = GradManager().attach(x)
        manager.record()
        y = Meddling()(traced(x)).sum()
        if n == 0:  # recorded eagerly
            manager.backward(y)
        else:
            with pytest.raises(NotImplementedError, match="trace: the gradient of a traced"):
                manager.backward(y)
        late.pop().release()


def test_an_operator_without_a_gradient_runs_it_eagerly_and_loudly():
    def f(x):
        return x * 2, F.cond_take(x > 0, x)[0]

    traced, x = jit.trace(f), tensor(4)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because a size in it depends on"):
        for _ in range(3):
            manager = GradManager().attach(x)
            x.grad = None
            with manager:
                manager.backward(traced(x)[0].sum())
            assert x.grad.tolist() == [2, 2, 2, 2]


def test_constants_and_gradients_do_not_go_together():
    weight = tessera.Parameter(np.ones(2, np.float32))
    traced = jit.trace(lambda x: x * weight, capture_as_const=True)
    manager, x = GradManager().attach(weight), tensor(2)
    with pytest.warns(RuntimeWarning, match="runs eagerly, because it has capture_as_const"):
        for _ in range(2):
            with manager:
                manager.backward(traced(x).sum())
    assert same_bits(weight.grad, x + x)


def test_what_differs_is_told_there_too():
    flags, x = iter([False, True]), tensor(2)

    @jit.trace(check=True)
    def f(x):
        if next(flags):
            return x * 3
        return x * 2

    manager = GradManager().attach(x)
    with manager:
        f(x)
    with pytest.raises(jit.TraceMismatchError, match=r"return x \* 2[^$]*return x \* 3"), manager:
        f(x)
    with manager:  # the manager's recording is whole
        manager.backward((x * 5).sum())
    assert x.grad.tolist() == [5, 5]


def test_a_tape_that_is_dropped_frees_what_was_saved():
    traced, x = jit.trace(lambda x: F.exp(x) * F.tanh(x)), tensor(256, 256)
    manager = GradManager().attach(x)

    def call():
        with manager:
            traced(x)
        tessera.sync()
        return tessera.device.get_allocated_memory()

    call()
    call()
    assert len({call() for _ in range(4)}) == 1


def test_nested_traces_are_one_program():
    inner = jit.trace(lambda x: F.exp(x) + 1)
    outer = jit.trace(lambda x: inner(x) * inner(x * 2))

    def plain(x):
        return (F.exp(x) + 1) * (F.exp(x * 2) + 1)

    assert all(
        same_bits(a, b)
        for ours, theirs in zip(gradients(outer, (3,)), gradients(plain, (3,)), strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )
    assert inner.program() is None
