"""vmap: axes and containers, gradients within and around, traced, and what falls back to a loop."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.amp import autocast
from tessera.autodiff import Function, GradManager, checkpoint, grad, jvp, no_grad, vmap
from tessera.jit import trace

from tests.support.helper import floats, same_bits


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def stacked(function, *columns):
    """The loop, as an array."""
    return np.stack([function(*row).numpy() for row in zip(*columns, strict=True)])


def assert_same(got, wanted):
    np.testing.assert_array_equal(got.numpy(), wanted)


def test_axes_of_arguments_and_results():
    x, y = tensor(2, 5, 3), tensor(3, 5, seed=1)
    f = vmap(lambda a, b: a * b[0] + b.sum(), in_axes=(1, -1), out_axes=1)
    wanted = [x.numpy()[:, i] * y.numpy()[0, i] + y.numpy()[:, i].sum() for i in range(5)]
    np.testing.assert_allclose(f(x, y).numpy(), np.stack(wanted, 1), rtol=1e-5, atol=1e-6)
    assert vmap(lambda a: a, out_axes=-1)(x).shape == (5, 3, 2)


def test_containers():
    def f(pair, scale, *, shift):
        return {"sum": pair["a"] + pair["b"][0] * scale, "shifted": [pair["a"] + shift]}

    a, b, shift = tensor(4, 3), tensor(3, 4, seed=1), tensor(4, seed=2)
    axes = ({"a": 0, "b": [1]}, None)
    got = vmap(f, in_axes=axes, out_axes={"sum": 0, "shifted": 1})(
        {"a": a, "b": [b]}, 2.0, shift=shift
    )
    assert_same(got["sum"], a.numpy() + b.numpy().T * np.float32(2))
    assert_same(got["shifted"][0], (a.numpy() + shift.numpy()[:, None]).T)


def test_a_result_that_is_the_same_for_each():
    x = tensor(4, 3)
    assert_same(vmap(lambda a: tessera.tensor([1.0, 2.0]))(x), np.tile([1, 2], (4, 1)))
    both = vmap(lambda a, b: (a + b, b * 2), in_axes=(0, None), out_axes=(0, None))
    assert_same(both(x, x[0])[1], x.numpy()[0] * 2)


def test_a_gradient_for_each_sample():
    net = M.Sequential(M.Linear(3, 8), M.GELU(), M.Linear(8, 1))
    weight = net[0].weight
    x, y = tensor(6, 3), tensor(6, 1, seed=1)

    def loss(w, a, b):
        h = F.gelu(F.linear(F.expand_dims(a, 0), w, net[0].bias))
        return ((net[2](h)[0] - b) ** 2).mean()

    got = vmap(grad(loss), in_axes=(None, 0, 0))(weight, x, y)
    wanted = stacked(lambda a, b: grad(loss)(weight, a, b), x, y)
    assert got.shape == (6, *weight.shape)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-5, atol=1e-6)


def test_a_convolution_gradient_for_each_sample():
    x, w = tensor(4, 2, 6, 6), tensor(3, 2, 3, 3, seed=1)

    def loss(w, a):
        return (F.conv2d(F.expand_dims(a, 0), w, padding=1) ** 2).sum()

    got = vmap(grad(loss), in_axes=(None, 0))(w, x)
    wanted = stacked(lambda a: grad(loss)(w, a), x)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-5, atol=1e-5)
    got = vmap(grad(loss))(F.stack([w, w * 2, w, w]), x)
    np.testing.assert_allclose(got.numpy()[0], wanted[0], rtol=2e-5, atol=1e-5)


def test_a_gradient_through_it():
    x, w = tensor(5, 3), tensor(3, seed=1)

    def total(x, w):
        return vmap(lambda a: F.exp(a * w).sum())(x).sum()

    got = grad(total, argnums=(0, 1))(x, w)
    wanted = grad(lambda x, w: F.exp(x * w).sum(), argnums=(0, 1))(x, w)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
    manager = GradManager().attach([x, w])
    with manager:
        manager.backward(total(x, w))
    np.testing.assert_allclose(w.grad.numpy(), wanted[1].numpy(), rtol=1e-6)


def test_second_order():
    x = tensor(4, 3)
    got = vmap(grad(lambda a: grad(lambda b: (b**4).sum())(a).sum()))(x)
    np.testing.assert_allclose(got.numpy(), 12 * x.numpy() ** 2, rtol=1e-5)
    got = grad(lambda x: (vmap(grad(lambda b: (b**3).sum()))(x) ** 2).sum())(x)
    np.testing.assert_allclose(got.numpy(), 36 * x.numpy() ** 3, rtol=1e-5)


def test_within_itself():
    x, y = tensor(4, 3), tensor(5, 3, seed=1)
    distances = vmap(vmap(lambda a, b: ((a - b) ** 2).sum(), in_axes=(None, 0)), in_axes=(0, None))
    wanted = [[((a - b) ** 2).sum().item() for b in y] for a in x]
    assert_same(distances(x, y), np.float32(wanted))


def test_traced():
    w = tensor(3, 3, seed=1)

    @trace
    def step(x):
        return vmap(grad(lambda a: F.exp(a @ w).sum()))(x)

    for rows in (4, 4, 4, 6, 6):
        x = tensor(rows, 3, seed=rows)
        wanted = stacked(lambda a: grad(lambda b: F.exp(b @ w).sum())(a), x)
        np.testing.assert_allclose(step(x).numpy(), wanted, rtol=2e-5)
    assert step.program() is not None


@pytest.mark.filterwarnings("ignore:trace. .* changes Python state")  # calls, which are counted
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("rows", [0, 5])
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "int8", "int32", "uint64", "complex64"]
)
def test_numbers_of_python_are_recorded_once(dtype, rows, symbolic):
    calls = []

    def scaled(a):
        calls.append(a.shape)
        return a * 2 + 1

    x = (tensor(rows, 3) * 4).astype(dtype)
    step = trace(lambda x: vmap(scaled)(x), symbolic=symbolic)
    for _ in range(3):
        got = step(x)
        assert got.dtype == dtype
        assert same_bits([got], [x * 2 + 1])
    assert set(calls) == {(3,)} and len(calls) < 4
    assert step.program() is not None


def test_of_a_traced_function():
    x = tensor(4, 3)
    f = trace(lambda a: F.exp(a) * 2)
    for _ in range(3):
        assert_same(vmap(f)(x), np.stack([f(a).numpy() for a in x]))


def test_loops_within():
    x = tensor(4, 5)

    def running(a):
        return F.scan(lambda s, b: (s + b, s), tessera.tensor(0.0), a)[1]

    assert_same(vmap(running)(x), np.stack([running(a).numpy() for a in x]))


def test_random_numbers_and_updates_are_those_of_the_loop():
    x, count = tensor(4, 100), tessera.tensor(0.0)

    def noisy(a):
        count._reset(count + 1)
        return F.dropout(a, 0.5, training=True) * count

    tessera.random.seed(5)
    got = vmap(noisy)(x)
    assert count.item() == 4
    count._reset(count * 0)
    tessera.random.seed(5)
    assert_same(got, np.stack([noisy(a).numpy() for a in x]))


def test_gradients_left_behind_are_those_of_the_loop():
    x, w = tensor(4, 3), tensor(3, seed=1)
    manager = GradManager().attach(w)

    def step(a):
        with manager:
            y = (a * w).sum()
            manager.backward(y)
        return y

    vmap(step)(x)
    np.testing.assert_allclose(w.grad.numpy(), x.numpy().sum(0), rtol=1e-6)


def test_values_and_sizes_of_data():
    x = tensor(4, 3)

    def chosen(a):
        return a * 2 if a[0].item() > 0 else a

    assert_same(vmap(chosen)(x), np.stack([chosen(a).numpy() for a in x]))
    assert_same(vmap(lambda a: a[a > -100].sum())(x), np.stack([a.sum().numpy() for a in x]))
    with pytest.raises(ValueError, match="vmap: results must have one shape for each element"):
        vmap(lambda a: a[a > 0])(x)


def test_what_leaves_a_gradient_behind():
    class Double(Function):
        def forward(self, t):
            return t * 2

        def backward(self, dy):
            return dy * 10

    x = tensor(4, 3)
    through = {
        "detach": lambda a: (a * a.detach()).sum(),
        "no_grad": lambda a: (a * no_grad()(lambda: a * 1)()).sum(),
        "own": lambda a: Double()(a).sum(),
        "checkpoint": lambda a: checkpoint(lambda t: t * t, a).sum(),
    }
    for f in through.values():
        got = grad(lambda x, f=f: vmap(f)(x).sum())(x)
        assert_same(got, np.stack([grad(f)(a).numpy() for a in x]))


def test_no_elements():
    assert vmap(lambda a: (a * 2).sum())(tensor(0, 3)).shape == (0,)
    assert vmap(lambda a, b: F.matmul(a, b), in_axes=(0, None))(
        tensor(0, 2, 3), tensor(3, 4)
    ).shape == (0, 2, 4)


def test_autocast_around():
    x, w = tensor(4, 3), tensor(3, 3, seed=1)
    with autocast(low_prec_dtype="bfloat16"):
        got = vmap(lambda a: F.softmax(a @ w))(x)
        wanted = np.stack([F.softmax(a @ w).numpy() for a in x])
    assert got.dtype == "float32"
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-2)


def test_jvp_of_each():
    x, v = tensor(4, 3), tensor(4, 3, seed=1)
    got = vmap(lambda a, t: jvp(F.exp, (a,), (t,))[1])(x, v)
    np.testing.assert_allclose(got.numpy(), np.exp(x.numpy()) * v.numpy(), rtol=1e-6)


X = tensor(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vmap(F.exp, in_axes=None)(X), ValueError, "one tensor must be mapped, got none"),
        (lambda: vmap(F.add)(X, tensor(5, 3)), ValueError, r"equally many elements, got \[4, 5\]"),
        (lambda: vmap(F.exp, in_axes=2)(X), ValueError, r"in_axes must be in \[-2, 1\], got 2"),
        (lambda: vmap(F.exp, out_axes=2)(X), ValueError, r"out_axes must be in \[-2, 1\], got 2"),
        (lambda: vmap(F.exp)(tessera.tensor(1.0)), ValueError, r"in_axes must be in \[0, -1\]"),
        (lambda: vmap(F.add, in_axes=(0,))(X, X), ValueError, "for each argument, got 1 for 2"),
        (lambda: vmap(F.exp, in_axes=([0],))(X), TypeError, "in_axes must have the containers"),
        (lambda: vmap(F.exp, out_axes=(0, 0))(X), TypeError, "out_axes must have the containers"),
        (lambda: vmap(F.exp, out_axes=None)(X), ValueError, "out_axes must be a number"),
        (lambda: vmap(lambda a: 3.0)(X), TypeError, "results must be made of tensors, got 3.0"),
        (lambda: vmap(lambda a: a @ tensor(5))(X), ValueError, "matmul: "),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
