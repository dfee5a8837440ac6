"""Import time and peak memory of processes."""

import statistics
import tempfile

from harness import Row, in_process, repeats, torch

IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

MEMORY = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
{setup}
def peak():  # getrusage's figure survives exec: the parent's would count
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
x = np.ones((2048, 2048), dtype=np.float32)
before = peak()
{run}
print((peak() - before) / 1024)
"""

OURS = {
    "setup": "import tessera; import tessera.functional as F; from tessera import jit",
    "run": "f = jit.trace(lambda t: F.softmax(F.gelu(t * 2 + 1), -1)); t = tessera.Tensor(x)\n"
    "for _ in range(3): f(t)\ntessera.sync()",
}
THEIRS = {
    "setup": "import torch; import torch.nn.functional as T",
    "run": "t = torch.tensor(x)\nfor _ in range(3): T.softmax(T.gelu(t * 2 + 1), -1)",
}


def import_time():
    """Seconds of `import tessera` in a fresh process, NumPy included, from bytecode, which an
    installed package has.
    """
    times = {module: [] for module in ("tessera", *(["torch"] if torch else []))}
    with tempfile.TemporaryDirectory() as folder:
        bytecode = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(1 + repeats(5)):
            for module, seconds in times.items():
                seconds.append(float(in_process(IMPORT.format(module), **bytecode)))
    # The first process of each writes the bytecode.
    ours, *theirs = (statistics.median(seconds[1:]) for seconds in times.values())
    return [Row("import", ours, "s", theirs[0] if theirs else None, 0.25)]


def peak_memory():
    """By how much three runs of gelu and softmax on 16 MiB raise the process's peak."""
    ours = float(in_process(MEMORY.format(**OURS), "."))
    theirs = float(in_process(MEMORY.format(**THEIRS), ".")) if torch else None
    return [Row("peak memory of gelu, softmax on 16 MiB", ours, "MiB", theirs)]


BENCHMARKS = {"import_time": import_time, "peak_memory": peak_memory}
