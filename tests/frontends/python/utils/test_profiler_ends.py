"""utils.profiler: how a recording ends, by errors, threads, processes and the program's end."""

import json
import subprocess
import sys
import threading

import pytest
from tessera import functional as F  # noqa: N812
from tessera.utils.profiler import Profiler, is_profiling, profile


def test_the_function_knows_its_profiler(tmp_path):
    @profile(tmp_path)
    def step():
        return 1

    assert step.__profiler__.directory == str(tmp_path)


def test_an_error_of_the_code_comes_before_one_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ZeroDivisionError), Profiler(tmp_path / "file"):
        1 / 0  # noqa: B018
    assert not is_profiling()
    with (
        pytest.raises(OSError, match="Profiler: folder must be writable"),
        Profiler(tmp_path / "file"),
    ):
        pass


def test_nested_profilers_leave_the_outer_one():
    with pytest.raises(RuntimeError, match="got a second"):
        start_both()
    assert not is_profiling()


def start_both():
    outer = Profiler().start()
    try:
        Profiler().start()
    finally:
        outer.stop()


def test_stopped_twice():
    profiler = Profiler().start()
    profiler.stop()
    recorded = profiler.json()
    with pytest.raises(RuntimeError, match="Profiler: stop must come after start, got no start"):
        profiler.stop()
    assert profiler.json() == recorded


def test_threads_record_into_one_profile_and_only_one_starts():
    x, refused = F.ones((8, 8)), []
    profiler = Profiler().start()

    def work(function):
        for _ in range(50):
            function(x)
        try:
            Profiler().start()
        except RuntimeError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=work, args=(each,)) for each in (F.exp, F.cos)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    profiler.stop()  # of another thread than those that worked
    kernels = [event for event in profiler.events() if event["cat"] == "kernel"]
    names = [event["name"] for event in kernels]
    assert (names.count("exp"), names.count("cos")) == (50, 50)
    assert len({event["tid"] for event in kernels}) == 2 and len(refused) == 2


def run(code, folder):
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_profiler_that_nobody_stops_ends_with_the_program(tmp_path):
    done = run(
        "import sys, tessera as ts\nfrom tessera.utils.profiler import Profiler\n"
        "profiler = Profiler(sys.argv[1]).start()\nx = ts.tensor([1.0]) + 1\n", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0 and "a profiler was never stopped" in done.stderr, done.stderr
    (path,) = tmp_path.iterdir()
    trace = json.loads(path.read_text())
    assert any(event["name"] == "add" for event in trace["traceEvents"])


def test_a_profile_that_cannot_be_written_at_exit_is_lost(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(
        "import sys, tessera as ts\nfrom tessera.utils.profiler import Profiler\n"
        "profiler = Profiler(sys.argv[1] + '/file').start()\n", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0 and "its profile is lost: " in done.stderr, done.stderr


def test_a_forked_child_does_not_record(tmp_path):
    done = run(
        "import os, sys, tessera as ts\nfrom tessera.utils.profiler import Profiler, is_profiling\n"
        "profiler = Profiler(sys.argv[1]).start()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    (ts.tensor([1.0]) + 1).numpy()\n"
        "    assert not is_profiling() and not ts._core.is_profiling()\n"
        "    Profiler().start().stop()\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "profiler.stop()\nprofiler.dump()\n", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    names = [event["name"] for event in json.loads(path.read_text())["traceEvents"]]
    assert "add" not in names
