"""Programs around calls of operators that users bring: writes, views, loops, edges."""

import os

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.amp import autocast
from tessera.autodiff import GradManager, checkpoint, grad, no_grad, vmap

from tests.custom import awkward
from tests.custom.functions import Cube, X, both, gradients, jitter, kept, tally

ops = awkward.ops


def test_writes_before_and_after():
    def around(x):
        x = x * 1
        x[0] = 2
        out = ops.scaled_relu(x, 2.0)
        x[...] = -1  # the result stays
        out[:, 1] += Cube(x)[:, 0]
        return out, ops.moments(out)[0], x

    want = np.float32([[4, 3, 4], [8, 9, 0]])
    for function in both(around):
        for _ in range(3):
            out, mean, x = function(ts.tensor(X))
            np.testing.assert_array_equal(out.numpy(), want)
            np.testing.assert_allclose(mean.numpy(), want.mean(-1), rtol=1e-6)
            assert x.tolist() == [[-1] * 3] * 2


def test_a_result_in_the_memory_of_its_operand_leaves_views_as_they_were():
    def views(x):
        y = x * 2
        row, turned = y[1], y.T
        return ops.scaled_relu(y), row, turned, y

    for function in both(views):
        for _ in range(3):
            out, row, turned, y = function(ts.tensor(X))
            np.testing.assert_array_equal(out.numpy(), np.maximum(X * 2, 0))
            np.testing.assert_array_equal(row.numpy(), X[1] * 2)
            np.testing.assert_array_equal(turned.numpy(), X.T * 2)
            np.testing.assert_array_equal(y.numpy(), X * 2)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[:, ::-1],
        lambda x: x[::2, 1:],
        lambda x: F.broadcast_to(x[:1], (4, 3)),
        lambda x: x[None].transpose(2, 0, 1),
    ],
)
def test_operands_that_are_views(view):
    array = view(ts.tensor(X)).numpy()
    for function in both(lambda x: (ops.scaled_relu(view(x), 0.5), Cube(view(x)))):
        for _ in range(2):
            relu, cube = function(ts.tensor(X))
            np.testing.assert_array_equal(relu.numpy(), awkward.scaled_relu(array, 0.5))
            np.testing.assert_array_equal(cube.numpy(), array**3)
    (slope,) = gradients(lambda x: (Cube(view(x)) * 2).sum(), X)
    (want,) = gradients(lambda x: (view(x) ** 3 * 2).sum(), X)
    np.testing.assert_allclose(slope, want, rtol=1e-6)


def test_without_gradients():
    w = ts.Parameter(X)
    manager = GradManager().attach([w])
    with manager:
        with no_grad():
            still = Cube(w) + ops.positives(w)[0].sum()  # which has no gradient
        manager.backward((Cube(w) + still).sum())
    np.testing.assert_array_equal(w.grad.numpy(), 3 * X**2)


def _without_gradient(name):
    """The whole message, which has none of the call's parameters."""
    return f"^{name}: an operator on the way to a gradient must have one, got none$"


def test_a_gradient_that_is_not_there():
    for function, name in (
        (lambda x: ops.positives(x)[0].sum(), "awkward.positives"),
        (lambda x: kept(x).sum(), "around.kept"),
        (lambda x: tally(x, F.zeros((2, 3))).sum(), "around.tally"),
    ):
        with pytest.raises(NotImplementedError, match=_without_gradient(name)):
            gradients(function, X)
    for operator, name in ((ops.scaled_relu, "awkward.scaled_relu"), (Cube, "around.cube")):

        def slope(x, operator=operator):
            return grad(lambda y: operator(y * y).sum())(x)

        with pytest.raises(NotImplementedError, match=_without_gradient(f"{name}.backward")):
            gradients(lambda x, slope=slope: (slope(x) ** 2).sum(), X)
    (found,) = gradients(lambda x: (ops.positives(x.detach())[0].sum() * x).sum(), X)
    np.testing.assert_array_equal(found, np.full((2, 3), 13, np.float32))


def test_autocast():
    """An operator that takes no narrow floats gets float32, as those of records do."""
    x = ts.tensor(X)
    with autocast(low_prec_dtype="bfloat16"):
        low = F.matmul(x, x.T)
        assert low.dtype.name == "bfloat16" == Cube(low).dtype.name
        assert ops.scaled_relu(x).dtype.name == "float32"
        np.testing.assert_array_equal(ops.scaled_relu(low).numpy(), np.maximum(low.numpy(), 0))


def test_free_sizes(tmp_path):
    def model(x):
        y = ops.scaled_relu(x, 2.0)
        return ops.moments(y)[0], ops.weighted([x, y], [1, 2]), Cube(x), ops.positives(x)[1]

    step = jit.trace(model, capture_as_const=True, symbolic_shape=True)
    for rows in (3, 5, 1, 2, 7):
        x = ts.tensor(np.random.default_rng(rows).normal(size=(rows, 4)).astype("float32"))
        for got, want in zip(step(x), model(x), strict=True):
            np.testing.assert_array_equal(got.numpy(), want.numpy())
    step = jit.trace(lambda x: model(x)[:3], capture_as_const=True)
    step(ts.tensor(X))
    step.dump(tmp_path / "m.tess", arg_names=["x"], dims={"x": {0: jit.Dim("n", 1, 100)}})
    loaded = jit.load(tmp_path / "m.tess")
    for rows in (1, 2, 9):
        x = ts.tensor(np.random.default_rng(rows).normal(size=(rows, 3)).astype("float32"))
        for got, want in zip(loaded(x), model(x)[:3], strict=True):
            np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_bodies_of_loops():
    """Forwards, and the gradient, as the loops written out."""

    def rolled(x):
        out = F.scan(lambda h, y: (ops.scaled_relu(h + y, 0.5), Cube(h)), x[0], x)
        return F.cond(
            out[0].max() > 0, lambda z: ops.moments(z)[1] + Cube(z).sum(), lambda z: z[:, 0], out[1]
        )

    def unrolled(x):
        h, rows = x[0], []
        for i in range(2):
            rows.append(Cube(h))
            h = ops.scaled_relu(h + x[i], 0.5)
        z = F.stack(rows)
        return ops.moments(z)[1] + Cube(z).sum()

    for function in both(rolled):
        for _ in range(2):
            np.testing.assert_array_equal(
                function(ts.tensor(X)).numpy(), unrolled(ts.tensor(X)).numpy()
            )
    np.testing.assert_allclose(
        *(gradients(lambda x, f=f: f(x).sum(), X)[0] for f in (rolled, unrolled)), rtol=1e-6
    )


def test_states_and_noise_in_bodies():
    for function in both(lambda x, t: F.scan(lambda h, y: (h + y, ops.running_sum(y, t)), t, x)[1]):
        total = F.zeros((3,))
        for times in (1, 2):
            got = function(ts.tensor(X), total).numpy()
            np.testing.assert_array_equal(got, np.cumsum(X, 0) + X.sum(0) * (times - 1))
            np.testing.assert_array_equal(total.numpy(), X.sum(0) * times)
    rows = F.scan(lambda h, y: (h, ops.noise(h, is_training=True)), F.zeros((3,)), F.zeros((4, 3)))
    assert len(np.unique(rows[1].numpy())) == 12


def test_checkpoint():
    def inner(x):
        return Cube(ops.scaled_relu(x, 2.0)) * ops.noise(x, is_training=True)

    found = []
    for function in (inner, lambda x: checkpoint(inner, x)):
        ts.seed(9)
        found.append(gradients(lambda x, f=function: f(x).sum(), X)[0])
    np.testing.assert_array_equal(*found)


def test_vmap_of_gradients():
    x = ts.tensor(X)
    for operator in (Cube, ops.scaled_relu, lambda y: ops.moments(y)[1]):
        slope = grad(lambda y, f=operator: (f(y) * 2).sum())
        want = np.stack([slope(x[i]).numpy() for i in range(2)])
        for function in both(lambda x, f=slope: vmap(f)(x)):
            np.testing.assert_array_equal(function(x).numpy(), want)


def test_outside_of_a_trace():
    seen = F.zeros((2, 3))

    @jit.trace
    def step(x):
        y = ops.scaled_relu(x * 2)
        with jit.exclude_from_trace():
            count = tally(x, seen).numpy()[0, 0] - X[0, 0]
            mean = ops.moments(y)[0]
        return mean * float(count), Cube(y)

    for times in (1, 2, 3):
        mean, cube = step(ts.tensor(X))
        np.testing.assert_allclose(mean.numpy(), np.maximum(X * 2, 0).mean(-1) * times, rtol=1e-6)
        np.testing.assert_array_equal(cube.numpy(), np.maximum(X * 2, 0) ** 3)
    assert seen.tolist() == [[3] * 3] * 2


def test_dtypes_and_ranks_that_do_not_fit():
    x = ts.tensor(X)
    for function, error, text in (
        (
            lambda: ops.scaled_relu(x.astype("float64")),
            TypeError,
            "scaled_relu: x must be f32, got",
        ),
        (lambda: ops.running_sum(x, x.astype("float64")), TypeError, "total must be f32, got f64"),
        (lambda: ops.running_sum(x, F.zeros(3)), ValueError, "total must have the shape of x"),
        (lambda: ops.moments(F.zeros(())), ValueError, "x must have an axis, got rank 0"),
        (lambda: ops.matvec(x, x), ValueError, "x a vector, got ranks 2 and 2"),
        (lambda: ops.weighted([], []), ValueError, "as many as values, got 0 for 0"),
        (lambda: kept(F.zeros(())), RuntimeError, "kept: infer must give out an axis that data"),
        (
            lambda: Cube(x.astype("int32")).numpy(),
            RuntimeError,
            "cube: .*annot cast .* to dtype.'int32'",
        ),
    ):
        for call in (function, jit.trace(function)):
            with pytest.raises(error, match=text):
                call()


def test_states_that_are_no_tensors():
    for state in (np.zeros((2, 3), "float32"), X.tolist(), 0.0):
        for operator, name in ((ops.running_sum, "total"), (tally, "seen")):
            with pytest.raises(TypeError, match=f"{name} must be a Tensor, which the call changes"):
                operator(ts.tensor(X), state)
            with pytest.raises(TypeError, match=f"{name} must be a Tensor, which the call changes"):
                operator(ts.tensor(X), **{name: state})


def test_operands_by_keyword():
    x = ts.tensor(X)
    ts.seed(5)
    want = ops.noise(x, 2.0, is_training=True).numpy(), jitter(x, is_training=True).numpy()
    ts.seed(5)
    got = ops.noise(width=2.0, x=x, is_training=True), jitter(x=x, is_training=True)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    total = F.ones((2, 3))
    np.testing.assert_array_equal(ops.running_sum(total=total, x=x).numpy(), X + 1)
    np.testing.assert_array_equal(total.numpy(), X + 1)
    np.testing.assert_array_equal(Cube(x=x, factor=2.0).numpy(), 2 * X**3)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (1, 1, 1, 1, 1)])
def test_shapes_at_the_edges(shape):
    x = np.full(shape, 2, np.float32)
    for relu, cube, sums, count in (
        function(ts.tensor(x), F.ones(shape))
        for function in both(
            lambda x, t: (ops.scaled_relu(x), Cube(x), ops.running_sum(x, t), ops.positives(x)[1])
        )
        for _ in range(2)
    ):
        for got, want in ((relu, x), (cube, x**3), (sums, x + 1)):
            assert got.shape == shape
            np.testing.assert_array_equal(got.numpy(), want)
        assert count.item() == x.size
    (slope,) = gradients(lambda x: (Cube(x) + ops.scaled_relu(x)).sum(), x)
    np.testing.assert_array_equal(slope, np.full(shape, 13, np.float32))
    if len(shape) > 1:
        mean, variance = ops.moments(ts.tensor(x))
        assert mean.shape == variance.shape == shape[:-1] and not variance.numpy().any()


def test_a_file_in_another_folder_of_the_library(tmp_path):
    """A library is one by its name, from wherever it is loaded again."""
    link = tmp_path / "other.so"
    os.symlink(os.path.abspath(awkward.PATH), link)
    assert ts.load_library(link) is ops


def test_a_file_with_a_size_beside_one_that_data_decides(tmp_path):
    step = jit.trace(lambda x: (lambda y: y.sum(0) * y.shape[1])(kept(x)), capture_as_const=True)
    want = step(ts.tensor(X)).numpy()
    step.dump(tmp_path / "m.tess", arg_names=["x"])
    np.testing.assert_array_equal(jit.load(tmp_path / "m.tess")(ts.tensor(X)).numpy(), want)
