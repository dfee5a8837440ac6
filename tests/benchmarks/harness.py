"""What all benchmarks share: rows, interleaved timing, the environment, the table."""

import functools
import math
import os
import platform
import statistics
import subprocess
import sys
import time
import timeit
from dataclasses import asdict, dataclass

import numpy as np
import tessera
from tessera.utils import counters

try:
    import torch
except ImportError:
    torch = None


@dataclass
class Row:
    """One measured figure, the peer's in the same minutes, and what it should be.

    `target` is on the value, or on the ratio peer / value where `target_is_ratio` is set; larger
    ratios are better.
    """

    name: str
    value: float | None  # None only beside peers, for what Tessera does not do yet
    unit: str
    peer: float | None = None
    target: float | None = None
    target_is_ratio: bool = False
    note: str = ""  # what the figure is of, where that may change: a row keeps its name
    peers: dict | None = None  # by column, None where there is no figure; `peer` is the best one
    limit: float | None = None  # what the machine's limits allow
    share: float | None = None  # of the limit, that should be reached

    @property
    def ratio(self):
        """How many times the peer's figure is ours."""
        return None if None in (self.peer, self.value) else self.peer / self.value

    @property
    def of_limit(self):
        """Part of the machine's limit that is reached: 1 is all."""
        return None if None in (self.limit, self.value) else self.limit / self.value

    @property
    def score(self):
        """1 and above: the target is met. None without a target, or without what it needs."""
        if self.share is not None:
            return None if self.of_limit is None else self.of_limit / self.share
        if self.target is None or (self.target_is_ratio and self.peer is None):
            return None
        if self.target_is_ratio:
            return self.ratio / self.target
        return self.target / self.value if self.value else math.inf

    def as_dict(self):
        """For the JSON line."""
        figures = {"ratio": self.ratio, "of_limit": self.of_limit, "score": self.score}
        return {**asdict(self), **figures}


def statement(code, **names):
    """`code` for `interleaved`, run in a loop of its own: a call around it would cost time too."""
    return timeit.Timer(code, globals=names)


def _elapsed(function, count):
    if isinstance(function, timeit.Timer):
        return function.timeit(count)
    start = time.perf_counter()
    for _ in range(count):
        function()
    return time.perf_counter() - start


def measure(function, seconds=0.02):
    """Seconds of one call, over as many calls as fill `seconds`."""
    count = 1
    while True:
        elapsed = _elapsed(function, count)
        if elapsed >= seconds:
            return elapsed / count
        count = max(count * 2, int(count * seconds / max(elapsed, 1e-9)))


# Seconds for each function of a process; 0: no such limit. against.py, which runs many, sets it.
BUDGET = float(os.environ.get("TESS_BENCH_SECONDS", 0))


def repeats(count):
    """How often a benchmark repeats what fills a process: `count`, or once within a budget."""
    return 1 if BUDGET else count


def interleaved(*functions, rounds=15, seconds=0.02, rest=0.0):
    """The median time of each function, measured in turns; None stays None.

    Within a budget there are fewer rounds, at least one. `rest` seconds before each turn let the
    threads of the one before fall asleep.
    """
    times = [[] for _ in functions]
    for function in functions:
        if function is not None:
            measure(function, seconds)  # warm
    until = time.perf_counter() + BUDGET * sum(function is not None for function in functions)
    for number in range(rounds):
        if BUDGET and number and time.perf_counter() > until:
            break
        for function, own in zip(functions, times, strict=True):
            if function is not None:
                time.sleep(rest)
                own.append(measure(function, seconds))
    return [statistics.median(own) if own else None for own in times]


def synced(function):
    """`function` until its result is there."""

    def run():
        function()
        tessera.sync()

    return run


def in_process(code, *arguments, **variables):
    """The last line that a fresh Python prints for `code`."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"bench: a measured process must succeed, got {done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1]


@functools.cache
def _fixed_environment():
    with open("/proc/cpuinfo") as file:
        lines = dict(line.split(":", 1) for line in file if ":" in line)
    info = {key.strip(): value.strip() for key, value in lines.items()}
    flags = [
        f
        for f in info["flags"].split()
        if f in ("avx2", "avx512f", "avx512_bf16", "amx_tile", "fma")
    ]
    return {
        "tessera": tessera.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__ if torch else None,
        "threads": counters.threads(),
        "cpu": info["model name"],
        "cores": os.cpu_count(),
        "flags": flags,
    }


def environment():
    """Versions, flags, CPU and load."""
    return {**_fixed_environment(), "load": os.getloadavg()[0]}


def _cell(value, unit=""):
    return "" if value is None else f"{value:.4g}{' ' + unit if unit else ''}"


def table(rows):
    """The rows, aligned."""
    lines = [("benchmark", "tessera", "PyTorch", "ratio", "target", "score")]
    for row in rows:
        target = _cell(row.target, "x" if row.target_is_ratio else row.unit)
        lines.append(
            (
                row.name + (f" ({row.note})" if row.note else ""),
                _cell(row.value, row.unit),
                _cell(row.peer, row.unit),
                _cell(row.ratio, "x" if row.ratio else ""),
                target,
                _cell(row.score),
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
