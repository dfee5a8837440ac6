"""utils.profiler: what it records, where it writes it."""

import json
import os

import pytest
import tessera
from tessera import functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera.utils.profiler import Profiler, is_profiling, profile, scope


def names(profiler, category):
    return [event["name"] for event in profiler.events() if event["cat"] == category]


def test_the_file_is_a_chrome_trace(tmp_path):
    x = F.ones((64, 64))
    with Profiler(tmp_path / "new") as profiler:
        assert is_profiling()
        F.matmul(x, x)
    assert not is_profiling()
    assert profiler.path == str(tmp_path / "new" / f"{os.getpid()}.chrome_timeline.json")
    with open(profiler.path) as file:
        trace = json.load(file)
    assert trace["traceEvents"] == profiler.events() and trace["otherData"]["droppedEvents"] == 0
    (event,) = [event for event in trace["traceEvents"] if event["cat"] == "library"]
    assert event["name"] == "matmul" and event["ph"] == "X" and event["dur"] > 0
    assert event["ts"] >= 0 and event["pid"] == os.getpid() and "memory" in str(trace)


def test_only_what_happens_between_start_and_stop_is_recorded():
    x = tessera.tensor([1.0, 2.0])
    y = F.exp(x)
    profiler = Profiler().start()
    z = F.cos(x)
    profiler.stop()
    F.tanh(x)
    tessera.sync()
    assert names(profiler, "kernel") == ["cos"]
    profiler.start()
    profiler.stop()
    assert names(profiler, "kernel") == [] and y.shape == z.shape


def test_operators_of_a_trace_come_with_line_and_module():
    net = M.Sequential(M.Linear(4, 2), M.ReLU())
    step = tessera.jit.trace(net.forward, symbolic=True)
    x = F.ones((3, 4))
    step(x), step(x)
    profiler = Profiler().start()
    step(x)
    profiler.stop()
    places = [event["args"].get("location", "") for event in profiler.events()]
    assert any("test_profiler.py:" in place and "(0)" in place for place in places), places


def test_a_scope_names_operators_of_a_trace():
    @tessera.jit.trace(symbolic=True)
    def step(x):
        with scope("head"):
            return F.exp(x)

    x = tessera.tensor([1.0])
    step(x), step(x)
    profiler = Profiler().start()
    step(x)
    profiler.stop()
    assert any("(head)" in event["args"].get("location", "") for event in profiler.events())


def test_a_decorated_function_writes_a_profile_for_each_call(tmp_path):
    @profile(path=tmp_path)
    def step():
        tessera.sync()
        return 3

    assert step() == 3 and len(os.listdir(tmp_path)) == 1
    os.remove(tmp_path / os.listdir(tmp_path)[0])
    assert step() == 3 and len(os.listdir(tmp_path)) == 1


def test_an_error_within_ends_the_recording_and_keeps_it(tmp_path):
    profiler = Profiler(tmp_path)
    with pytest.raises(ZeroDivisionError), profiler:
        F.exp(tessera.tensor([1.0]))
        1 / 0  # noqa: B018
    assert not is_profiling() and os.path.exists(profiler.path)
    assert names(profiler, "kernel") == ["exp"]


def test_an_error_of_queued_work_comes_out_of_stop():
    x = tessera.tensor([1.0, 2.0])
    profiler = Profiler().start()
    bad = x[tessera.tensor([5])]
    with pytest.raises(IndexError, match="5"):
        profiler.stop()
    assert not is_profiling() and profiler.events() and bad is not None


def test_misuse():
    profiler = Profiler()
    with pytest.raises(RuntimeError, match="Profiler: stop must come after start, got no start"):
        profiler.stop()
    with pytest.raises(RuntimeError, match="Profiler: dump must come after stop, got no stop"):
        profiler.dump()
    profiler.start()
    with pytest.raises(RuntimeError, match="one profiler must record at a time, got a second"):
        Profiler().start()
    profiler.stop()
    wrong = {
        "Profiler: format must be one of .'chrome_timeline.json', .*, got 'svg'": {"format": "svg"},
        "Profiler: formats must be a list of formats, got 'html'": {"formats": "html"},
        "Profiler: formats must be a list of formats, got ..": {"formats": []},
        "Profiler: sample_rate must be at least 0, got -1": {"sample_rate": -1},
        "Profiler: num_tensor_watch must be at least 0, got -2": {"num_tensor_watch": -2},
        "Profiler: counters must be at most four of .*, got .'watts'.": {"counters": ["watts"]},
        "Profiler: counters must be at most four": {"counters": ["cycles"] * 5},
    }
    for text, options in wrong.items():
        with pytest.raises(ValueError, match=text):
            Profiler(**options)
    with pytest.raises(RuntimeError, match="Profiler: step must come after start, got no start"):
        profiler.step()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    profiler = Profiler(tmp_path / "file" / "below").start()
    profiler.stop()
    with pytest.raises(OSError, match="Profiler: folder must be writable, got Not a directory"):
        profiler.dump()


def steps(profiler):
    return [event for event in profiler.events() if event["cat"] in ("kernel", "library")]


def test_a_kernel_is_called_by_what_it_does():
    step = tessera.jit.trace(lambda x, y: F.relu(x * 2 + y).sum(), symbolic=True)
    x = F.ones((64, 64))
    step(x, x + 1), step(x, x + 1)
    profiler = Profiler().start()
    step(x, x + 1)
    profiler.stop()
    found = [event["name"] for event in steps(profiler)]
    assert not [name for name in found if name.startswith("kernel")], found
    assert "mul add relu sum" in found or {"mul add relu", "sum"} <= set(found), found


def test_eager_operators_come_with_line_and_module():
    net = M.Sequential(M.Linear(64, 64), M.ReLU())
    small, large = F.ones((1, 64)), F.ones((512, 64))
    net(small), net(large)
    profiler = Profiler().start()
    net(small), net(large)  # at once, and by the queue
    F.exp(small)
    profiler.stop()
    places = {event["args"].get("location") for event in steps(profiler)}
    assert all(place and place.startswith("test_profiler.py:") for place in places), places
    assert {place.partition(" ")[2] for place in places} == {"(Sequential.0)", "(Sequential.1)", ""}


def test_the_summary_adds_up(capsys):
    net = M.Sequential(M.Linear(64, 64), M.ReLU())
    x = F.ones((8, 64))
    net(x)
    profiler = Profiler()
    with pytest.raises(RuntimeError, match="summary must come after stop"):
        profiler.summary()
    profiler.start()
    for _ in range(3):
        net(x)
    profiler.stop()
    profiler.summary()
    table, *more = capsys.readouterr().out.split("\n\n")
    head, *rows = table.splitlines()
    columns = "operator module line calls total us mean us share"
    assert " ".join(head.split()) == columns
    times = [float(row.split()[-4]) for row in rows]
    assert times == sorted(times, reverse=True)
    assert sum(times) == pytest.approx(sum(event["dur"] for event in steps(profiler)), abs=1)
    assert any(row.startswith("relu") and " 3 " in row for row in rows), rows
    assert more[-1].startswith("peak of cpu0: ") and "test_profiler.py:" in more[-1]


def test_columns_and_rows_of_the_summary(capsys):
    net = M.Sequential(M.Linear(64, 64), M.ReLU())
    profiler = Profiler().start()
    net(F.ones((8, 64)))
    profiler.stop()
    profiler.summary(by=["module"], limit=1)
    head, first, rest = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert head.startswith("module ") and "more" in rest and "%" in first
    for wrong in ((), ("name",)):
        with pytest.raises(ValueError, match="summary: by must name columns of"):
            profiler.summary(by=wrong)
    with pytest.raises(ValueError, match="summary: limit must be at least 0, got -1"):
        profiler.summary(limit=-1)
    profiler.start()
    profiler.stop()
    profiler.summary()
    assert len(capsys.readouterr().out.splitlines()) == 1
