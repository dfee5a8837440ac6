"""utils.profiler: kinds of events, and the options that ask for them."""

import json

import pytest
import tessera
from tessera import functional as F  # noqa: N812
from tessera import module as M  # noqa: N812
from tessera.utils.profiler import Profiler, scope

STEPS = "kernel", "library"


def of_category(profiler, *categories):
    return [event for event in profiler.events() if event["cat"] in categories]


def names(profiler, category):
    return [event["name"] for event in of_category(profiler, category)]


def test_options_of_megengine():
    options = {"sample_rate": 0, "profile_device": 1, "num_tensor_watch": 10, "enable_cupti": 1}
    profiler = Profiler("folder", format=Profiler.CHROME_TIMELINE, with_backtrace=False, **options)
    assert profiler.directory == "folder" and profiler.formats == ["chrome_timeline.json"]
    x = F.ones((8, 8))
    for cupti in (0, 1):  # has no meaning
        profiler = Profiler(enable_cupti=cupti).start()
        F.exp(x)
        profiler.stop()
        assert names(profiler, "kernel") == ["exp"]


def test_a_profile_without_the_device():
    x = F.ones((512, 512))
    profiler = Profiler(profile_device=False).start()
    F.matmul(x, x).numpy()
    profiler.stop()
    assert not of_category(profiler, *STEPS) and of_category(profiler, "memory")


def test_every_nth_change_of_memory_is_a_point():
    def points(rate):
        profiler = Profiler(sample_rate=rate).start()
        kept = [F.exp(x) for _ in range(20)]
        profiler.stop()
        assert len(kept) == 20
        phases = [event["ph"] for event in of_category(profiler, "memory")]
        return phases.count("C"), phases.count("N")

    x = F.ones((256, 256))
    F.exp(x)
    tessera.sync()
    for rate in (0, 1):
        all_points, blocks = points(rate)
        assert all_points >= blocks >= 20
    few, blocks = points(10)
    assert blocks >= 20 and few == pytest.approx(all_points / 10, abs=1)


def test_blocks_come_with_operator_line_and_type():
    x = F.ones((256, 256))
    tessera.sync()
    profiler = Profiler().start()
    y = F.exp(x)
    profiler.stop()
    (block,) = [e for e in of_category(profiler, "memory") if e["ph"] == "N"]
    assert block["args"]["operator"] == "exp" and block["args"]["bytes"] >= y.size * 4
    assert block["args"]["location"].startswith("test_profiler_events.py:")
    (typed,) = [e for e in of_category(profiler, "memory") if e["ph"] == "O"]
    assert typed["id"] == block["id"] and typed["args"]["snapshot"] == {"type": "f32[256, 256]"}


def test_the_largest_blocks_of_the_peak_are_named(capsys):
    x = F.ones((256, 256))
    profiler = Profiler(num_tensor_watch=2).start()
    kept = [F.exp(x), F.cos(x[:128]), F.tanh(x[:64])]
    profiler.stop()
    profiler.summary()
    peak, head, *rows = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    assert peak.startswith("peak of cpu0: ") and head.split() == [
        "bytes",
        "operator",
        "type",
        "line",
    ]
    assert ["exp" in rows[0], "cos" in rows[1], len(rows)] == [True, True, 2] and kept


def test_scopes_are_events():
    net = M.Sequential(M.Linear(8, 8), M.ReLU())
    x = F.ones((4, 8))
    for wanted in (True, False):
        profiler = Profiler(with_scopes=wanted).start()
        with scope("outer"):
            net(x)
        profiler.stop()
        found = of_category(profiler, "scope")
        if not wanted:
            assert not found
            continue
        spans = {event["name"]: event for event in found}
        assert {"outer", "outer.Sequential", "outer.Sequential.0"} <= set(spans)
        for inner, outer in (
            ("outer.Sequential.0", "outer.Sequential"),
            ("outer.Sequential", "outer"),
        ):
            a, b = spans[inner], spans[outer]
            assert b["ts"] <= a["ts"] and a["ts"] + a["dur"] <= b["ts"] + b["dur"]


def test_a_scope_that_the_recording_saw_in_part_is_no_event():
    profiler = Profiler(with_scopes=True)
    with scope("begun"):
        profiler.start()
    with scope("whole"):
        pass
    with scope("ended"):
        profiler.stop()
    assert [event["name"] for event in of_category(profiler, "scope")] == ["whole"]


def inner(x):
    return F.exp(x)


def outer(x):
    return inner(x)


def test_calls_that_lead_to_an_operator():
    for wanted in (True, False):
        profiler = Profiler(with_backtrace=wanted).start()
        outer(F.ones((256, 256)))
        profiler.stop()
        calls = [event["args"].get("calls", "") for event in of_category(profiler, "kernel")]
        found = any(
            " in inner < test_profiler_events.py:" in text and " in outer < " in text
            for text in calls
        )
        assert found == wanted, calls


def test_work_in_the_queue_and_waits_are_events(capsys):
    x = F.ones((512, 512))
    tessera.sync()
    profiler = Profiler().start()
    for _ in range(4):
        x = F.matmul(x, x)
    x.numpy()
    profiler.stop()
    queued = of_category(profiler, "queue")
    begun = {event["id"]: event for event in queued if event["ph"] == "b"}
    ended = {event["id"]: event for event in queued if event["ph"] == "e"}
    assert len(begun) >= 3 and begun.keys() == ended.keys()
    for number, event in begun.items():
        assert event["name"] == ended[number]["name"] == "matmul"
        waited = ended[number]["ts"] - event["ts"]
        assert event["args"]["waited"] == pytest.approx(waited, abs=0.01) and waited >= 0
    waits = of_category(profiler, "wait")
    assert waits and all(
        event["args"]["location"].startswith("test_profiler_events.py") for event in waits
    )
    profiler.summary()
    out = capsys.readouterr().out
    assert "work in the queue" in out and "wait for " in out


def test_compilations_are_events(capsys):
    x = F.ones((5, 7))
    folder, size = tessera.config.get_disk_cache()
    tessera.config.set_disk_cache("")
    try:
        profiler = Profiler().start()
        step = tessera.jit.trace(lambda x: F.exp(x * 3 + 1).sum(axis=0) - 5, symbolic=True)
        step(x), step(x)
        profiler.stop()
    finally:
        tessera.config.set_disk_cache(folder, size)
    parts = names(profiler, "compile")
    assert {"steps", "code"} <= set(parts) and any("fuse" in part for part in parts), parts
    profiler.summary()
    assert "compile: code" in capsys.readouterr().out


def test_steps_are_marks():
    profiler = Profiler().start()
    assert profiler.step() is profiler
    profiler.step()
    profiler.stop()
    assert names(profiler, "step") == ["step 1", "step 2"]


def test_counters_come_with_steps_or_a_note_says_why_not(capsys):
    x = F.ones((512, 512))
    profiler = Profiler(counters=["task-clock", "page-faults"], with_scopes=True).start()
    with scope("part"):
        F.matmul(x, x).numpy()
    profiler.stop()
    other = json.loads(profiler.json())["otherData"]
    (product,) = of_category(profiler, "library")
    profiler.summary()
    out = capsys.readouterr().out
    if "counterNote" in other:
        assert "task-clock" not in product["args"]
        assert f"no hardware counters: {other['counterNote']}" in out
    else:
        assert product["args"]["task-clock"] > 0 and product["args"]["page-faults"] >= 0
        assert of_category(profiler, "scope")[0]["args"]["task-clock"] > 0
        assert out.splitlines()[0].split()[-2:] == ["task-clock", "page-faults"]
