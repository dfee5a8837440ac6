"""Time of single eager operators."""

import os

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, statement, synced, torch
from tessera.autodiff import GradManager


def pair(shape):
    """Two operands, and PyTorch's tensors of the same values (None without PyTorch)."""
    x, y = np.random.rand(2, *shape).astype(np.float32)
    theirs = torch and (torch.from_numpy(x), torch.from_numpy(y))
    return tessera.Tensor(x), tessera.Tensor(y), theirs


def nanoseconds(*functions):
    """Medians of the functions' times, in nanoseconds."""
    return [t and t * 1e9 for t in interleaved(*functions)]


def add(size, target=None):
    """One add of two vectors, from Python."""
    a, b, peer = pair([size])
    run = peer and statement("a + b", a=peer[0], b=peer[1])
    ours, theirs = nanoseconds(statement("a + b", a=a, b=b), run)
    rows = [Row(f"eager add {size}", ours, "ns", theirs, target)]
    if target:
        rows.append(Row(f"eager add {size} to PyTorch", ours, "ns", theirs, 3.0, True))
    return rows


def add_matrix():
    """An add of 256 x 256 floats, each waited for."""
    a, b, peer = pair([256, 256])

    def ours():
        a + b
        tessera.sync()

    value, theirs = nanoseconds(ours, peer and (lambda: peer[0] + peer[1]))
    return [Row("eager add 256x256", value, "ns", theirs, 1 / 0.9, True)]


def numpy_add():
    """NumPy's add of 16 floats, for scale: the peer column is Tessera's own."""
    x, y = np.random.rand(2, 16).astype(np.float32)
    a, b = tessera.Tensor(x), tessera.Tensor(y)
    ours, numpys = nanoseconds(statement("a + b", a=a, b=b), statement("a + b", a=x, b=y))
    return [Row("NumPy add 16 (PyTorch column: Tessera)", numpys, "ns", ours)]


def brought():
    """An elementwise operator of a library of the user's; the peer column is one of Tessera's."""
    path = os.environ.get("TESS_AWKWARD")
    if not path:
        return []
    tessera.load_library(path)
    x = tessera.Tensor(np.random.rand(16).astype(np.float32))
    theirs, ours = nanoseconds(
        statement("ts.ops.awkward.scaled_relu(x, 0.5)", ts=tessera, x=x),
        statement("F.leaky_relu(x, 0.5)", F=F, x=x),
    )
    name = "eager operator of a library, 16 (PyTorch column: Tessera's own)"
    return [Row(name, theirs, "ns", ours, 1 / 2, True)]


CHAIN = 1000


def chained(start, other):
    """x + other, CHAIN times, each on the last one's result."""
    x = start
    for _ in range(CHAIN):
        x = x + other
    return x


def chain():
    """Time for each of a chain of adds of 16 floats, to the last value; NumPy's as well."""
    a, b, peer = pair([16])
    x, y = a.numpy(), b.numpy()
    times = nanoseconds(
        lambda: chained(a, b).numpy(),
        lambda: chained(x, y),
        peer and (lambda: chained(*peer).numpy()),
    )
    ours, numpys, theirs = (t and t / CHAIN for t in times)
    return [
        Row("eager chain of 1000 adds, each", ours, "ns", theirs, 1 / 0.3, True),
        Row("the same to NumPy (PyTorch column: NumPy)", ours, "ns", numpys, 1.0, True),
    ]


def recorded_chain():
    """The same with gradients recorded."""
    a, b, peer = pair([16])
    manager = GradManager().attach([a])
    if peer:
        peer[0].requires_grad_()

    def ours():
        with manager:
            chained(a, b).numpy()

    run = peer and (lambda: chained(*peer).detach().numpy())
    value, theirs = (t and t / CHAIN for t in nanoseconds(ours, run))
    return [Row("eager chain, recorded, each", value, "ns", theirs, 1 / 0.35, True)]


DEPTH, CALLS = 200, 10000


def deep(frames, function):
    """`function` called with so many frames above it."""
    return deep(frames - 1, function) if frames else function()


def deep_stack():
    """A call that notes its line (its gradient saves operands) in a deep stack, and in a flat one;
    so many calls that the frames themselves do not count.
    """
    a, b, _ = pair([16])
    manager = GradManager().attach([a, b])

    def calls():
        with manager:
            for _ in range(CALLS):
                a * b

    times = nanoseconds(lambda: deep(DEPTH, calls), calls)
    below, flat = (t / CALLS for t in times)
    name = f"recorded mul {DEPTH} frames deep (PyTorch column: Tessera, flat)"
    return [Row(name, below, "ns", flat, 1 / 1.05, True)]


def views():
    """reshape, transpose and slice of a [64, 64] tensor."""
    a, _, peer = pair([64, 64])
    theirs = peer and peer[0]
    views = {"reshape": "t.reshape(4096)", "transpose": "t.transpose(1, 0)", "slice": "t[3:17]"}
    rows = []
    for name, view in views.items():
        run = peer and statement(view, t=theirs)
        ours, torchs = nanoseconds(statement(view, t=a), run)
        rows.append(Row(f"eager {name}", ours, "ns", torchs, 1 / 0.3, True))
    return rows


def writes():
    """Writes into views of [2048, 2048] and of [8, 8]."""
    rows = []
    for size in (2048, 8):
        a, b, peer = pair([size, size])
        half, theirs = a[:, : size // 2], peer and peer[0][:, : size // 2]
        writes = {"t[:, ::2] = v": half, "t[:, ::2] += v": half, "t.T[1:] = v": a[1:]}
        for write, value in writes.items():
            other = theirs if value is half else peer and peer[0][1:]
            run = peer and statement(write, t=peer[1], v=other)
            ours, torchs = nanoseconds(
                statement(f"{write}; sync()", t=b, v=value, sync=tessera.sync), run
            )
            rows.append(Row(f"eager {write}, {size}", ours, "ns", torchs))
    return rows


WINDOWS = {  # sizes of x; kernel, stride, padding
    "64x112x112 by 3x3, 2 apart": ((8, 64, 112, 112), (3, 2, 1)),
    "64x56x56 by 2x2": ((8, 64, 56, 56), (2, 2, 0)),
    "256x14x14 by 3x3": ((8, 256, 14, 14), (3, 1, 1)),
    "8x8x8 by 2x2": ((1, 8, 8, 8), (2, 2, 0)),
}


def windows():
    """The largest elements of windows."""
    rows = []
    for name, (shape, window) in WINDOWS.items():
        x, _, peer = pair(shape)
        run = peer and (lambda x=peer[0], w=window: torch.nn.functional.max_pool2d(x, *w))
        ours, theirs = nanoseconds(synced(lambda x=x, w=window: F.max_pool2d(x, *w)), run)
        rows.append(Row(f"eager max_pool2d {name}", ours, "ns", theirs))
    return rows


def scans():
    """Running sums of square matrices, along columns and along rows."""
    rows = []
    for size in (64, 512, 2048):
        a, _, peer = pair([size, size])
        x = a.numpy()
        for axis in (0, 1):
            ours, numpys, theirs = nanoseconds(
                synced(lambda a=a, axis=axis: F.cumsum(a, axis)),
                lambda x=x, axis=axis: np.cumsum(x, axis),
                peer and (lambda t=peer[0], axis=axis: torch.cumsum(t, axis)),
            )
            name = f"eager cumsum {size}x{size} along axis {axis}"
            rows.append(Row(name, ours, "ns", theirs))
            rows.append(Row(f"{name} (PyTorch column: NumPy)", ours, "ns", numpys))
    return rows


BENCHMARKS = {
    "eager_add_16": lambda: add(16, target=300),
    "eager_add_65536": lambda: add(65536),
    "eager_add_256x256": add_matrix,
    "eager_brought_16": brought,
    "eager_chain": chain,
    "eager_chain_recorded": recorded_chain,
    "eager_deep_stack": deep_stack,
    "eager_scans": scans,
    "eager_views": views,
    "eager_windows": windows,
    "eager_writes": writes,
    "numpy_add_16": numpy_add,
}
