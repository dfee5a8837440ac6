"""jvp, jacobian and hessian beside closed forms, central differences and PyTorch's numbers."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import checkpoint, grad, hessian, jacobian, jvp, vjp
from tessera.jit import trace

from tests.support.helper import floats


def tensor(*shape, seed=0, dtype="float64"):
    return tessera.Tensor(floats(*shape, seed=seed), dtype=dtype)


def close(got, wanted, rtol=1e-9):
    np.testing.assert_allclose(got.numpy(), wanted, rtol=rtol, atol=1e-12)


def test_gradients_of_containers_and_of_one_tensor_twice():
    x, y = tensor(3), tensor(3, seed=1)

    def f(pair, other):
        return (pair["a"] * pair["b"][0] * other).sum()

    got = grad(f)({"a": x, "b": [y]}, x + 0)
    close(got["a"], y.numpy() * x.numpy())
    close(got["b"][0], x.numpy() ** 2)
    first, second = grad(lambda a, b: (a * a * b).sum(), argnums=(0, 1))(x, x)
    close(first, 2 * x.numpy() ** 2)
    close(second, x.numpy() ** 2)
    first, second = vjp(lambda a, b: a * a * b, x, x)[1](y)
    close(first, 2 * x.numpy() ** 2 * y.numpy())
    close(second, x.numpy() ** 2 * y.numpy())
    inner = grad(lambda t: sum(g.sum() for g in grad(lambda a, b: (a * b).sum(), (0, 1))(t, t)))
    close(inner(x), np.full(3, 2.0))


def test_jvp_of_closed_forms():
    x, v = tensor(5), tensor(5, seed=1)
    y, dy = jvp(F.sin, (x,), (v,))
    close(y, np.sin(x.numpy()))
    close(dy, np.cos(x.numpy()) * v.numpy())
    y, dy = jvp(lambda a, b: (a * b).sum(), (x, v), (v, x))
    close(dy, (v.numpy() ** 2 + x.numpy() ** 2).sum())


def test_jvp_is_the_central_difference():
    w = tensor(4, 3, seed=2)

    def f(x):
        return F.softmax(F.exp(x @ w) + F.log(x * x + 1).sum(), axis=-1)

    x, v, step = tensor(2, 4), tensor(2, 4, seed=1), 1e-6
    _, dy = jvp(f, (x,), (v,))
    close(dy, (f(x + v * step).numpy() - f(x - v * step).numpy()) / (2 * step), rtol=1e-6)


def test_jvp_of_containers():
    def f(pair, scale):
        return {
            "product": pair["a"] * pair["b"][0],
            "index": pair["a"].astype("int32"),
            "s": [scale * 3],
        }

    x, y, s = tensor(3), tensor(3, seed=1), tensor(seed=2)
    out, d = jvp(f, ({"a": x, "b": [y]}, s), ({"a": y, "b": [x]}, s))
    close(out["product"], x.numpy() * y.numpy())
    close(d["product"], x.numpy() ** 2 + y.numpy() ** 2)
    close(d["s"][0], 3 * s.numpy())
    assert d["index"].dtype == "int32" and d["index"].tolist() == [0, 0, 0]


def test_jvp_of_what_does_not_depend():
    x = tensor(3)
    _, (same, constant) = jvp(lambda t: (t, tensor(2)), (x,), (x,))
    close(same, x.numpy())
    close(constant, np.zeros(2))
    _, d = jvp(lambda a, b: a * b, (x, x), (x, x * 0))
    close(d, x.numpy() ** 2)


def test_jvp_and_vjp_agree():
    w = tensor(4, 4, seed=3)

    def f(x):
        return F.tanh(x @ w).sum(axis=0) * x[0]

    x, v, u = tensor(3, 4), tensor(3, 4, seed=1), tensor(4, seed=2)
    along = (jvp(f, (x,), (v,))[1] * u).sum().item()
    assert abs(along - (vjp(f, x)[1](u)[0] * v).sum().item()) < 1e-12


def test_hessian_vector_products():
    def f(x):
        return (F.exp(x) * x).sum() + x[0] * x[1]

    x, v = tensor(4), tensor(4, seed=1)
    wanted = hessian(f)(x).numpy() @ v.numpy()
    close(jvp(grad(f), (x,), (v,))[1], wanted)
    close(grad(lambda t: jvp(f, (t,), (v,))[1])(x), wanted)
    close(trace(lambda t: jvp(grad(f), (t,), (v,))[1])(x), wanted)


def test_jvp_traced():
    @trace
    def f(x, v):
        return jvp(lambda t: F.sin(t) * t, (x,), (v,))

    for seed in range(3):
        x, v = tensor(5, seed=seed), tensor(5, seed=seed + 9)
        y, dy = f(x, v)
        eager = jvp(lambda t: F.sin(t) * t, (x,), (v,))
        assert y.numpy().tobytes() == eager[0].numpy().tobytes()
        assert dy.numpy().tobytes() == eager[1].numpy().tobytes()


def test_jvp_of_complex_numbers():
    z = tessera.Tensor(floats(3) + 1j * floats(3, seed=1), dtype="complex128")
    v = tessera.Tensor(floats(3, seed=2) + 1j * floats(3, seed=3), dtype="complex128")
    close(jvp(lambda t: t * t * t, (z,), (v,))[1], 3 * z.numpy() ** 2 * v.numpy())
    close(jvp(lambda t: F.conj(t) * t, (z,), (v,))[1], 2 * (z.numpy().conj() * v.numpy()).real)


def test_jacobian_of_closed_forms():
    a, x = tensor(3, 4), tensor(4, seed=1)
    close(jacobian(lambda t: a @ t)(x), a.numpy())
    close(jacobian(lambda t: t * t)(x), np.diag(2 * x.numpy()))
    b = tensor(4, 2, seed=2)
    got = jacobian(lambda p, q: p @ q, argnums=(0, 1))(a, b)
    close(got[0], np.einsum("ik,lj->ijkl", np.eye(3), b.numpy()))
    close(got[1], np.einsum("ik,jl->ijkl", a.numpy(), np.eye(2)))
    assert jacobian(lambda t: t.sum())(x).shape == (4,)


def test_jacobian_of_containers():
    def f(pair, other):
        return [pair["a"] * other, (pair["b"] ** 2).sum()]

    a, b, other = tensor(2), tensor(3, seed=1), tensor(2, seed=2)
    got = jacobian(f)({"a": a, "b": b}, other)
    close(got[0]["a"], np.diag(other.numpy()))
    close(got[0]["b"], np.zeros((2, 3)))
    close(got[1]["a"], np.zeros(2))
    close(got[1]["b"], 2 * b.numpy())


def test_jacobian_where_values_are_looked_at():
    x = tensor(3)

    def f(t):
        return t * t if t[0].item() > 100 else t * 3

    close(jacobian(f)(x), 3 * np.eye(3))


def test_jacobian_of_what_draws_and_updates():
    x, count = tensor(50), tessera.tensor(0.0)

    def f(t):
        count._reset(count + 1)
        return F.dropout(t, 0.5) * count

    tessera.random.seed(3)
    wanted = f(x).numpy() / x.numpy()
    following = tessera.random.uniform(size=3).numpy()
    count._reset(count * 0)
    tessera.random.seed(3)
    close(jacobian(f)(x), np.diag(wanted), rtol=1e-6)
    assert count.item() == 1
    np.testing.assert_array_equal(tessera.random.uniform(size=3).numpy(), following)


def test_jacobian_of_nothing():
    assert jacobian(lambda t: t[:0])(tensor(3)).shape == (0, 3)


def test_hessian_of_closed_forms():
    a, x = tensor(4, 4), tensor(4, seed=1)
    close(hessian(lambda t: t @ (a @ t))(x), a.numpy() + a.numpy().T)
    got = hessian(lambda t: t**3)(x)
    wanted = np.zeros((4, 4, 4))
    np.einsum("iii->i", wanted)[:] = 6 * x.numpy()
    close(got, wanted)


def test_hessian_of_containers():
    def f(pair):
        return (pair["a"] * pair["a"] * pair["b"]).sum()

    a, b = tensor(2), tensor(2, seed=1)
    got = hessian(f)({"a": a, "b": b})
    close(got["a"]["a"], np.diag(2 * b.numpy()))
    close(got["a"]["b"], np.diag(2 * a.numpy()))
    close(got["b"]["b"], np.zeros((2, 2)))


def test_traced_jacobian_and_hessian():
    x = tensor(3)
    f = trace(lambda t: (jacobian(F.sin)(t), hessian(lambda u: (u**3).sum())(t)))
    for _ in range(3):
        first, second = f(x)
        close(first, np.diag(np.cos(x.numpy())))
        close(second, np.diag(6 * x.numpy()))


def test_with_checkpoint():
    x = tensor(3)
    close(jacobian(lambda t: checkpoint(F.sin, t))(x), np.diag(np.cos(x.numpy())))
    close(jvp(lambda t: checkpoint(F.sin, t), (x,), (x,))[1], np.cos(x.numpy()) * x.numpy())


X, INTS = tensor(3), tessera.tensor([1, 2, 3])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jvp(F.sin, X, X), TypeError, "jvp: primals must be a tuple or list, got Tensor"),
        (lambda: jvp(F.sin, (X,), X), TypeError, "jvp: tangents must be a tuple or list"),
        (lambda: jvp(F.sin, (X,), (X, X)), TypeError, "must have the containers of primals"),
        (lambda: jvp(F.sin, (X,), (X[:2],)), ValueError, r"got float64\[2\] for float64\[3\]"),
        (lambda: jvp(F.sin, (X,), (X.astype("float32"),)), ValueError, r"got float32\[3\] for"),
        (lambda: jvp(F.sin, (INTS,), (INTS,)), TypeError, r"floats or complex, got int32\[3\]"),
        (lambda: jvp(lambda t: 3, (X,), (X,)), TypeError, "results must be made of tensors, got 3"),
        (lambda: jvp(F.sin, (2.0,), (X,)), TypeError, "primals must be made of tensors, got 2.0"),
        (lambda: jacobian(F.abs)(INTS), TypeError, r"arguments must be floats or complex, got"),
        (lambda: jacobian(lambda t: t.astype("int32"))(X), TypeError, "results must be"),
        (lambda: jacobian(lambda t: 2)(X), TypeError, "jacobian: results must be made of tensors"),
    ],
)  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
