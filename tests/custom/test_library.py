"""Operators of a C++ library: eagerly, traced, from a file, differentiated, and their errors."""

import gc
import os
import pickle
import subprocess

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera.autodiff import GradManager

from tests.custom import awkward

ops = awkward.ops
rng = np.random.default_rng(3)


def tensor(*shape):
    return ts.tensor(rng.normal(size=shape).astype(np.float32))


def gradients(function, *inputs):
    inputs = [ts.Parameter(each) for each in inputs]
    manager = GradManager().attach(inputs)
    with manager:
        manager.backward(function(*inputs))
    return [each.grad.numpy() for each in inputs]


def numeric(function, x, step=1e-2):
    """Central differences of a sum."""
    found = np.zeros_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found[place] = (
            function(up).astype(np.float64).sum() - function(down).astype(np.float64).sum()
        ) / (2 * step)
    return found


def traced(function, *args):
    """Results of a traced call, the second of two."""
    compiled = ts.jit.trace(function)
    compiled(*args)
    return compiled(*args)


def test_where_it_is():
    assert ts.ops.awkward is ops
    assert vars(ts.ops)["awkward"] is ops and vars(ops)["scaled_relu"] is ops.scaled_relu  # fast
    assert "scaled_relu" in dir(ops) and "awkward" in dir(ts.ops)
    assert "factor above 0" in ops.scaled_relu.__doc__
    assert ts.load_library(awkward.PATH) is ops
    with pytest.raises(AttributeError, match="operator must be among .*moments.*, got 'nothing'"):
        ops.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="a library must be loaded, got 'nowhere'"):
        ts.ops.nowhere  # noqa: B018


def test_elementwise():
    x = tensor(3, 5)
    for function in (ops.scaled_relu, lambda x, **k: traced(lambda y: ops.scaled_relu(y, **k), x)):
        np.testing.assert_array_equal(
            function(x, scale=2.5).numpy(), awkward.scaled_relu(x.numpy(), 2.5)
        )
    np.testing.assert_array_equal(
        ops.scaled_relu(x[:, ::2], 2.0).numpy(), awkward.scaled_relu(x.numpy()[:, ::2], 2.0)
    )
    assert ops.scaled_relu(F.zeros((0, 3))).shape == (0, 3)


def test_gradient_of_elementwise():
    x = np.float32([[-1.0, 2.0], [0.5, -3.0]])
    (found,) = gradients(lambda x: ops.scaled_relu(x, scale=3.0).sum(), x)
    np.testing.assert_array_equal(found, np.float32([[0, 3], [3, 0]]))


def test_several_and_hidden_outputs():
    x = tensor(4, 6)
    mean, variance = ops.moments(x)
    for found, wanted in zip((mean, variance), awkward.moments(x.numpy()), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, atol=1e-6)
    (found,) = gradients(lambda x: ops.moments(x)[1].sum(), x.numpy())
    np.testing.assert_allclose(
        found, numeric(lambda x: awkward.moments(x)[1], x.numpy()), atol=1e-3
    )
    (found,) = gradients(lambda x: (ops.moments(x)[0] * 2).sum(), x.numpy())
    np.testing.assert_allclose(found, np.full((4, 6), 2 / 6), rtol=1e-6)


def test_gradients_through_a_trace():
    x = tensor(4, 6).numpy()

    @ts.jit.trace
    def step(x):
        manager = GradManager().attach([x])
        with manager:
            mean, variance = ops.moments(ops.scaled_relu(x, 0.5))
            manager.backward((mean * variance).sum())
        return x.grad

    (wanted,) = gradients(
        lambda x: (lambda m, v: (m * v).sum())(*ops.moments(ops.scaled_relu(x, 0.5))), x
    )
    for _ in range(2):
        np.testing.assert_array_equal(step(ts.Parameter(x)).numpy(), wanted)


def test_states():
    total = F.zeros((3,))
    for count in (1, 2, 3):
        np.testing.assert_array_equal(ops.running_sum(F.ones((3,)), total).numpy(), [count] * 3)
    np.testing.assert_array_equal(total.numpy(), [3] * 3)
    step = ts.jit.trace(lambda x: ops.running_sum(x, total))
    for count in (4, 5, 6):
        np.testing.assert_array_equal(step(F.ones((3,))).numpy(), [count] * 3)
    np.testing.assert_array_equal(total.numpy(), [6] * 3)
    (found,) = gradients(lambda x: ops.running_sum(x, total).sum(), np.ones(3, np.float32))
    np.testing.assert_array_equal(found, np.ones(3))


def test_random():
    x = F.zeros((1000,))
    ts.seed(5)
    first, second = ops.noise(x, is_training=True).numpy(), ops.noise(x, is_training=True).numpy()
    ts.seed(5)
    np.testing.assert_array_equal(ops.noise(x, is_training=True).numpy(), first)
    assert (first != second).any() and 0.45 < first.mean() < 0.55
    np.testing.assert_array_equal(ops.noise(x).numpy(), np.zeros(1000))
    ts.seed(5)
    step = ts.jit.trace(lambda x: ops.noise(x, width=1.0, is_training=True))
    np.testing.assert_array_equal(step(x).numpy(), first)
    np.testing.assert_array_equal(step(x).numpy(), second)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_sizes_that_data_decides(dtype):
    x = np.array([[3, -1], [0, 7], [-2, 5]], dtype)
    out, count = ops.positives(ts.tensor(x, dtype=dtype))
    assert out.shape == (3,) and count.item() == 3
    np.testing.assert_array_equal(out.numpy(), [3, 7, 5])
    step = ts.jit.trace(lambda x: ops.positives(x)[0] * 2)
    for sign in (1, -1):
        np.testing.assert_array_equal(
            step(ts.tensor(x * sign, dtype=dtype)).numpy(), 2 * (x * sign)[x * sign > 0]
        )


def test_resources_and_threads():
    a, x = tensor(64, 33), tensor(33)
    np.testing.assert_array_equal(ops.matvec(a, x).numpy(), awkward.matvec(a.numpy(), x.numpy()))
    da, dx = gradients(lambda a, x: ops.matvec(a, x).sum(), a.numpy(), x.numpy())
    np.testing.assert_allclose(da, np.tile(x.numpy(), (64, 1)), rtol=1e-6)
    np.testing.assert_allclose(dx, a.numpy().sum(0), rtol=1e-5)
    (dx,) = gradients(lambda x: ops.matvec(a, x).sum(), x.numpy())
    np.testing.assert_allclose(dx, a.numpy().sum(0), rtol=1e-5)


def test_variadic_and_parameters():
    values = [tensor(2, 3) for _ in range(3)]
    arrays = [each.numpy() for each in values]
    for mode in ("sum", "mean"):
        found = ops.weighted(values, [1, -2, 3], mode).numpy()
        np.testing.assert_allclose(
            found, awkward.weighted(arrays, [1, -2, 3], mode), rtol=1e-6, atol=1e-6
        )
    found = gradients(lambda *v: ops.weighted(list(v), [1, -2, 3]).sum(), *arrays)
    for each, weight in zip(found, [1, -2, 3], strict=True):
        np.testing.assert_array_equal(each, np.full((2, 3), weight, np.float32))


def test_state_of_a_binding():
    x = F.zeros((7,))
    runs = [int(ops.counted(x)[0].numpy()[0]) for _ in range(3)]
    assert runs == [0, 1, 2]
    assert int(ops.counted(F.zeros((8,)))[0].numpy()[0]) == 0


def test_infer_both_ways():
    f32 = ("float32", (4, 3))
    inputs, outputs, complete = ts._core.infer_custom_op(
        "awkward.matvec", {}, [None, ("float32", (3,))], [("float32", (4,))]
    )
    assert complete and inputs == [f32, ("float32", (3,))] and outputs == [("float32", (4,))]
    inputs, outputs, complete = ts._core.infer_custom_op("awkward.matvec", {}, [f32, None], [])
    assert complete and inputs[1] == ("float32", (3,)) and outputs == [("float32", (4,))]
    inputs, _, complete = ts._core.infer_custom_op("awkward.matvec", {}, [None, None], [])
    assert not complete and inputs == [None, None]
    with pytest.raises(ValueError, match="matvec: out must be what inference finds"):
        ts._core.infer_custom_op(
            "awkward.matvec", {}, [f32, ("float32", (3,))], [("float32", (5,))]
        )
    x = ("float32", (5,))
    inputs, _, complete = ts._core.infer_custom_op("awkward.running_sum", {}, [None, None], [x])
    assert complete and inputs == [x, x]
    for place, name in enumerate(("x", "total")):
        known = [None, None]
        known[place] = ("float32", (4,))
        with pytest.raises(ValueError, match=f"running_sum: {name} must be what inference finds"):
            ts._core.infer_custom_op("awkward.running_sum", {}, known, [x])
    for known, bounds in (([x], "at least 2 and at most 2"), ([x] * 3, "at least 2 and at most 2")):
        with pytest.raises(ValueError, match=f"running_sum: inputs .* must be {bounds}, got"):
            ts._core.infer_custom_op("awkward.running_sum", {}, known, [])


def test_files(tmp_path):
    x = tensor(3, 4)
    step = ts.jit.trace(
        lambda x: ops.moments(ops.scaled_relu(x, 2.0))[0] + 1, capture_as_const=True
    )
    wanted = step(x).numpy()
    step.dump(tmp_path / "model.tess", arg_names=["x"])
    loaded = ts.jit.load(tmp_path / "model.tess")
    np.testing.assert_array_equal(loaded(x).numpy(), wanted)
    np.save(tmp_path / "x.npy", x.numpy())
    program = os.path.abspath(os.environ["TESS_RUN"])
    run = [program, "model.tess", "--input", "x=x.npy", "--output", "output0=y.npy"]
    done = subprocess.run(
        [*run, "--library", awkward.PATH], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), wanted)
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and (
        'library awkward (written with version "1.0") must be loaded, got none for' in done.stderr
    )


def test_pickle():
    assert pickle.loads(pickle.dumps(ops.scaled_relu)) is ops.scaled_relu
    ts.seed(3)
    first = ops.noise(F.zeros((5,)), is_training=True).tolist()
    ts.seed(3)
    assert pickle.loads(pickle.dumps(ops.noise))(F.zeros((5,)), is_training=True).tolist() == first


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ("throw", ValueError, "awkward.faulty: x must please, got one that does not"),
        ("state", RuntimeError, "awkward.faulty: the library has had enough"),
        ("code", RuntimeError, "awkward.faulty: an unknown exception was thrown"),
        ("shape", RuntimeError, "awkward.faulty: infer must give out sizes of at least 0, got -5"),
        (
            "dtype",
            RuntimeError,
            "awkward.faulty: infer must give out a dtype that was declared, got i64",
        ),
        ("infer", ValueError, "awkward.faulty: x must be something else"),
    ],
)
def test_faults(how, error, match):
    x = F.zeros((3,))
    for function in (ops.faulty, ts.jit.trace(lambda x, how: ops.faulty(x, how))):
        with pytest.raises(error, match=match):
            ts._full_sync() or function(x, how).numpy()
    assert ops.faulty(x).numpy().tolist() == [1, 1, 1]


def test_a_write_beyond(monkeypatch):
    ts._core.set_custom_checks(True)
    try:
        with pytest.raises(
            RuntimeError, match="must write within their outputs, got a write beyond out"
        ):
            ops.faulty(F.zeros((3,)), "beyond").numpy()
        x = tensor(4, 6)
        np.testing.assert_array_equal(ops.scaled_relu(x).numpy(), awkward.scaled_relu(x.numpy()))
        (found,) = gradients(lambda x: ops.moments(x)[0].sum(), x.numpy())
        np.testing.assert_allclose(found, np.full((4, 6), 1 / 6), rtol=1e-6)
    finally:
        ts._core.set_custom_checks(False)


def test_bad_arguments(tmp_path):
    x = F.zeros((3,))
    with pytest.raises(
        ValueError, match=r"scaled_relu: scale must be in \[0.001, 1000.0\], got 0.0"
    ):
        ops.scaled_relu(x, scale=0.0)
    with pytest.raises(TypeError, match="scaled_relu: arguments must be among .* got 'other'"):
        ops.scaled_relu(x, other=1)
    with pytest.raises(TypeError, match="scaled_relu: x must be f32, got i32"):
        ops.scaled_relu(ts.tensor([1, 2]))
    with pytest.raises(ValueError, match='weighted: mode must be one of "sum", "mean", got "max"'):
        ops.weighted([x], [1], mode="max")
    with pytest.raises(
        ValueError, match="weighted: weights must be as many as values, got 2 for 1"
    ):
        ops.weighted([x], [1, 2])
    with pytest.raises(FileNotFoundError, match="load_library: a library must be a file, got"):
        ts.load_library(tmp_path / "nowhere.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(FileNotFoundError, match="load_library: a library must open, got"):
        ts.load_library(tmp_path / "text.so")
    with pytest.raises(FileNotFoundError, match="a library must export tessera_library, got none"):
        ts.load_library(ts._core.__file__)


def test_what_backward_does_not_read_is_freed():
    def held(function, *sizes):
        """Bytes that a tape holds beside its results."""
        x = [ts.Parameter(np.ones(size, np.float32)) for size in sizes]
        manager = GradManager().attach(x)
        gc.collect()
        ts.sync()
        with manager:
            before = ts.get_allocated_memory()
            out = function(*(each * 1 for each in x))
            ts.sync()
            taken = ts.get_allocated_memory() - before
            manager.backward(out.sum())
        return taken

    size = 1 << 20
    assert held(ops.scaled_relu, size) < 4 * size * 1.5  # the result alone: x is not read
    assert held(lambda x: ops.moments(x)[0], (size, 1)) < 4 * size * 2.5  # deviations and a result
    assert held(ops.matvec, (size, 1), 1) > 4 * size * 1.5  # it reads the matrix


def test_shared_memory():
    x = F.ones((1000,))
    assert int(ops.told(x)[1].item()) == 1
    step = ts.jit.trace(lambda x: ops.told(x * 2))
    step(x)  # runs its operators one by one
    for _ in range(2):
        out, request = step(x)
        assert int(request.item()) == 2 and out.tolist() == [3.0] * 1000


def test_vmap():
    x = tensor(3, 4)
    mapped = ts.autodiff.vmap(lambda row: ops.scaled_relu(row, 2.0))(x)
    np.testing.assert_array_equal(mapped.numpy(), awkward.scaled_relu(x.numpy(), 2.0))
    mapped = ts.autodiff.vmap(lambda row: ops.moments(row)[0])(x)
    np.testing.assert_allclose(mapped.numpy(), awkward.moments(x.numpy())[0], rtol=1e-6)


def test_free_sizes():
    step = ts.jit.trace(
        lambda x: ops.moments(ops.scaled_relu(x))[0], capture_as_const=True, symbolic_shape=True
    )
    for rows in (3, 5, 7, 9):
        x = tensor(rows, 4)
        np.testing.assert_array_equal(step(x).numpy(), ops.moments(ops.scaled_relu(x))[0].numpy())


def test_estimate_and_devices():
    x = tensor(8, 4)
    step = ts.jit.trace(lambda x: ops.scaled_relu(x, 2.0) + 1)
    assert ts.estimate(step, x).total > 0
    there = ts.tensor(x.numpy(), device="sim0")
    np.testing.assert_array_equal(
        ops.scaled_relu(there, 2.0).numpy(), awkward.scaled_relu(x.numpy(), 2.0)
    )
