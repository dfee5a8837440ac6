"""Time of compilation: the demo's training step cold and warm, one-op graphs of all records."""

import json
import statistics
import tempfile
from pathlib import Path

from harness import Row, in_process, repeats

STEP = """
import gc, sys, time
sys.path.insert(0, sys.argv[1])
gc.disable()  # its turn, which may come anywhere, would count what was imported
import tessera
from digits_net import Training, load_digits
data, _ = load_digits()
run = Training(data, 0, 10, True)
x, y = tessera.tensor(data[0][:64]), tessera.tensor(data[1][:64])
run.step(x, y); tessera.sync()
start = time.perf_counter()
run.step(x, y); tessera.sync()
print(time.perf_counter() - start)
"""

WHOLE = STEP.replace("run.step(x, y); tessera.sync()\nstart", "start", 1).replace(
    "tessera.sync()\nprint", "run.step(x, y); tessera.sync()\nprint"
)

MINI = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np
import tessera
from tests.records.samples import calls
first, rows = None, {}
for name, lowering, call in calls():
    tessera.sync()
    start = time.perf_counter(); call(); tessera.sync(); cold = time.perf_counter() - start
    start = time.perf_counter(); call(); tessera.sync(); warm = time.perf_counter() - start
    if first is None:
        first = cold - warm
    rows.setdefault(name, [lowering, cold - warm])
print(json.dumps([first, rows]))
"""

LARGE = """
import sys, time
import numpy as np
import tessera
import tessera.functional as F
from tessera.autodiff import GradManager
w = tessera.Parameter(np.eye(8, dtype="f"))
gm, x = GradManager().attach([w]), tessera.tensor(np.ones((8, 8), "f"))
@tessera.jit.trace
def step(x, layers):
    with gm:
        for _ in range(layers):
            x = F.relu(x @ w)
        gm.backward(F.sum(x))
    return w.grad
def call(layers):
    start = time.perf_counter()
    step(x, layers); tessera.sync()
    return time.perf_counter() - start
def seconds(layers):
    return max(call(layers) for _ in range(4))  # the one that compiles
seconds(10)
print(*(seconds(layers) / layers for layers in (5000, 25000)))
"""

ROOT = Path(__file__).resolve().parents[2]


def demo_graph():
    """The second call of the traced step compiles it: with no cache on disk, and with one."""
    examples = ROOT / "frontends" / "examples"
    with tempfile.TemporaryDirectory() as cache:
        cold = float(in_process(STEP, examples, TESS_CACHE_DIR=cache))
        warm, start = (
            statistics.median(
                float(in_process(code, examples, TESS_CACHE_DIR=cache)) for _ in range(repeats(3))
            )
            for code in (STEP, WHOLE)
        )
    return [
        Row("compile demo step, cold", cold * 1e3, "ms"),
        Row("compile demo step, warm", warm * 1e3, "ms"),
        Row("start of traced demo, warm", start, "s", target=0.5),
    ]


def mini_graphs():
    """First call less second call of every operator, with no cache on disk."""
    with tempfile.TemporaryDirectory() as cache:
        first, rows = json.loads(in_process(MINI, ROOT, TESS_CACHE_DIR=cache, TESS_WARM_SET=""))
    elementwise = [1e3 * t for lowering, t in rows.values() if lowering == "elementwise"]
    every = sorted((1e3 * t, name) for name, (_, t) in rows.items())
    softmax = 1e3 * rows["softmax"][1]
    return [
        Row("first one-op graph of a process", first * 1e3, "ms", target=15),
        Row(
            "one-op graph, elementwise, median",
            statistics.median(elementwise),
            "ms",
            target=6,
            note=f"of {len(elementwise)}",
        ),
        Row("one-op graph, elementwise, worst", max(elementwise), "ms"),
        Row("one-op graph, softmax", softmax, "ms", target=12),
        Row("one-op graph, median", every[len(every) // 2][0], "ms", note=f"of all {len(every)}"),
        Row("one-op graph, worst", every[-1][0], "ms", note=every[-1][1]),
    ]


def large_program():
    """Compilation of about 100 000 steps, and that its time is nearly linear in them."""
    few, many = (1e6 * float(text) for text in in_process(LARGE).split())
    name = "compile a layer of 25 000, with gradient"
    return [
        Row(name, many, "us", peer=few, target=0.7, target_is_ratio=True, note="peer: of 5 000")
    ]


BENCHMARKS = {
    "compile_demo": demo_graph,
    "mini_graphs": mini_graphs,
    "large_program": large_program,
}
