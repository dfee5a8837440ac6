"""Time of single eager operators."""

import numpy as np
import tessera
from harness import Row, interleaved, torch


def add(size, target=None):
    """One add of two vectors, from Python."""
    x, y = np.random.rand(2, size).astype(np.float32)
    a, b = tessera.Tensor(x), tessera.Tensor(y)
    peer = None
    if torch:
        p, q = torch.from_numpy(x), torch.from_numpy(y)
        peer = lambda: p + q  # noqa: E731
    ours, theirs = interleaved(lambda: a + b, peer)
    theirs = theirs and theirs * 1e9
    rows = [Row(f"eager add {size}", ours * 1e9, "ns", theirs, target)]
    if target:
        rows.append(Row(f"eager add {size} to PyTorch", ours * 1e9, "ns", theirs, 3.0, True))
    return rows


def numpy_add():
    """NumPy's add of 16 floats, for scale: the peer column is Tessera's own."""
    x, y = np.random.rand(2, 16).astype(np.float32)
    a, b = tessera.Tensor(x), tessera.Tensor(y)
    ours, numpys = interleaved(lambda: a + b, lambda: x + y)
    return [Row("NumPy add 16 (PyTorch column: Tessera)", numpys * 1e9, "ns", ours * 1e9)]


BENCHMARKS = {
    "eager_add_16": lambda: add(16, target=300),
    "eager_add_65536": lambda: add(65536),
    "numpy_add_16": numpy_add,
}
