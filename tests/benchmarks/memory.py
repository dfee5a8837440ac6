"""New processes beside peers: their peak memory, and the time until their first result."""

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import peers
from compiled import row_of, told
from harness import Row, repeats
from peers import catalog, child, onnx_files

SLOW = 10.0  # seconds: what takes longer is measured once
ROUNDS = 3


def columns():
    """Columns that have an adapter, Tessera first."""
    return ["Tessera", *(column for column, each in peers.wanted().items() if each)]


def prepare(network, method=""):
    """Writes what the processes read: weights, the file of ONNX, and that of a program."""
    from peers import own_networks

    if method == "program":
        onnx_files.program_of(network)
    path = child.weights_file(network)
    if not path.exists():
        state = own_networks.build(network).state_dict()
        np.savez(path, **state)
    if not network.loss and any(map(peers.is_wanted, ("ONNX Runtime", "OpenVINO"))):
        onnx_files.file_of(network)


def in_child(column, method, what, network, cache):
    """The figure of a new process, with an empty or used folder for what it compiles, Python's
    bytecode too, which an installed package has.
    """
    command = [sys.executable, "-m", "peers.child", column, method, what, repr(network)]
    here = str(Path(__file__).resolve().parent)
    path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    caches = "TESS_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "PYTHONPYCACHEPREFIX"
    folders = {name: os.path.join(cache, name.lower()) for name in caches}
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "", **folders},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    last = done.stdout.strip().splitlines()[-1]
    return None if last == "None" else float(last)


def attempt(column, title, *arguments):
    """The figure of in_child(), or None; says why there is none."""
    try:
        return in_child(column, *arguments)
    except RuntimeError as error:
        told(column, title, RuntimeError(str(error).strip().splitlines()[-1]))
        return None


def peak(title, method, network):
    """MiB by which the peak rises after the import, with compiled kernels on the disk."""
    prepare(network, method)
    values = {}
    for column in columns():
        with tempfile.TemporaryDirectory() as cache:
            arguments = title, method, "memory", network, cache
            attempt(column, *arguments)
            values[column] = attempt(column, *arguments)
    return [row_of(title, values, "MiB")]


def peak_without_python(title, network):
    """MiB at the peak of tess-run, all of it, by looks at the process while it runs 100 times."""
    prepare(network, "program")
    with tempfile.TemporaryDirectory() as folder:
        array, file = Path(folder) / "x0.npy", onnx_files.program_of(network)
        np.save(array, network.arrays()[0])
        command = [os.environ["TESS_RUN"], file, "--input", f"x0={array}", "--repeat", "100"]
        process, highest = subprocess.Popen(command, stdout=subprocess.DEVNULL), 0
        while process.poll() is None:
            highest = max(highest, child.status("VmHWM", process.pid))
            time.sleep(0.002)
    if process.returncode:
        raise RuntimeError(f"bench: {title}: tess-run must end with 0, got {process.returncode}")
    return [Row(title, highest / 1024, "MiB")]


def first_result(title, method, network):
    """Seconds from before the import, with an empty cache and with that of another process."""
    prepare(network, method)
    kinds = "nothing compiled before", "compiled before"
    times = {kind: {} for kind in kinds}
    for _ in range(repeats(ROUNDS)):
        for column in columns():
            if times[kinds[0]].get(column, [0])[0] > SLOW:
                continue
            with tempfile.TemporaryDirectory() as cache:
                for kind in kinds:
                    seconds = attempt(column, title, method, "first", network, cache)
                    if seconds is not None:
                        times[kind].setdefault(column, []).append(seconds)
    return [
        row_of(f"{title}, {kind}", {c: statistics.median(own) for c, own in found.items()}, "s")
        for kind, found in times.items()
    ]


_RESNET = "ResNet-18 inference b1"
FIRST = {
    "": ("inference", _RESNET, ""),
    "_program": ("program", _RESNET, ", from a file"),
    "_training": ("training_step", "ResNet-18 training b8", ""),
    "_encoder": ("inference", "Transformer encoder inference", ""),
    "_encoder_training": ("training_step", "Transformer encoder training", ""),
}


def first_result_of(name):
    """The rows of one of FIRST."""
    method, title, kind = FIRST[name]
    network = {**catalog.INFERENCE, **catalog.TRAINING}[title]
    return first_result(f"first result of {title}{kind}", method, network)


BENCHMARKS = {
    "memory_resnet_18_inference": lambda: peak(
        f"peak memory of {_RESNET}", "inference", catalog.INFERENCE[_RESNET]
    ),
    "memory_resnet_18_file": lambda: [
        *peak(f"peak memory of {_RESNET}, from a file", "program", catalog.INFERENCE[_RESNET]),
        *peak_without_python(f"peak memory of tess-run, {_RESNET}", catalog.INFERENCE[_RESNET]),
    ],
    "memory_resnet_18_training": lambda: peak(
        "peak memory of ResNet-18 training b8",
        "training_step",
        catalog.TRAINING["ResNet-18 training b8"],
    ),
    "memory_mlp_training": lambda: peak(
        "peak memory of MLP training", "training_step", catalog.TRAINING["MLP training"]
    ),
    **{f"compiled_first_result{name}": functools.partial(first_result_of, name) for name in FIRST},
}
