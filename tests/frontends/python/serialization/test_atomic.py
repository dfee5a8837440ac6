"""A save that is killed, or finds the disk full, leaves the old file or the new one, whole."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tessera

COUNT = 1000  # kills
# A full disk: in a mount namespace of its own; who is not root is root of a user namespace too.
MOUNT = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
FULL = """
import numpy as np, os, sys, tessera
os.chdir(sys.argv[1])
tessera.save({"n": 1, "data": np.zeros(60_000)}, "state")
old = open("state", "rb").read()
try:
    tessera.save({"n": 2, "data": np.zeros(80_000)}, "state")
except OSError as error:
    print(error.errno, error)
assert open("state", "rb").read() == old and os.listdir() == ["state"]
tessera.save({"n": 3, "data": np.zeros(40_000)}, "state")
assert tessera.load("state")["n"] == 3
"""


def value(number):
    """What a whole file with this number holds; its size changes with the number."""
    size = 20_000 + 1000 * (number % 7)
    return {"n": number, "data": np.full(size, number), "t": tessera.Tensor([number, -number])}


def saver(path, number):
    """A process that saves again and again, with numbers from the next on."""
    child = os.fork()
    if not child:
        while True:
            number += 1
            tessera.save(value(number), path)
    return child


def kill(child):
    """Ends the process at once."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def first_save(path):
    """Seconds until a process has saved once."""
    tessera.save(value(0), path)
    before, start = os.stat(path).st_ino, time.perf_counter()
    child = saver(path, 0)
    while os.stat(path).st_ino == before:
        time.sleep(0.0001)
    seconds = time.perf_counter() - start
    kill(child)
    return seconds


def test_a_thousand_kills(tmp_path):
    """The moments spread over two saves of a process, however long they take here."""
    path, newer, unfinished = tmp_path / "state", 0, 0
    window = 2 * sorted(first_save(path) for _ in range(21))[10]
    last = tessera.load(path)["n"]
    for moment in np.random.RandomState(4).uniform(0.0, window, COUNT):
        child = saver(path, last)
        time.sleep(moment)
        kill(child)
        got = tessera.load(path)  # compares checksums
        assert got["n"] >= last and (got["data"] == got["n"]).all()
        assert len(got["data"]) == len(value(got["n"])["data"])
        assert got["t"].tolist() == [got["n"], -got["n"]]
        newer, last = newer + (got["n"] > last), got["n"]
        unfinished += len(os.listdir(tmp_path)) > 1
    assert newer > COUNT / 20 and unfinished > COUNT / 20, (newer, unfinished)
    tessera.save("last", path)
    assert os.listdir(tmp_path) == ["state"]  # it took over the unfinished file


def test_a_full_disk(tmp_path):
    tried = []
    for options in (["-m"], ["-r", "-m"]):
        command = ["unshare", *options, "sh", "-c", MOUNT, tmp_path, sys.executable, "-c", FULL]
        tried.append(subprocess.run([*command, tmp_path], capture_output=True, text=True))
    ran = [each for each in tried if each.stdout]
    if not ran:
        pytest.skip(f"no tmpfs can be mounted here: {tried[-1].stderr.strip()}")
    pattern = r"28 save: .*state must be writable, got no space left on device\n"
    assert re.fullmatch(pattern, ran[0].stdout) and ran[0].returncode == 0, ran[0]
