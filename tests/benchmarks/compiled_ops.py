"""Time of fused graphs."""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, synced, torch
from tessera import jit


def gelu_softmax():
    """gelu(x * a + b) and softmax of [1024, 1024] floats: traced, and its eager time."""
    x, a, b = np.random.randn(3, 1024, 1024).astype(np.float32)

    def function(x, a, b):
        return F.softmax(F.gelu(x * a + b), -1)

    tensors = [tessera.Tensor(v) for v in (x, a, b)]
    traced, peer = jit.trace(function), None
    if torch:
        import torch.nn.functional as T  # noqa: N812

        theirs = [torch.from_numpy(v) for v in (x, a, b)]
        peer = lambda: T.softmax(T.gelu(theirs[0] * theirs[1] + theirs[2]), -1)  # noqa: E731
    times = interleaved(synced(lambda: traced(*tensors)), synced(lambda: function(*tensors)), peer)
    fused, eager, torchs = (t and t * 1e3 for t in times)
    return [
        Row("gelu(x*a+b), softmax traced", fused, "ms", torchs, 1.7, True),
        Row("gelu(x*a+b), softmax eager", eager, "ms", torchs),
    ]


BENCHMARKS = {"gelu_softmax": gelu_softmax}
