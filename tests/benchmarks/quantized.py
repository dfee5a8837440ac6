"""Products of quantized numbers, by quantized.cpp, each beside what bounds it in the same rounds.

Rows by weights that come from memory, by runtime/contract and by the operator of a layer: the time
of plain reading, though four rows have more to multiply than to read, and weights that are no
constants are packed. A product of bytes: the time of float32, of which a processor with
AVX512_VNNI has a quarter of the instructions to do. A convolution of bytes, with quantized results:
that of float32, by Winograd's products where windows are 3 x 3.
"""

import json
import os
import subprocess

from harness import Row

TARGETS = {"row by": 0.85, "row as int8": 0.75, "convolution": 1, "by int8": 3}


def quantized():
    """A row for each product and number of threads."""
    command = [os.environ["TESS_QUANTIZED"]]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return [
        Row(
            f"{name}, {threads} thread{'s' if threads > 1 else ''}",
            measured,
            "us",
            peer=bound,
            target=next((target for part, target in TARGETS.items() if part in name), None),
            target_is_ratio=True,
            note="beside plain reading" if "weights" in name else "beside float32",
        )
        for name, threads, measured, bound in found
    ]


BENCHMARKS = {"quantized": quantized}
