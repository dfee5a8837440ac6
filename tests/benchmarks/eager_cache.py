"""The caches of eager mode: first calls by the origin of their code, look-ups, shapes, threads."""

import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import tessera
from harness import Row, in_process, repeats

ROOT = Path(__file__).resolve().parents[2]

FIRST = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import tessera
from tests.records.samples import calls
rows = {}
for name, lowering, call in calls():
    tessera.sync()
    before, start = tessera.cache_stats(), time.perf_counter()
    call(); tessera.sync()
    cold = time.perf_counter() - start
    after, start = tessera.cache_stats(), time.perf_counter()
    call(); tessera.sync()
    first = cold - (time.perf_counter() - start)
    counts = {key: after[key] - before[key] for key in after}
    rows[name] = [first, counts["misses"], counts["compilations"], counts["primitive_seconds"]]
print(json.dumps(rows))
"""

SHAPES = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import tessera
from tests.support.classes import Calls
calls, seconds = Calls(seed=0), []
for part in range(10):
    start = time.perf_counter()
    for _ in range(1000):
        calls.call()
    tessera.sync()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"classes": len(calls.classes), "seconds": seconds, **tessera.cache_stats()}))
"""


def first_calls(processes, **settings):
    """{operator: [seconds, misses, compilations, seconds of primitives]} of a first call, less a
    second one; of some processes the one of the median.
    """
    found = {}
    for _ in range(repeats(processes)):
        for name, row in json.loads(in_process(FIRST, ROOT, **settings)).items():
            if row[1]:
                found.setdefault(name, []).append(row)
    return {name: sorted(rows)[len(rows) // 2] for name, rows in found.items()}


def spread(title, seconds, unit, scale, *targets):
    """Rows for the median and the 95th percentile."""
    ordered = sorted(each * scale for each in seconds)
    middle, high = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    note = f"{len(ordered)} operators"
    return [
        Row(f"{title}, median", middle, unit, target=targets[0], note=note),
        Row(f"{title}, 95th percentile", high, unit, target=targets[1], note=note),
    ]


def warm():
    """First calls answered by the warm set: generated kernels, and library calls beside their
    primitives.
    """
    rows = first_calls(5, TESS_CACHE_DIR="")
    shipped = [row for row in rows.values() if not row[2]]
    generated = [row[0] for row in shipped if not row[3]]
    library = [row for row in shipped if row[3]]
    return [
        *spread("first call, shipped kernel", generated, "us", 1e6, 50, 50),
        *spread(
            "first call, shipped, beside its primitive",
            [row[0] - row[3] for row in library],
            "us",
            1e6,
            50,
            50,
        ),
        *spread("creation of its primitive", [row[3] for row in library], "us", 1e6, None, None),
    ]


def compiled():
    """First calls that compile, and the same from the disk."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"TESS_CACHE_DIR": folder, "TESS_WARM_SET": ""}
        cold = first_calls(1, **settings)
        disk = first_calls(3, **settings)
    found = [row[0] - row[3] for row in disk.values() if not row[2]]
    made = [row[0] - row[3] for row in cold.values() if row[2]]
    return [
        *spread("first call, compiled", made, "ms", 1e3, 4, 12),
        *spread("first call, from disk", found, "ms", 1e3, 1, 1),
    ]


def shapes():
    """10 000 random shapes through 50 operators."""
    result = json.loads(in_process(SHAPES, ROOT, TESS_CACHE_DIR="", TESS_WARM_SET=""))
    first, last = result["seconds"][1], result["seconds"][-1]
    return [
        Row(
            "random shapes, compilations a class",
            result["compilations"] / result["classes"],
            "",
            target=1,
        ),
        Row("random shapes, compilations", result["compilations"], ""),
        Row("random shapes, library primitives", result["primitives"], ""),
        Row(
            "random shapes, bytes a byte of limit", result["bytes"] / result["limit"], "", target=1
        ),
        Row("random shapes, last 1000 calls to second 1000", last / first, "", target=1.1),
    ]


def from_cpp():
    """Look-ups at sizes of the cache, and threads without Python."""
    shipped = Path(tessera.__file__).parent / "warm_set"
    environment = {**os.environ, "TESS_WARM_SET": str(shipped)}
    command = [os.environ["TESS_EAGER_CACHE"]]
    result = json.loads(
        subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    )
    more = result["all"] - result["few"]
    return [
        Row("look-up among 10 entries", result["few"], "ns"),
        Row("look-up of 10 among 100 000 entries", result["hot"], "ns"),
        Row("look-up of all of 100 000 entries, more than of 10", more, "ns", target=60),
        Row(
            "8 C++ threads, time to one thread's",
            result["one"] / result["eight"],
            "",
            target=1 / 1.5,
        ),
        Row("add that the warm set answers, from C++, again and again", result["kernel"], "ns"),
        Row(
            "softmax that the warm set answers, from C++, again and again", result["program"], "ns"
        ),
    ]


def python_threads():
    """Calls a second of eight Python threads beside one."""
    x = tessera.Tensor(np.ones(16, np.float32))

    def work(count):
        y = x
        for _ in range(count):
            y = y + x
        y.numpy()

    def seconds(threads):
        workers = [threading.Thread(target=work, args=(80000 // threads,)) for _ in range(threads)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.perf_counter() - start

    work(1000)  # the first call of a class is slower than many
    times = [(seconds(1), seconds(8)) for _ in range(repeats(7))]
    ratio = statistics.median(eight / one for one, eight in times)
    return [Row("8 Python threads, time to one thread's", ratio, "", target=1 / 0.9)]


BENCHMARKS = {
    "eager_first_call_warm": warm,
    "eager_first_call_compiled": compiled,
    "eager_random_shapes": shapes,
    "eager_cache_cpp": from_cpp,
    "eager_threads": python_threads,
}
