"""checkpoint: the numbers of the plain call, bit by bit, with less memory between the passes."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.autodiff import Function, GradManager, checkpoint, grad, no_grad, vjp
from tessera.device import get_allocated_memory
from tessera.jit import trace

from tests.support.helper import floats


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def plain(function, *args, **kwargs):
    return function(*args, **kwargs)


def network():
    tessera.random.seed(1)
    layers = [M.Linear(6, 8), M.GELU(), M.Dropout(0.4), M.Linear(8, 6), M.BatchNorm1d(6)]
    return M.Sequential(*layers)


def training_step(net, x, call):
    """Loss, the input's gradient; used twice, before and after what is not checkpointed."""
    manager = GradManager().attach([x, *net.parameters()])
    with manager:
        h = x * 2
        y = call(net, h) + h
        loss = (call(net, y) ** 2).mean()
        manager.backward(loss)
    return loss, x.grad


def outcome(call, run=plain):
    """Everything that three steps give and leave behind, as bytes."""
    net, x = network(), tensor(5, 6)
    step = run(lambda x: training_step(net, x, call))
    tessera.random.seed(3)
    results = []
    for _ in range(3):
        for each in [x, *net.parameters()]:
            each.grad = None
        results += step(x)
        results += [p.grad for p in net.parameters()]
    results += [*net.buffers(), tessera.random.uniform(size=4)]
    return [each.numpy().tobytes() for each in results]


@pytest.mark.parametrize("run", [lambda f: f, trace, lambda f: trace(f, symbolic=True)])
def test_bits_are_those_of_the_plain_call(run):
    assert outcome(checkpoint, run) == outcome(plain, lambda f: f)


def test_several_uses_add_up_in_the_order_of_the_plain_call():
    def mixed(t):
        return F.exp(t * t) + F.sin(t) * t - t / 3

    def loss(call):
        x = tensor(300, seed=4)
        gm = GradManager().attach(x)
        with gm:
            y = x + call(mixed, x) * x
            gm.backward((y * call(mixed, y) + x).sum())
        return x.grad.numpy().tobytes()

    assert loss(checkpoint) == loss(plain)


def test_a_decorator_and_a_module():
    @checkpoint
    def cube(t, *, times=1):
        "Third power."
        return t * t * t * times

    assert cube.__name__ == "cube" and cube.__doc__ == "Third power."
    assert grad(lambda x: cube(x, times=2))(tessera.tensor(2.0)).item() == 24.0
    net = M.Linear(3, 2)
    assert np.array_equal(checkpoint(net)(tensor(4, 3)).numpy(), net(tensor(4, 3)).numpy())


def test_trees_and_other_arguments():
    def both(pair, scale, options):
        a, b = pair["a"], pair["b"]
        return {"sum": a + b * scale, "parts": [a * b, options["name"]]}

    x, y = tensor(3), tensor(3, seed=1)
    gm = GradManager().attach([x, y])
    with gm:
        out = checkpoint(both, {"a": x, "b": y}, 2, options={"name": "n"})
        assert out["parts"][1] == "n"
        gm.backward((out["sum"] * out["parts"][0]).sum())
    a, b = x.numpy(), y.numpy()
    np.testing.assert_allclose(x.grad.numpy(), a * b + (a + 2 * b) * b, rtol=1e-5)
    np.testing.assert_allclose(y.grad.numpy(), 2 * a * b + (a + 2 * b) * a, rtol=1e-5)


def test_only_one_result_is_used():
    x = tessera.tensor([2.0, 3.0])
    gm = GradManager().attach(x)
    with gm:
        _, square, index = checkpoint(lambda t: (F.exp(t), t * t, t.astype("int32")), x)
        assert index.tolist() == [2, 3]
        gm.backward(square.sum())
    assert x.grad.tolist() == [4.0, 6.0]


def test_nothing_runs_again_for_results_that_nothing_uses():
    calls = []

    def double(t):
        calls.append(1)
        return t * 2

    x = tensor(2)
    gm = GradManager().attach(x)
    with gm:
        checkpoint(double, x)
        gm.backward(checkpoint(double, x).sum())
    assert len(calls) == 3


def test_without_a_recording_it_is_the_plain_call():
    calls = []
    checkpoint(lambda t: calls.append(1) or t, tensor(2))
    gm = GradManager().attach(tensor(2))
    with gm, no_grad():
        checkpoint(lambda t: calls.append(1) or t, tensor(2))
    assert len(calls) == 2


def test_checkpoints_within_checkpoints():
    def inner(t):
        return F.sin(t * t)

    def outer(call):
        return lambda t: F.exp(call(inner, call(inner, t) * t))

    x = tensor(7)
    expected = grad(lambda t: outer(plain)(t).sum())(x)
    got = grad(lambda t: checkpoint(outer(checkpoint), t).sum())(x)
    assert got.numpy().tobytes() == expected.numpy().tobytes()


def test_higher_orders():
    def quartic(t):
        return t * t * t * t

    x = tessera.tensor(3.0)
    second = grad(grad(lambda t: checkpoint(quartic, t)))
    assert second(x).item() == 108.0
    assert trace(second)(x).item() == 108.0
    assert grad(second)(x).item() == 72.0
    inside = grad(lambda t: checkpoint(grad(quartic), t))
    assert inside(x).item() == 108.0


def test_two_managers_get_their_gradients():
    x = tensor(3)
    one, other = GradManager().attach(x), GradManager().attach(x)
    with one, other:
        y = checkpoint(lambda t: t * t, x).sum()
        other.backward(y)
        first = x.grad
        x.grad = None
        one.backward((first * first).sum())
    np.testing.assert_array_equal(first.numpy(), 2 * x.numpy())
    np.testing.assert_array_equal(x.grad.numpy(), 8 * x.numpy())


def test_values_from_outside_are_those_of_the_first_call():
    x, w, count = tensor(3), tensor(3, seed=1), tessera.tensor(0.0)

    def scaled(t):
        count._reset(count + 1)
        return t * w * count

    gm = GradManager().attach([x, w])
    before = x.numpy(), w.numpy()
    with gm:
        y = checkpoint(scaled, x)
        w._reset(w * 0)
        x._reset(x * 0)
        gm.backward(y.sum())
    assert count.item() == 1.0
    np.testing.assert_array_equal(w.numpy(), np.zeros(3))
    assert x.grad is not None and np.array_equal(x.grad.numpy(), before[1])


def test_own_functions_and_traced_functions_within():
    class Square(Function):
        def forward(self, t):
            self.t = t
            return t * t

        def backward(self, dy):
            return dy * self.t * 2

    w = tensor(4, seed=2)
    scale = trace(lambda t: t * w + t)

    def both(t):
        return scale(Square()(t))

    for _ in range(3):
        gradients = []
        for call in (plain, checkpoint):
            x = tensor(4)
            w.grad = None
            gm = GradManager().attach([x, w])
            with gm:
                gm.backward(call(both, x).sum())
            gradients.append([x.grad.numpy().tobytes(), w.grad.numpy().tobytes()])
        assert gradients[0] == gradients[1]


def test_backward_without_gradients_recorded_around():
    x = tensor(3)
    gm = GradManager().attach(x)
    with gm:
        y = checkpoint(lambda t: t * t, x).sum()
        with no_grad():
            gm.backward(y)
    np.testing.assert_array_equal(x.grad.numpy(), 2 * x.numpy())


def test_a_traced_call_that_a_manager_follows():
    net = network()
    net.eval()
    traced = trace(lambda t: checkpoint(net, t) * 2)
    for _ in range(3):
        gradients = []
        for call in (lambda t: net(t) * 2, traced):
            for each in net.parameters():
                each.grad = None
            gm = GradManager().attach(list(net.parameters()))
            with gm:
                gm.backward(call(tensor(5, 6)).sum())
            gradients.append([p.grad.numpy().tobytes() for p in net.parameters()])
        assert gradients[0] == gradients[1]


def test_a_traced_step_reads_a_parameter_that_is_an_argument_as_it_is_now():
    weight = tessera.Parameter(floats(3, 4))

    def step():
        gm = GradManager().attach([weight])
        with gm:
            gm.backward(checkpoint(lambda w: F.tanh(w) * weight.mean() + w * w, weight).sum())
        gradient, weight.grad = weight.grad, None
        return gradient

    traced = trace(step)
    for _ in range(4):
        assert traced().numpy().tobytes() == step().numpy().tobytes()
        weight[...] = weight * 0.5


LAYERS, WIDTH = 6, 1 << 16


def block(t):
    for _ in range(8):
        t = F.sin(t * t) + t
    return t


def chain(t, call):
    for _ in range(LAYERS):
        t = call(block, t)
    return t.sum()


def held_between(call):
    """Bytes that the tape holds when the forward pass has ended."""
    x = tensor(WIDTH)
    gm = GradManager().attach(x)
    tessera.sync()
    before = get_allocated_memory()
    with gm:
        y = chain(x, call)
        tessera.sync()
        held = get_allocated_memory() - before
        gm.backward(y)
    return held


def test_fewer_bytes_are_held_between_the_passes():
    layer = 4 * WIDTH
    assert held_between(plain) > LAYERS * 8 * layer
    assert held_between(checkpoint) <= (LAYERS + 1) * layer


def test_a_program_plans_fewer_bytes():
    def planned(call):
        @trace
        def step(x):
            gm = GradManager().attach(x)
            with gm:
                gm.backward(chain(x, call))
            return x.grad

        for _ in range(2):
            step(tensor(WIDTH))
        return step.program().planned_bytes

    assert planned(checkpoint) < planned(plain) / 2


def test_memory_written_in_place_is_an_error():
    x = tessera.tensor([1.0, 2.0])
    gm = GradManager().attach(x)
    with gm:
        h = x * 2
        y = checkpoint(lambda t: t * t, h)
        F.add(h, 1.0, inplace=True)
        message = "checkpoint: tensors that the function reads must be unchanged until the gradient"
        with pytest.raises(ValueError, match=message):
            gm.backward(y.sum())


def test_a_function_that_does_something_else_is_an_error():
    sizes = iter([3, 2, 3])

    def changing(t):
        size = next(sizes)
        return t[:size]

    x = tensor(5)
    with pytest.raises(ValueError, match=r"same shapes and dtypes .* got f32\[3\], then f32\[2\]"):
        grad(lambda t: checkpoint(changing, t).sum())(x)
    counts = iter([1, 2])
    message = "must return as many tensors when it runs again, got 1, then 2"
    with pytest.raises(ValueError, match=message):
        grad(lambda t: checkpoint(lambda u: [u] * next(counts), t)[0].sum())(x)


def test_an_error_of_the_function_comes_through_and_leaves_the_tape_usable():
    x = tensor(2)
    gm = GradManager().attach(x)
    with gm:
        with pytest.raises(ZeroDivisionError):
            checkpoint(lambda t: t * (1 / 0), x)
        gm.backward((x * 2).sum())
    assert x.grad.tolist() == [2.0, 2.0]
    calls = iter([1, 0])
    with pytest.raises(ZeroDivisionError):
        grad(lambda t: checkpoint(lambda u: (u * (1 / next(calls))).sum(), t))(x)
    assert grad(lambda t: (t * 3).sum())(x).tolist() == [3.0, 3.0]


def test_the_pullback_of_a_checkpoint():
    y, pullback = vjp(lambda t: checkpoint(block, t), tensor(4))
    _, other = vjp(block, tensor(4))
    dy = tensor(4, seed=5)
    assert pullback(dy)[0].numpy().tobytes() == other(dy)[0].numpy().tobytes()
    assert y.shape == (4,)
