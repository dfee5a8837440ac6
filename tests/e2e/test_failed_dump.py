"""A dump that fails or is killed leaves the old file or the new one, whole, and says why."""

import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import tessera
from tessera import jit


def program(value, columns=16):
    """x -> x @ a matrix full of `value`, recorded."""
    weight = tessera.Tensor(np.full((64, columns), value, dtype=np.float32))
    traced = jit.trace(lambda x: x @ weight, capture_as_const=True)
    traced(ones())
    return traced


def ones():
    return tessera.Tensor(np.ones((1, 64), dtype=np.float32))


def result(path):
    return jit.load(path)(ones()).numpy()


@pytest.fixture
def old(tmp_path):
    """A file that a failed dump must leave alone."""
    path = tmp_path / "f.tess"
    program(1).dump(path, targets=[])
    return path, path.read_bytes()


def check_untouched(old):
    path, data = old
    assert path.read_bytes() == data and result(path).tolist() == [[64.0] * 16]
    assert [each.name for each in path.parent.iterdir()] == ["f.tess"]
    program(2).dump(path, targets=[])  # the process goes on
    assert result(path).tolist() == [[128.0] * 16]


UNWRITABLE = {
    "missing folder": (lambda folder: folder / "missing" / "f.tess", "No such file or directory"),
    "folder is a file": (lambda folder: folder / "f.tess" / "g.tess", "Not a directory"),
    "path is a folder": (lambda folder: folder, "Is a directory"),
    "read-only file system": (lambda folder: "/proc/f.tess", "No such file|Permission|Read-only"),
    "name too long": (lambda folder: folder / ("f" * 300), "File name too long"),
}


@pytest.mark.parametrize("path", UNWRITABLE)
def test_unwritable_path(old, path):
    where, why = UNWRITABLE[path]
    with pytest.raises(OSError, match=f"^dump: .*: must be able to .*, got ({why})"):
        program(2).dump(where(old[0].parent), targets=[])
    shutil.rmtree(f"{old[0].parent}.tmp", ignore_errors=True)
    check_untouched(old)


@contextmanager
def file_size_limit(size):
    """No file may be longer: the write that crosses the limit fails."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [0, 10, 64, 200, 1000, 4000])
def test_file_size_limit(old, size):
    with (
        file_size_limit(size),
        pytest.raises(OSError, match="^dump: .*f.tess: must be able to write, got File too large"),
    ):
        program(2).dump(old[0], targets=[])
    check_untouched(old)


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from test_failed_dump import program
programs = [program(1), program(2, 4096)]
for number, each in enumerate(programs):
    each.dump(f"{sys.argv[1]}.{number}", targets=[])
programs[0].dump(sys.argv[1], targets=[])
print("ready", flush=True)
while True:
    for each in programs:
        each.dump(sys.argv[1], targets=[])
"""


def killed_writer(path, moment):
    """Dumps two programs by turns to `path`, and is killed after `moment` seconds of it."""
    command = [sys.executable, "-c", WRITER, str(path), os.path.dirname(__file__)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    try:
        writer.wait(moment)
    except subprocess.TimeoutExpired:
        writer.kill()
    assert writer.wait() == -signal.SIGKILL
    writer.stdout.close()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_killed_at_50_seeded_moments(tmp_path):
    path, left, seen = tmp_path / "f.tess", 0, set()
    names = {"f.tess", "f.tess.0", "f.tess.1"}
    for moment in np.random.RandomState(7).uniform(0.0, 0.03, 50):
        killed_writer(path, moment)
        whole = [digest(tmp_path / f"f.tess.{number}") for number in (0, 1)]
        assert digest(path) in whole  # one or the other, every byte
        seen.add(whole.index(digest(path)))
        assert result(path).ravel()[0] in (64.0, 128.0)
        there = {each.name for each in tmp_path.iterdir()}
        assert names <= there <= names | {"f.tess.tmp"}
        left += len(there - names)
    # Kills hit the time between the first byte and the rename, and both programs.
    assert left > 0 and seen == {0, 1}
    (tmp_path / "f.tess.tmp").write_bytes(b"left behind")
    program(1).dump(path, targets=[])
    assert {each.name for each in tmp_path.iterdir()} == names


FULL = """
import os, sys
sys.path.insert(0, sys.argv[2])
from test_failed_dump import check_untouched, program
from pathlib import Path
path = Path(sys.argv[1]) / "f.tess"
program(1).dump(path, targets=[])
old = path.read_bytes()
try:
    program(2, 64 * 1024).dump(path, targets=[])
    print("must be an error, got none")
except OSError as error:
    check_untouched((path, old))
    print("good", error)
"""
# In a mount namespace of its own; who is not root is root of a user namespace too.
MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'


def on_small_disk(options, folder):
    """`FULL` with a file system of 1 MiB at `folder`."""
    command = ["unshare", *options, "sh", "-c", MOUNT, folder]
    script = [sys.executable, "-c", FULL, folder, os.path.dirname(__file__)]
    return subprocess.run([*command, *script], capture_output=True, text=True)


def test_full_disk(tmp_path):
    tried = [on_small_disk(options, str(tmp_path)) for options in (["-m"], ["-r", "-m"])]
    ran = [each for each in tried if each.stdout]
    if not ran:
        pytest.skip(f"no tmpfs can be mounted here: {tried[-1].stderr.strip()}")
    pattern = "good dump: .*f.tess: must be able to write, got No space left on device"
    assert re.match(pattern, ran[0].stdout), ran[0].stdout + ran[0].stderr
