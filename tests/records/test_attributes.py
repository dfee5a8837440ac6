"""Attributes of records: numbers are operands, but for those that the lint `statics` lists."""

import os
import subprocess
import sys

from tests.records import samples


def test_random_values_compile_no_more_classes_than_static_ones_predict():
    env = {**os.environ, "TESS_CACHE_DIR": "", "TESS_WARM_SET": ""}
    command = [sys.executable, "-m", "tests.records.attribute_values", "--count", "10000"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    count = sum(bool(entry["attrs"]) for entry in samples.entries())
    assert done.stdout.startswith(f"10000 calls of {count} of {count} operators compiled ")
