"""autocast: which operators compute in what, gradients, traces, and what stays as it is."""

import threading

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import _core
from tessera.amp import autocast
from tessera.autodiff import Function, GradManager, checkpoint, grad
from tessera.jit import trace

from tests.support.helper import floats

LOWS = ("float16", "bfloat16")


def tensor(*shape, seed=0, dtype="float32"):
    return tessera.Tensor(floats(*shape, seed=seed), dtype=dtype)


X, IMAGE, KERNEL = tensor(4, 4), tensor(2, 4, 5, 5), tensor(4, 4, 3, 3, seed=1)
QUERY, LABEL = tensor(2, 2, 3, 4), tessera.tensor([0, 1, 2, 3])

LOW = {
    "matmul": lambda x: x @ x,
    "linear": lambda x: F.linear(x, x),
    "einsum": lambda x: F.einsum("ij,kj->ik", x, x),
    "conv2d": lambda x: F.conv2d(IMAGE.astype(x.dtype), KERNEL),
    "conv_transpose2d": lambda x: F.conv_transpose2d(IMAGE, KERNEL.astype(x.dtype)),
    "attention": lambda x: F.scaled_dot_product_attention(QUERY, QUERY, QUERY),
}
HIGH = {
    "div": lambda x: x / 3,
    "pow": lambda x: x**2.0,
    "exp": F.exp,
    "log": lambda x: F.log(F.abs(x) + 1),
    "sqrt": lambda x: F.sqrt(F.abs(x)),
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "var": F.var,
    "norm": F.norm,
    "softmax": F.softmax,
    "logsumexp": lambda x: F.logsumexp(x, 1),
    "cumsum": lambda x: F.cumsum(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, (4,), False),
    "cross_entropy": lambda x: F.loss.cross_entropy(x, LABEL),
    "square_loss": lambda x: F.loss.square_loss(x, x * 2),
}
GIVEN = {
    "add": lambda x: x + x,
    "relu": F.relu,
    "tanh": F.tanh,
    "max": lambda x: x.max(),
    "reshape": lambda x: x.reshape(2, 8),
    "concat": lambda x: F.concat([x, x]),
}


def dtype_of(value):
    return value.dtype.name


@pytest.mark.parametrize("low", LOWS)
@pytest.mark.parametrize("given", ["float32", *LOWS])
def test_dtypes(low, given):
    x = X.astype(given)
    with autocast(low_prec_dtype=low):
        got = {name: dtype_of(f(x)) for name, f in {**LOW, **HIGH, **GIVEN}.items()}
    wanted = {name: low for name in LOW} | {name: "float32" for name in HIGH}
    assert got == wanted | {name: given for name in GIVEN}


def test_every_loss_is_high():
    rows = [row for row in _core.op_table() if row["module"] == "functional.loss"]
    assert len(rows) >= 10
    half = X.astype("float16")
    calls = {"binary_cross_entropy": (F.sigmoid(half), F.sigmoid(half)), "l1_loss": (half, half)}
    for name, operands in calls.items():
        with autocast():
            assert dtype_of(getattr(F.loss, name)(*operands)) == "float32"


def test_numbers_are_those_of_casts():
    x, w = tensor(8, 16), tensor(16, 4, seed=1)
    with autocast():
        got = F.exp(x @ w / 8)
    product = (x.astype("float16") @ w.astype("float16")).astype("float32")
    assert got.numpy().tobytes() == F.exp(product / 8).numpy().tobytes()


def test_what_is_not_cast():
    x = X.astype("float64")
    with autocast():
        assert dtype_of(x @ x) == "float64" and dtype_of(F.exp(x)) == "float64"
        assert dtype_of(LABEL.sum()) == "int32"
        assert dtype_of(F.exp(X.astype("complex64"))) == "complex64"
        half = X.astype("float16")
        half /= 2
        assert dtype_of(half) == "float16"
        F.sqrt(F.abs(half), inplace=True)
    with autocast(high_prec_dtype="float64"):
        assert dtype_of(X.sum()) == "float64"


def test_batch_norm_takes_narrow_data_and_wide_parameters():
    norm = M.BatchNorm2d(4)
    with autocast():
        assert dtype_of(norm(IMAGE)) == "float16"
        norm.eval()
        assert dtype_of(norm(IMAGE)) == "float16"
    assert dtype_of(norm.running_mean) == "float32"
    half = IMAGE.astype("float16")
    for mode in (True, False):
        norm.train(mode)
        wanted = norm(IMAGE.astype("float16").astype("float32")).numpy()
        got = norm(half)
        assert dtype_of(got) == "float16"
        np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-3, atol=2e-3)


def test_nesting_decorators_and_threads():
    @autocast()
    def product(x):
        "Of x and x."
        with autocast(enabled=False):
            assert dtype_of(x @ x) == "float32"
        with autocast(low_prec_dtype="bfloat16"):
            assert dtype_of(x @ x) == "bfloat16"
        return x @ x

    seen = []
    with autocast():
        other = threading.Thread(target=lambda: seen.append(dtype_of(X @ X)))
        other.start()
        other.join()
    assert seen == ["float32"] and product.__doc__ == "Of x and x."
    assert dtype_of(product(X)) == "float16" and dtype_of(X @ X) == "float32"
    with pytest.raises(ZeroDivisionError), autocast():
        1 / 0  # noqa: B018
    assert dtype_of(X @ X) == "float32"


@pytest.mark.parametrize("low", LOWS)
def test_gradients(low):
    w, x = tensor(4, 4, seed=2), tensor(6, 4, seed=3)

    def gradient(inside):
        w.grad = None
        manager = GradManager().attach(w)
        with manager:
            with autocast(low_prec_dtype=low):
                loss = (F.softmax(x @ w) ** 2).sum()
                if inside:
                    manager.backward(loss)
            if not inside:
                manager.backward(loss)
        return w.grad

    inside, outside = gradient(True), gradient(False)
    assert dtype_of(inside) == "float32"
    assert inside.numpy().tobytes() == outside.numpy().tobytes()
    wanted = grad(lambda w: (F.softmax(x @ w) ** 2).sum())(w).numpy()
    np.testing.assert_allclose(inside.numpy(), wanted, atol=0.05 * np.abs(wanted).max())


def test_own_functions_run_backwards_as_they_are():
    seen = []

    class Square(Function):
        def forward(self, x):
            self.x = x
            return x * x

        def backward(self, dy):
            seen.append(dtype_of(self.x @ self.x))
            return dy * self.x * 2

    with autocast():
        grad(lambda x: Square()(x).sum())(X)
    assert seen == ["float32"]


def test_a_program_for_each_setting():
    f = trace(lambda x: F.exp(x @ x) + 0)
    plain = [f(X) for _ in range(3)]
    with autocast():
        half = [f(X) for _ in range(3)]
        eager = F.exp(X @ X) + 0
    with autocast(low_prec_dtype="bfloat16"):
        brain = [f(X) for _ in range(3)]
    again = f(X)
    bits = [{each.numpy().tobytes() for each in row} for row in (plain, half, brain)]
    assert all(len(each) == 1 for each in bits) and len(set.union(*bits)) == 3
    assert again.numpy().tobytes() in bits[0] and eager.numpy().tobytes() in bits[1]
    inside = trace(autocast()(lambda x: F.exp(x @ x) + 0))
    assert {inside(X).numpy().tobytes() for _ in range(3)} == bits[1]


def test_a_traced_call_that_a_manager_follows():
    w = tensor(4, 4, seed=2)
    f = trace(lambda x: F.softmax(x @ w))

    def gradient(call, parts):
        w.grad = None
        manager = GradManager().attach(w)
        with manager:
            with autocast():
                y = call(X)
            manager.backward(y[:parts].sum() * 1.0 if parts else (y * y).sum())
        return w.grad.numpy().tobytes()

    wanted = gradient(lambda x: F.softmax(x @ w), 0)
    assert [gradient(f, 0) for _ in range(3)] == [wanted] * 3


def test_a_dumped_function(tmp_path):
    f = trace(lambda x: F.exp(x @ x.T), capture_as_const=True)
    with autocast():
        wanted = [f(X) for _ in range(2)][0]
    path = tmp_path / "f.tess"
    f.dump(str(path), arg_names=["x"], dims={"x": {0: tessera.jit.Dim("rows", 1)}})
    assert tessera.jit.load(str(path))(X).numpy().tobytes() == wanted.numpy().tobytes()


def test_checkpoint_runs_again_as_it_ran():
    def f(w):
        return F.softmax(X @ w)

    def gradient(call):
        w = tensor(4, 4, seed=2)
        manager = GradManager().attach(w)
        with manager:
            with autocast():
                y = call(f, w)
            manager.backward((y * y).sum())
        return w.grad.numpy().tobytes()

    assert gradient(checkpoint) == gradient(lambda f, w: f(w))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1,), TypeError, "autocast: enabled must be a bool, got 1"),
        ((True, "float32"), ValueError, "low_prec_dtype must be float16 or bfloat16, got float32"),
        ((True, "float16", "int32"), ValueError, "high_prec_dtype must be float32 or float64, got"),
        ((True, "half"), TypeError, "half"),
    ],
)  # fmt: skip
def test_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        autocast(*arguments)
