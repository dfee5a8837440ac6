"""The cache of compiled kernels on disk: found again, bounded, and never trusted."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
import numpy as np
import tessera
import tessera.functional as F
from tessera.utils import counters
x = tessera.Tensor(np.linspace(-2, 2, 1000, dtype=np.float32).reshape(10, 100))
results = [F.gelu(x * 2 + 1), F.softmax(x, 1), x.sum(axis=0), F.exp(x) - F.tanh(x)]
values = b"".join(each.numpy().tobytes() for each in results)
print(json.dumps({"values": values.hex(), **counters.caches()}))
"""


def run(folder, **settings):
    """What a process with its cache in `folder` computed and compiled."""
    env = {**os.environ, "TESS_CACHE_DIR": str(folder), **settings}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def filled(tmp_path):
    """A folder after a first process, and what that process said."""
    first = run(tmp_path / "cache")
    assert first["compiled"] > 3 and first["from_disk"] == 0
    return tmp_path / "cache", first


def test_a_second_process_compiles_nothing(filled):
    folder, first = filled
    second = run(folder)
    assert second["compiled"] == 0 and second["from_disk"] == first["compiled"]
    assert second["values"] == first["values"]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "swap"])
def test_a_damaged_entry_is_compiled_again(filled, damage):
    folder, first = filled
    paths = sorted(folder.glob("*.img"))
    contents = [path.read_bytes() for path in paths]
    for number, (path, data) in enumerate(zip(paths, contents, strict=True)):
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]
        other = contents[(number + 1) % len(contents)]  # whole, but of another kernel
        path.write_bytes(
            {"flip": flipped, "cut": data[:middle], "empty": b"", "swap": other}[damage]
        )
    again = run(folder)
    assert again["from_disk"] == 0 and again["compiled"] == first["compiled"]
    assert again["values"] == first["values"]


def test_no_folder_and_no_place_for_one(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    values = {
        run(place)["values"] for place in ("", tmp_path / "file", tmp_path / "file" / "below")
    }
    assert len(values) == 1 and (tmp_path / "file").read_text() == "not a folder"


def test_the_limit_is_kept(filled):
    folder, first = filled
    whole = sum(path.stat().st_size for path in folder.glob("*.img"))
    assert whole < 1 << 20
    extra = folder / ("0" * 32 + ".img")
    extra.write_bytes(b"x" * (3 << 20))
    os.utime(extra, (1, 1))  # the least recently used
    for path in sorted(folder.glob("*.img"))[1:3]:
        path.unlink()  # so that something is written
    again = run(folder, TESS_CACHE_MB="1")
    assert again["compiled"] == 2 and again["values"] == first["values"]
    assert not extra.exists()
    assert sum(path.stat().st_size for path in folder.glob("*.img")) <= 1 << 20
