"""A process for one framework and network: `python -m peers.child COLUMN METHOD WHAT NETWORK`.

Prints seconds from before the framework's import to the first result (WHAT is "first"), or by how
many MiB the peak of its memory rises after the import ("memory").
"""

import contextlib
import sys
import time

import numpy as np

from . import load, network, onnx_files

CALLS = 3


def weights_file(wanted):
    """Where the weights of a Network lie."""
    return onnx_files.folder() / f"{wanted.key}.npz"


def status(field, process="self"):
    """A line of a process's status, in KiB; 0 where it has none, because the process has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/status") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(field)), 0)
    return 0


def _forget_peak():
    """Lets the peak begin anew, where the kernel does that."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def measure(column, method, what, wanted):
    """The figure; None where the framework does not do it."""
    inputs, start = wanted.arrays(), time.perf_counter()
    adapter = load(column)
    before = status("VmRSS")
    _forget_peak()
    call = getattr(adapter, method)(wanted, inputs)
    if call is None:
        return None
    if what == "first":
        call()
        return time.perf_counter() - start
    for _ in range(CALLS):
        call()
    return (status("VmHWM") - before) / 1024


def main():
    """Reads the command line."""
    column, method, what, text = sys.argv[1:]
    wanted = eval(text, {"Network": network.Network, "Input": network.Input})  # noqa: S307
    if weights_file(wanted).exists():
        network.WEIGHTS = np.load(weights_file(wanted))
    print(measure(column, method, what, wanted))


if __name__ == "__main__":
    main()
