"""Operators that ship compiled: which they are, that nothing compiles for them, the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tessera
from tessera import _core

FOLDER = Path(tessera.__file__).parent / "warm_set"
EXAMPLES = Path(__file__).parents[4] / "frontends" / "examples"

RECORDS = """
import json
import tessera
from tests.records import samples
compiled = {}
for record in samples.records().values():
    before = tessera.cache_stats()
    for sample in record.samples:
        dtypes = samples.dtypes_of(record, sample)
        dtype = next((each for each in ("float32", "int32") if each in dtypes), dtypes[0])
        samples.call(record, sample, samples.tensors(samples.arrays(record, sample, dtype)))
    after = tessera.cache_stats()
    compiled[record.name] = after["compilations"] - before["compilations"]
print(json.dumps({"compiled": compiled, **tessera.cache_stats()}))
"""

STEPS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import tessera
import digits_net, networks
random = np.random.RandomState(0)
data = random.rand(128, 1, 8, 8).astype(np.float32), random.randint(0, 10, 128).astype(np.int32)
training = digits_net.Training(data, 0, 1, False).run()
inputs, target = networks.mlp_batch()
step = networks.mlp()
target = target.astype(np.int32)
losses = [step(tessera.tensor(inputs), tessera.tensor(target)).item() for _ in range(3)]
print(json.dumps({"losses": training.history.losses + losses, **tessera.cache_stats()}))
"""


def run(code, *arguments, **settings):
    """What a fresh process without a cache on disk printed."""
    env = {**os.environ, "TESS_CACHE_DIR": "", **settings}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_no_record_compiles_at_its_first_call():
    result = run(RECORDS)
    assert {name: count for name, count in result["compiled"].items() if count} == {}
    assert result["from_warm_set"] > 400


def test_the_examples_compile_nothing_and_compute_the_same():
    warm, cold = run(STEPS, EXAMPLES), run(STEPS, EXAMPLES, TESS_WARM_SET="")
    assert warm["compilations"] == warm["programs"] == 0 and warm["from_warm_set"] > 40
    assert cold["from_warm_set"] == 0 and cold["compilations"] >= warm["from_warm_set"]
    assert warm["losses"] == cold["losses"] and len(warm["losses"]) == 5


def test_it_fits():
    files = sorted(FOLDER.iterdir())
    assert [path.name for path in files] == ["x86-64-v3.tess", "x86-64-v4.tess"]
    assert sum(path.stat().st_size for path in files) <= 6_000_000


def doctor(**settings):
    """The line about the warm set."""
    env = {**os.environ, **settings}
    command = [sys.executable, "-m", "tessera.doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(line for line in done.stdout.splitlines() if line.startswith("warm_set"))


def test_the_doctor_says_what_is_open():
    assert doctor().endswith(f", {len(_core.warm_set_classes())} classes")
    assert doctor(TESS_WARM_SET="").endswith("closed")


@pytest.mark.parametrize("damage", ["missing", "flip", "cut", "empty"])
def test_a_set_that_cannot_be_used_is_ignored(tmp_path, damage):
    for path in FOLDER.iterdir():
        data = bytearray(path.read_bytes())
        # Between sections are zeros that nobody reads.
        held = next(i for i in range(len(data) // 2, len(data)) if data[i])
        data[held] ^= damage == "flip"
        data = data[: {"cut": len(data) // 2, "empty": 0}.get(damage)]
        if damage != "missing":
            (tmp_path / path.name).write_bytes(data)
    line = doctor(TESS_WARM_SET=str(tmp_path))
    assert "ignored: " in line and str(tmp_path) in line
