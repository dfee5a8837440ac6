"""Training steps within limits of memory: their time beside that of the step without one."""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, synced
from tessera.autodiff import GradManager, checkpoint
from tessera.jit import estimate, trace

LAYERS, WIDTH, BATCH, SEGMENT = 49, 128, 16384, 7
VALUE = BATCH * WIDTH * 4
# MiB that a step may plan, and its time beside the one without a limit.
MOST_PLAIN, MOST_CHECKPOINTS = 480, 200
LIMITS = {"1/2": 1.15, "1/3": 1.35}


class Layers:
    """A step of gelu layers; with `checkpoints` every SEGMENT layers are computed again."""

    def __init__(self, checkpoints=False):
        random = np.random.RandomState(0)
        scale = np.float32(WIDTH**-0.5)
        self.weights = [
            tessera.Parameter(random.randn(WIDTH, WIDTH).astype("float32") * scale)
            for _ in range(LAYERS)
        ]
        self.biases = [tessera.Parameter(np.zeros(WIDTH, np.float32)) for _ in range(LAYERS)]
        self.manager = GradManager().attach(self.weights + self.biases)
        self.checkpoints = checkpoints

    def segment(self, first):
        def run(x):
            layers = list(zip(self.weights, self.biases, strict=True))[first : first + SEGMENT]
            for weight, bias in layers:
                x = F.gelu(F.linear(x, weight, bias))
            return x

        return run

    def __call__(self, x):
        with self.manager:
            for first in range(0, LAYERS, SEGMENT):
                run = self.segment(first)
                x = checkpoint(run, x) if self.checkpoints else run(x)
            loss = (x * x).mean()
            self.manager.backward(loss)
        gradients = [each.grad for each in self.weights + self.biases]
        for each in self.weights + self.biases:
            each.grad = None
        return loss, *gradients


def _mebibytes(step, x, **options):
    return estimate(step, x, **options).peak / (1 << 20)


def rows():
    x = tessera.Tensor(np.random.RandomState(1).randn(BATCH, WIDTH).astype("float32"))
    step, checkpointed = Layers(), Layers(checkpoints=True)
    planned = _mebibytes(step, x)
    title = f"{LAYERS} gelu layers, a training step"
    found = [Row(f"{title}: memory (PyTorch column: two values a layer)", planned, "MiB",
                 2 * LAYERS * VALUE / (1 << 20), MOST_PLAIN)]  # fmt: skip
    plain = trace(step, symbolic=True)
    kinds = {"checkpoints": (checkpointed, {}, 1.22)}
    for name, most in LIMITS.items():
        limit = int(planned / int(name[-1]) * (1 << 20))
        kinds[f"a limit of {name}"] = step, {"memory_limit": limit}, most
    for name, (function, options, most) in kinds.items():
        traced = trace(function, symbolic=True, **options)
        one, two = (t * 1e3 for t in interleaved(
            synced(lambda t=traced: t(x)), synced(lambda: plain(x)), rounds=5))  # fmt: skip
        note = f"{_mebibytes(function, x, **options):.0f} MiB"
        found.append(Row(f"{title}, {name} (PyTorch column: without)", one, "ms", two, 1 / most,
                         True, note))  # fmt: skip
    return found


BENCHMARKS = {"fit_memory": rows}
