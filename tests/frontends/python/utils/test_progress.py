"""utils.progress: when bars are shown, what they show, and that they cost the code nothing."""

import io
import itertools
import os
import pty
import re
import subprocess
import sys
import time
import types

import pytest
import tessera
from tessera import functional as F  # noqa: N812
from tessera.utils import http_download
from tessera.utils import progress as module
from tessera.utils.progress import progress, progress_bar, set_progress

from tests.support.helper import run_without


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def automatic():
    old = set_progress(None)
    yield
    set_progress(old)


@pytest.fixture
def terminal(monkeypatch):
    return replaced(monkeypatch, Terminal())


def replaced(monkeypatch, stream):
    """The stream that bars are drawn on; pytest replaces sys.stderr itself between fixtures."""
    monkeypatch.setattr(module, "sys", types.SimpleNamespace(stderr=stream))
    return stream


def test_a_loop_shows_how_far_it_is(terminal):
    assert list(progress([10, 20, 30], "counting", delay=0)) == [10, 20, 30]
    shown = terminal.getvalue()
    assert "counting:   0%" in shown and "0/3" in shown and "\n" not in shown


def test_a_short_loop_shows_nothing(terminal):
    assert list(progress(range(5))) == list(range(5))
    assert terminal.getvalue() == ""


def test_a_loop_is_shown_after_its_delay(terminal):
    for _ in progress(range(5), "slow", delay=0.2):
        time.sleep(0.1)
    assert re.search(r"slow:  [468]0%", terminal.getvalue())
    assert "slow:   0%" not in terminal.getvalue()


@pytest.mark.parametrize("setting, enabled, is_shown", [
    (None, None, False), (True, None, True), (None, True, True), (True, False, False),
    (False, None, False), (False, True, True),
])  # fmt: skip
def test_what_is_no_terminal_is_silent_unless_asked(monkeypatch, setting, enabled, is_shown):
    stream = replaced(monkeypatch, io.StringIO())
    set_progress(setting)
    list(progress(range(3), "loop", enabled=enabled, delay=0))
    assert ("loop" in stream.getvalue()) == is_shown


def test_items_without_a_length_and_an_early_end(terminal):
    endless = itertools.count()
    for item in progress(endless, "endless", delay=0):
        if item == 3:
            break
    assert next(endless) == 4 and "endless: 0it" in terminal.getvalue()


def test_an_error_within_comes_out(terminal):
    with pytest.raises(ZeroDivisionError):
        for _ in progress(range(3), delay=0):
            1 / 0  # noqa: B018


def test_a_download_shows_bytes(terminal, monkeypatch, tmp_path):
    monkeypatch.setattr(http_download, "_CHUNK", 1024)
    bar = module.progress_bar
    monkeypatch.setattr(http_download, "progress_bar", lambda *a, **k: bar(*a, **k, delay=0))
    source = tmp_path / "source.bin"
    source.write_bytes(b"x" * 3 * 1024)
    http_download.download("Data", source.as_uri(), str(tmp_path / "target.bin"))
    assert (tmp_path / "target.bin").read_bytes() == source.read_bytes()
    assert "Data: target.bin:   0%" in terminal.getvalue() and "/3.00k" in terminal.getvalue()


def test_a_long_compilation_counts_kernels(terminal, monkeypatch):
    monkeypatch.setattr(module, "_DELAY", 0.0)
    monkeypatch.setattr(module, "_PERIOD", 0.02)
    functions = [F.exp, F.sin, F.tanh, F.erf, F.cos, F.sigmoid]

    @tessera.jit.trace(symbolic=True)
    def step(x):
        for number, (f, g, h) in enumerate(itertools.permutations(functions, 3)):
            x = h(g(f(x))).sum(axis=number % 2, keepdims=True) + x
        return x

    folder, size = tessera.config.get_disk_cache()
    tessera.config.set_disk_cache("")
    try:
        step(F.ones((4, 3)))
    finally:
        tessera.config.set_disk_cache(folder, size)
    counts = [int(n) for n in re.findall(r"compiling: (\d+) kernels", terminal.getvalue())]
    assert counts and counts == sorted(counts) and counts[-1] > 1


def test_a_short_compilation_shows_nothing(terminal):
    double = tessera.jit.trace(lambda x: x * 2 + 1, symbolic=True)
    assert double(tessera.tensor([3.0])).tolist() == [7.0] and terminal.getvalue() == ""


def test_settings():
    assert set_progress(True) is None and set_progress(False) is True
    with pytest.raises(ValueError, match="set_progress: enabled must be True, False or None, got"):
        set_progress("yes")
    assert set_progress(None) is False


def test_without_tqdm():
    code = (
        "from tessera.utils.progress import *\n"
        "sys.stderr.isatty = lambda: True\n"
        "assert list(progress(range(3), delay=0)) == [0, 1, 2]\n"
        "for call in (lambda: progress_bar(enabled=True), lambda: set_progress(True)):\n"
        "    try:\n        call()\n    except ImportError as error: print(error)\n"
    )
    done = run_without("tqdm", code)
    assert done.stderr == "" and done.stdout.startswith(
        "progress_bar: tqdm must be installed (pip install 'tessera[progress]' or tqdm), got "
    )
    assert "\nset_progress: tqdm must be installed" in done.stdout


def test_the_environment_decides():
    code = "from tessera.utils.progress import progress\nfor _ in progress([1], 'x', delay=0): pass"
    for value, is_shown in [("1", True), ("0", False), ("", False)]:
        done = subprocess.run(
            [sys.executable, "-c", f"import os; os.environ['TESS_PROGRESS'] = {value!r}\n{code}"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert ("x:" in done.stderr) == is_shown and done.returncode == 0


def test_a_bar_that_code_moves(terminal):
    with progress_bar("reading", total=4, delay=0) as bar:
        bar.update(4)
    assert "reading:   0%" in terminal.getvalue()


PROGRAM = """
import sys
import tessera, tessera.functional as F
from tessera import jit
from tessera.utils import progress
progress._DELAY, progress._PERIOD = float(sys.argv[1]), 0.02
tessera.config.set_disk_cache("")

def step(x):
    for n in range(60):
        x = F.tanh(F.exp(x * (n + 1)).sum(axis=n % 2, keepdims=True) + x)
    return x

exec(sys.argv[2])
"""
CALLS = {
    "compiling": "jit.trace(step, symbolic=True)(F.ones((4, 3)))",
    "estimating": "jit.estimate(step, jit.Spec((4, 3)), memory_limit=2**20)",
    "explaining": "jit.explain(step, jit.Spec((4, 3)))",
}


def on_terminal(delay, call, **environment):
    """Text that the program writes to a terminal, its standard error stream."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, str(delay), call]
    child = subprocess.Popen(command, stderr=theirs, env={**os.environ, **environment})
    os.close(theirs)
    written = b""
    while chunk := _read(ours):
        written += chunk
    os.close(ours)
    assert child.wait(120) == 0, written
    return written.decode()


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the program has closed it
        return b""


@pytest.mark.parametrize("what", CALLS)
def test_a_terminal_is_told_what_takes_long_and_left_as_it_was(what):
    written = on_terminal(0, CALLS[what])
    states = re.findall(rf"\r{what}: (\d+) kernels([^\r]*?), \d+ s", written)
    assert states and "\n" not in written, written
    assert any(part.strip(", ") for _, part in states), states  # a pass was named
    assert re.search(r"\r +\r$", written), written


def test_a_terminal_is_told_nothing_of_what_is_short_or_switched_off():
    assert on_terminal(1000, CALLS["compiling"]) == ""
    assert on_terminal(0, CALLS["compiling"], TESS_PROGRESS="0") == ""


def test_no_terminal_is_told_nothing():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "0", CALLS["compiling"]],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""


def test_one_line_is_shown_at_a_time(terminal, monkeypatch):
    monkeypatch.setattr(module, "_DELAY", 0.0)
    with module.compiling("outer"), module.compiling("inner"):
        time.sleep(0.1)
    assert "outer: 0 kernels" in terminal.getvalue() and "inner" not in terminal.getvalue()
    with pytest.raises(ZeroDivisionError), module.compiling("again"):
        time.sleep(0.1)
        1 / 0  # noqa: B018
    assert "again: 0 kernels" in terminal.getvalue()


def test_a_line_is_no_wider_than_the_terminal(terminal, monkeypatch):
    monkeypatch.setattr(module, "_DELAY", 0.0)
    with module.compiling("x" * 500):
        time.sleep(0.1)
    assert max(map(len, terminal.getvalue().split("\r"))) == 79


def test_plans_of_memory_are_counted(monkeypatch):
    stats = {"kernels_compiled": 5, "programs": 4}
    core = types.SimpleNamespace(cache_stats=lambda: stats, compiling_part=lambda: "code")
    monkeypatch.setattr(module, "_core", core)
    before = {"kernels_compiled": 2, "programs": 1}
    assert module._state(before, True) == "3 kernels, plan 3 of memory, code"
    assert module._state(before, False) == "3 kernels, code"
