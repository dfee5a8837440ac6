"""Programs whose sizes are free: their kernels beside those of programs with numbers (the peer
column), and how many of them a workload compiles.
"""

import sys
import tempfile
from pathlib import Path

import networks
import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, synced
from tessera import jit

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.support.helper import gradient_programs, programs  # noqa: E402
from tests.support.workloads import LIMIT, WORKLOADS, infer, train  # noqa: E402

MOST_OF_FIXED = 1.1
A, B = jit.Dim("a", 2, 4096), jit.Dim("b", 2, 4096)
ROWS, IMAGES = (512, 500), (8, 32, 28, 30)

# The function, the shapes of its arguments, and which of their axes are free.
KERNELS = {
    "gelu(x * y + z)": (lambda x, y, z: F.gelu(x * y + z), [ROWS] * 3, [{0: A, 1: B}] * 3),
    "a call, x * 2 + 1 of 20 floats": (lambda x: x * 2 + 1, [(4, 5)], [{0: A, 1: B}]),
    "x + a row": (lambda x, y: x + y, [ROWS, ROWS[1:]], [{0: A, 1: B}, {0: B}]),
    "softmax of rows": (lambda x: F.softmax(x, 1), [ROWS], [{0: A, 1: B}]),
    "layer norm of rows": (
        lambda x, w, b: F.layer_norm(x, (500,), True, w, b), [ROWS, (500,), (500,)],
        [{0: A}, {}, {}],
    ),
    "sum of columns": (lambda x: F.sum(x, 0), [ROWS], [{0: A, 1: B}]),
    "transpose and add": (lambda x: F.transpose(x, (1, 0)) + 1, [ROWS], [{0: A, 1: B}]),
    "concat": (lambda x, y: F.concat([x, y], 0), [ROWS] * 2, [{0: A, 1: B}] * 2),
    "matmul, bias, relu": (
        lambda x, w, b: F.relu(F.linear(x, w, b)), [ROWS, (256, 500), (256,)], [{0: A}, {}, {}],
    ),
    "convolution, relu": (
        lambda x, w: F.relu(F.conv2d(x, w, padding=1)), [IMAGES, (32, 32, 3, 3)],
        [{0: A, 2: jit.Dim("h", 2, 999), 3: jit.Dim("w", 2, 999)}, {}],
    ),
    "max_pool2d": (
        lambda x: F.max_pool2d(x, 2), [IMAGES],
        [{0: A, 2: jit.Dim("h", 2, 999), 3: jit.Dim("w", 2, 999)}],
    ),
    "attention": (
        F.nn.scaled_dot_product_attention, [(4, 4, 100, 32)] * 3, [{0: A, 2: B}] * 3,
    ),
}  # fmt: skip


def loaded(function, tensors, dims):
    """The program of a file of the call, with these free dimensions."""
    names = [f"x{number}" for number in range(len(tensors))]
    call = jit.trace(lambda *args: function(*args), capture_as_const=True)
    call(*tensors)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/program.tess"
        call.dump(path, arg_names=names, dims=dict(zip(names, dims, strict=True)), targets=[])
        return jit.load(path)


def beside(name, free, fixed):
    """Microseconds of both calls, and the limit on their ratio."""
    one, two = (t * 1e6 for t in interleaved(synced(free), synced(fixed)))
    title = f"{name}, free sizes (PyTorch column: numbers)"
    return Row(title, one, "us", two, 1 / MOST_OF_FIXED, True)


def row(name, function, shapes, dims):
    """A call of a file's program with free sizes, and of one with numbers."""
    random = np.random.RandomState(0)
    tensors = [tessera.Tensor(random.randn(*shape).astype(np.float32)) for shape in shapes]
    fixed = loaded(function, tensors, [{}] * len(tensors))
    free = loaded(function, tensors, dims)
    return beside(name, lambda: free(*tensors), lambda: fixed(*tensors))


def step():
    """A training step whose program serves any batch, and one for this batch."""
    inputs, labels = networks.mlp_batch()
    batch = tessera.Tensor(inputs), tessera.Tensor(labels.astype(np.int32))
    fixed, free = jit.trace(networks.mlp()), jit.trace(networks.mlp())
    for size in (7, 9):
        free(*(each[:size] for each in batch))
    for _ in range(3):
        free(*batch), fixed(*batch)
    return beside("MLP step", lambda: free(*batch), lambda: fixed(*batch))


def kernels():
    """Every kernel, and a training step."""
    return [*(row(name, *kernel) for name, kernel in KERNELS.items()), step()]


def variants():
    """How many programs each workload has: a count, which must not be above the limit."""
    rows = []
    for name in WORKLOADS:
        _, step = train(name, jit.trace, True)
        _, network = train(name, jit.trace, False)
        _, call = infer(name, jit.trace)
        counts = {
            "of a training step": programs(step),
            "of a network in training": programs(network),
            "of its gradients": gradient_programs(network),
            "of inference": programs(call),
        }
        rows += [
            Row(f"{name}: programs {what}", count, "", target=LIMIT)
            for what, count in counts.items()
        ]
    return rows


BENCHMARKS = {"free_sizes": kernels, "variants": variants}
