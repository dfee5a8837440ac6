"""The two codecs of executables: one for files that last, one for the caches of one build."""

import json
import os
import subprocess
from pathlib import Path

import tessera
from harness import Row


def reading():
    """One executable of the warm set from its bytes; the peer is the codec of files that last."""
    file = Path(tessera.__file__).parent / "warm_set" / "x86-64-v3.tess"
    command = [os.environ["TESS_CODECS"], str(file)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    flat, lasting = found["flat"], found["lasting"]
    note = f"peer: Protobuf; mean of {found['executables']}"
    time = Row("read an executable", flat["nanoseconds"], "ns", lasting["nanoseconds"], note=note)
    size = Row("bytes of an executable", flat["bytes"], "B", lasting["bytes"], note=note)
    return [time, size]


BENCHMARKS = {"executable_codecs": reading}
