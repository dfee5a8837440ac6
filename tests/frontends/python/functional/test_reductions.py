"""The order of long reductions: 16 partial results, pieces, chunks where everything is reduced."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager, jvp
from tessera.jit import Dim

from tests.support.helper import num_threads, same_bits

CHUNK, PIECE, LANES = 1 << 15, 1024, 16
COUNTS = (PIECE, PIECE + 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17, 300_001)


def piece_in_order(values):
    """The float32 sum of a piece: 16 partial results, then halves."""
    parts = np.full(LANES, -0.0, np.float32)
    whole = len(values) // LANES * LANES
    for row in values[:whole].reshape(-1, LANES):
        parts += row
    parts[: len(values) - whole] += values[whole:]
    while len(parts) > 1:
        parts = parts[: len(parts) // 2] + parts[len(parts) // 2 :]
    return parts[0]


def in_order(values, size=CHUNK):
    """The float32 sum of `values` in the order that the compiler promises, in chunks of `size`."""
    total = np.float64(-0.0)
    for start in range(0, len(values), size):
        chunk, own = values[start : start + size], np.float64(-0.0)
        for piece in range(0, len(chunk), PIECE):
            own += np.float64(piece_in_order(chunk[piece : piece + PIECE]))
        total += own
    return np.float32(total)


@pytest.fixture(params=[1, 2, 3, 8])
def threads(request):
    """Each number of threads."""
    with num_threads(request.param):
        yield request.param


ALL = {
    "a vector": lambda x: F.sum(x),
    "a matrix": lambda x: F.sum(F.expand_dims(x, 1)),
    "another": lambda x: F.sum(F.expand_dims(x, 0), axis=(0, 1)),
}
ROWS = {
    "a row": lambda x: F.sum(F.expand_dims(x, 0), axis=1)[0],
    "a column": lambda x: F.sum(F.expand_dims(x, 1), axis=0)[0],
    "columns": lambda x: F.sum(F.stack([x, -x, x], axis=1), axis=0)[2],
    "rows": lambda x: F.sum(F.stack([-x, x], axis=0), axis=1)[1],
}


@pytest.mark.parametrize("count", COUNTS)
def test_sums_follow_the_order(count, threads, tmp_path):
    """Eagerly, traced, and from a file in which the size is not known."""
    data = np.random.RandomState(3).randn(count).astype(np.float32)
    x = tessera.tensor(data)
    for ways, want in ((ALL, in_order(data)), (ROWS, in_order(data, count))):
        for name, way in ways.items():
            assert same_bits(way(x).numpy(), want), name
            traced = jit.trace(way, capture_as_const=True)
            assert same_bits(traced(x).numpy(), want), name
            traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, count)}})
            assert same_bits(jit.load(tmp_path / "p")(x).numpy(), want), name


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_every_reduction_is_shared(dtype, threads):
    """Reductions of everything that one kernel computes, and those that need two passes."""
    data = np.random.RandomState(4).randint(-3, 3, 500_000).astype(dtype)
    data[400_000] = 5 if dtype != "bool" else True
    x = tessera.tensor(data)
    total = x.astype("float64").sum().numpy()
    assert total == data.astype(np.float64).sum()
    if dtype == "bool":
        return
    assert F.max(x).item() == 5 and F.argmax(x).item() == 400_000
    assert F.min(x).item() == -3 and F.argmin(x).item() == data.argmin()
    if dtype == "int32":
        assert F.sum(x).item() == data.sum() and F.prod(x[:9]).item() == data[:9].prod()


def test_fused_reductions_keep_their_bits(threads):
    """What one kernel computes beside its sums, and gradients through them."""
    data = np.random.RandomState(5).randn(200_000).astype(np.float32)
    x = tessera.tensor(data)

    def losses(x):
        y = F.relu(x) * 2
        return y, F.mean(y), F.sum(y * y), F.norm(x), F.std(x), F.logsumexp(x, 0)

    for eager, traced in zip(losses(x), jit.trace(losses)(x), strict=True):
        assert same_bits(eager.numpy(), traced.numpy())
    y = np.maximum(data, 0) * np.float32(2)
    assert same_bits(losses(x)[2].numpy(), in_order(y * y))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("count", [65_504, 65_520, 262_145])
def test_a_mean_of_more_than_the_dtype_counts_has_a_gradient(dtype, count):
    x, scale = F.ones(count, dtype=dtype), F.full((), 1000.0, dtype=dtype)

    def run(x):
        gm = GradManager().attach([x])
        with gm:
            gm.backward(F.mean(x), scale)
        grad, x.grad = x.grad, None
        return grad, jvp(F.mean, (x,), (x * 0.5,))[1]

    traced = jit.trace(run)
    for call in (run, traced, traced):
        grad, along = call(x)
        expected = F.full((), float(np.float32(float(scale)) / np.float32(count)), dtype=dtype)
        assert same_bits(grad[0], expected) and along.item() == 0.5
