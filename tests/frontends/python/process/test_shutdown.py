"""Programs that end, or are told to, in the middle of queued work: each in a process of its own.

A process that hangs is killed after some minutes, which fails its test.
"""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

WATCHDOG = 300

# `slow(n)` queues n decompositions, each of tens of milliseconds, with small results: bytes limit
# the queue.
BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import tessera
import tessera.functional as F
from tessera import _core

big = tessera.Tensor(np.ones((1500, 1500)), dtype="float32")

matrix = tessera.Tensor(np.random.RandomState(0).rand(700, 700), dtype="float32")
ones = tessera.Tensor(np.ones((2, 700)), dtype="float32")

def slow(count=12):
    y = ones
    for _ in range(count):
        y = y + 0 * F.svdvals(matrix + 0 * y[0, 0])
    return y

def bad():
    return F.gather(tessera.Tensor(np.ones((4, 2))), 0, tessera.Tensor([[7, 0]]))
"""


def run(code, threads=None):
    """The finished process of a script. With one thread its queue takes seconds on any machine."""
    code = BEGIN + textwrap.dedent(code)
    environment = os.environ | ({"TESS_NUM_THREADS": str(threads)} if threads else {})
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=WATCHDOG,
        env=environment,
    )


ENDS = {
    "normal": ("slow()", 0),
    "sys_exit": ("slow(); sys.exit(3)", 3),
    "os_exit": ("slow(); os._exit(5)", 5),
    "exception": ("slow(); raise ValueError('mine')", 1),
    "exit_in_a_thread": (
        "t = threading.Thread(target=lambda: (slow(), sys.exit(3))); t.start(); t.join()",
        0,
    ),
    "daemon_thread_that_waits": (
        """
        def loop():
            while True:
                slow(2).sum().item()
        threading.Thread(target=loop, daemon=True).start()
        slow().sum().item()
        """,
        0,
    ),
    "daemon_threads_that_queue": (
        """
        def loop():
            while True:
                slow(1)
        for _ in range(3):
            threading.Thread(target=loop, daemon=True).start()
        time.sleep(0.2)
        """,
        0,
    ),
    "finalizer_that_computes": (
        """
        class Holder:
            def __del__(self):
                assert (big[0, :4] + 1).sum().item() == 8
                print("finalized")
        slow()
        module_global = Holder()
        """,
        0,
    ),
    "level_0": ("tessera.config.set_async_level(0); slow(2)", 0),
}


@pytest.mark.parametrize("name", ENDS)
def test_exit_in_the_middle_of_queued_work(name):
    code, status = ENDS[name]
    done = run(code)
    assert done.returncode == status, done.stderr
    assert ("finalized" in done.stdout) == ("finalizer" in name)
    assert ("ValueError: mine" in done.stderr) == (name == "exception")
    assert name == "exception" or done.stderr == ""


def test_exit_reports_a_failure_that_nobody_read():
    done = run("slow()\nnever_read = bad()")
    assert done.returncode == 1
    assert done.stderr.count("IndexError: gather: index must be in [-4, 3], got 7") == 1
    assert "(x f32[4, 2], index i32[1, 2]), at <string>:" in done.stderr


def test_exit_reports_every_failure():
    done = run("a, b = bad(), tessera.Tensor([1, 2])[tessera.Tensor([5])]")
    assert "IndexError: gather: " in done.stderr
    assert "also index_get: index must be in [-2, 1], got 5" in done.stderr


def test_exit_does_not_report_what_was_seen():
    seen = """
    for read in (lambda y: y.numpy(), lambda y: tessera.sync()):
        try:
            read(bad())
        except IndexError:
            print("seen")
    """
    done = run(seen)
    assert (done.returncode, done.stdout, done.stderr) == (0, "seen\nseen\n", "")


# Each call waits for a queue of seconds. The signal comes while it does, or just before.
INTERRUPTS = """
def interrupt():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

traced = tessera.jit.trace(lambda x: (x @ x).sum())
for _ in range(3):
    traced(big)
y = slow(40)
small = tessera.Tensor([1.0, 2.0])
CALLS = [
    y.numpy, y.tolist, tessera.sync, lambda: np.asarray(y), lambda: repr(y),
    lambda: np.from_dlpack(y), lambda: y.sum().item(), lambda: float(y.mean()),
    lambda: bool(y.sum()), lambda: F.non_zero(y), lambda: tessera.config.set_async_level(1),
    lambda: traced(big),
    lambda: y[0].__setitem__(0, 1.0) or y.numpy(),
]
for call in CALLS:
    if _core.queue_stats()["commands"] < 150:
        y = slow(40)
    threading.Thread(target=interrupt).start()
    try:
        call()
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted", _core.queue_stats()["commands"] > 0)
assert (small + 1).tolist() == [2.0, 3.0]  # the process goes on
assert tessera.config.get_async_level() == 2
assert (slow(1).numpy() == 1).all() and (y.numpy()[1:] == 1).all()  # and no value is lost
print("usable", len(CALLS))
"""


def test_interrupt_while_waiting():
    done = run(INTERRUPTS, threads=1)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines == ["interrupted True"] * 13 + ["usable 13"]


def test_interrupt_while_the_queue_is_full():
    code = """
    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    kept = big * 2
    y = big
    try:
        while True:
            y = (y @ big) * (1 / 1500)
    except KeyboardInterrupt:
        print("interrupted", _core.queue_stats()["commands"] > 0)
    assert (kept.numpy() == 2).all()
    tessera.sync()
    """
    done = run(code, threads=1)
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done.stderr


def test_interrupt_that_nobody_catches_ends_the_program():
    """At once: what is queued is given up."""
    code = """
    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    while True:
        slow()
    """
    done = run(code)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert "atexit" not in done.stderr


def test_a_handler_of_the_users_runs_while_a_call_waits():
    code = """
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(_core.queue_stats()["commands"] > 0))
    y = slow(25)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    assert (y.numpy() == 1).all()
    print(seen)
    """
    assert run(code, threads=1).stdout == "[True]\n"


def test_a_handler_that_raises_ends_the_wait():
    code = """
    def expire(*_):
        raise TimeoutError("mine")
    signal.signal(signal.SIGALRM, expire)
    y = slow(25)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        y.numpy()
        time.sleep(60)
    except TimeoutError as error:
        print(error, _core.queue_stats()["commands"] > 0)
    assert (y.numpy() == 1).all()
    """
    assert run(code, threads=1).stdout == "mine True\n"
