"""The caches of compiled code: counted, bounded, on disk found again and never trusted."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tessera
from tessera import config

from tests.support.helper import difference

SCRIPT = """
import json, sys
import numpy as np

def caught():
    with open("/proc/self/status") as lines:
        return next(line.split()[1] for line in lines if line.startswith("SigCgt"))

signals = [caught()]
import tessera
import tessera.functional as F
x = tessera.Tensor(np.linspace(-2, 2, 1000, dtype=np.float32).reshape(10, 100))
results = [F.gelu(x * 2 + 1), F.softmax(x, 1), x.sum(axis=0), F.exp(x) - F.tanh(x)]
results.append(tessera.jit.trace(lambda t: F.sin(t) * 3)(x))
values = b"".join(each.numpy().tobytes() for each in results)
signals.append(caught())
print(json.dumps({"values": values.hex(), "signals": signals, **tessera.cache_stats()}))
"""


def run(folder, **settings):
    """What a process with its cache in `folder` computed and compiled."""
    env = {**os.environ, "TESS_CACHE_DIR": str(folder), "TESS_WARM_SET": "", **settings}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def filled(tmp_path):
    """A folder after a first process, and what that process said."""
    first = run(tmp_path / "cache")
    assert first["compilations"] > 6 and first["from_disk"] == first["from_warm_set"] == 0
    return tmp_path / "cache", first


def entries(folder):
    return sorted(folder.glob("*/*.img"))


def test_compiling_and_storing_take_over_no_signal(filled):
    folder, first = filled
    assert entries(folder)
    before, after = first["signals"]
    assert after == before


def test_a_second_process_compiles_nothing(filled):
    folder, first = filled
    second = run(folder)
    assert second["compilations"] == second["kernels_compiled"] == 0
    assert second["from_disk"] == first["compilations"] == second["misses"]
    assert second["values"] == first["values"]


def damaged(kind, data, other):
    middle = len(data) // 2
    return {
        "flip": data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :],
        "first": bytes([data[0] ^ 1]) + data[1:],
        "last": data[:-1] + bytes([data[-1] ^ 128]),
        "cut": data[:middle],
        "longer": data + b"more",
        "empty": b"",
        "swap": other,  # whole, but of another class
    }[kind]


@pytest.mark.parametrize("kind", ["flip", "first", "last", "cut", "longer", "empty", "swap"])
def test_a_damaged_entry_is_compiled_again(filled, kind):
    folder, first = filled
    contents = [path.read_bytes() for path in entries(folder)]
    for number, path in enumerate(entries(folder)):
        path.write_bytes(damaged(kind, contents[number], contents[number - 1]))
    again = run(folder)
    assert again["from_disk"] == again["kernels_from_disk"] == 0
    assert again["compilations"] == first["compilations"] and again["values"] == first["values"]
    assert run(folder)["compilations"] == 0  # and written again


def test_no_folder_and_no_place_for_one(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    values = {
        run(place)["values"] for place in ("", tmp_path / "file", tmp_path / "file" / "below")
    }
    assert len(values) == 1 and (tmp_path / "file").read_text() == "not a folder"


def test_the_limit_on_disk_is_kept(filled):
    folder, first = filled
    assert sum(path.stat().st_size for path in entries(folder)) < 1 << 20
    earliest = min(entries(folder), key=lambda path: path.stat().st_mtime_ns)
    for path in entries(folder):
        path.unlink()  # so that something is written
    extra = [earliest.with_name("0" * 32 + ".img"), folder / ("0" * 32 + ".img")]
    for path in extra:  # the latter as versions without subfolders had them
        path.write_bytes(b"x" * (3 << 20))
        os.utime(path, (1, 1))  # the least recently used
    again = run(folder, TESS_CACHE_MB="1")
    assert again["compilations"] == first["compilations"] and again["values"] == first["values"]
    assert not any(path.exists() for path in extra)
    assert sum(path.stat().st_size for path in entries(folder)) <= 1 << 20


def tensor(*shape):
    return tessera.Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def test_copies_for_a_layout_are_counted():
    x, weight = tensor(4, 6), tensor(4, 2)
    turned = x.transpose(1, 0)
    assert difference(lambda: x + x)["copies"] == 0
    assert difference(lambda: tessera.functional.exp(turned))["copies"] == 0  # kernels walk strides
    assert difference(lambda: turned @ weight)["copies"] == 1
    assert difference(lambda: turned.numpy())["copies"] == 1


def test_hits_and_misses():
    x = tensor(5, 7)
    tessera.functional.atan2(x, x)
    counts = difference(lambda: [tessera.functional.atan2(x, x) for _ in range(100)])
    assert (counts["hits"], counts["misses"], counts["results"]) == (100, 0, 100)


def test_the_limit_in_memory_is_kept():
    limit = config.get_cache_limit()
    try:
        config.set_cache_limit(1 << 16)
        x = tensor(3, 5)
        for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan"):
            for dtype in ("float32", "float64", "float16"):
                getattr(tessera.functional, name)(x.astype(dtype))
        stats = tessera.cache_stats()
        assert stats["limit"] == 1 << 16 and stats["evictions"] > 0
        assert stats["bytes"] <= 1 << 16
    finally:
        config.set_cache_limit(limit)


def test_settings_that_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="set_cache_limit: bytes must be at least 0, got -1"):
        config.set_cache_limit(-1)
    with pytest.raises(ValueError, match="set_disk_cache: bytes must be at least 0, got -5"):
        config.set_disk_cache("", -5)
    monkeypatch.setenv("TESS_CACHE_MB", "many")
    with pytest.raises(ValueError, match="TESS_CACHE_MB must be a number of MiB, got 'many'"):
        config.open_disk_cache()


def test_settings_of_the_disk_cache(tmp_path):
    old = config.get_disk_cache()
    config.set_disk_cache(tmp_path, 5 << 20)
    assert config.get_disk_cache() == (str(tmp_path), 5 << 20)
    config.set_disk_cache(*old)
