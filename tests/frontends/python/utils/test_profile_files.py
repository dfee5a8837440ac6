"""Files of a profile: memory_flow.svg, the HTML page, traces of several processes."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from tessera import functional as F  # noqa: N812
from tessera.utils._profile.flow import BEFORE, flow_of
from tessera.utils._profile.lanes import lanes_of
from tessera.utils._profile.page import profile_page
from tessera.utils._profile.picture import picture_of
from tessera.utils._profile.recording import Recording
from tessera.utils.profiler import Profiler, merge_trace_events

from tests.frontends.python.utils.recordings import MIB, recording_of
from tests.support.page import Page

SVG = "{http://www.w3.org/2000/svg}"


def block(phase, number, size=MIB, **more):
    args = {"memory": "cpu0", "bytes": size, **more}
    return {"name": "block", "cat": "memory", "ph": phase, "ts": 0.0, "id": number, "args": args}


def test_blocks_live_from_taken_to_given_back():
    events = [
        block("N", "a", 10, operator="exp", location="t.py:1"), block("N", "b", 20),
        block("D", "a", 10), block("D", "c", 5), block("N", "a", 40),
    ]  # fmt: skip
    flow = flow_of(events)
    spans = [(piece.bytes, piece.first, piece.last) for piece in flow.pieces]
    assert spans == [(10, 1, 2), (20, 2, 5), (5, 0, 3), (40, 5, 5)]
    assert flow.live == [5, 15, 35, 25, 20, 60]
    assert (flow.peak.step, flow.peak.bytes) == (5, 60)
    assert [piece.bytes for piece in flow.peak.pieces] == [40, 20]
    assert flow.pieces[2].operator == BEFORE
    assert flow_of([]) is None


def test_blocks_that_no_event_is_about_are_counted():
    point = {"name": "memory of cpu0", "ph": "C", "ts": 0.0, "args": {"bytes": 5 * MIB}}
    flow = flow_of([point, block("N", "a"), block("D", "b", 2 * MIB)])
    assert flow.kept == 2 * MIB and flow.live == [2 * MIB, 3 * MIB, MIB]
    assert flow.peak_text.endswith("ms, beside 2.0 MiB that were there all the time")


def test_the_memory_with_the_highest_peak_is_shown():
    events = [block("N", "a", 10), block("N", "b", 20, memory="sim0"), block("D", "a", 10)]
    assert flow_of(events).memory == "sim0"


def test_blocks_that_live_together_do_not_overlap():
    flow = flow_of(json.loads(recording_of(300))["traceEvents"])
    pieces = sorted(flow.largest(), key=lambda piece: piece.first)
    assert len(pieces) == 301
    for number, one in enumerate(pieces):
        for other in pieces[number + 1 :]:
            if other.first > one.last:
                continue
            ends = one.offset + one.bytes, other.offset + other.bytes
            assert ends[0] <= other.offset or ends[1] <= one.offset
    assert max(piece.offset + piece.bytes for piece in pieces) < 2 * flow.peak.bytes


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_the_picture_needs_nothing_else(count):
    flow = flow_of(json.loads(recording_of(count))["traceEvents"])
    text = picture_of(flow, "a <profile> & more", 5)
    root = ElementTree.fromstring(text)
    assert root.tag == SVG + "svg" and not list(root.iter(SVG + "script"))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|href", text)
    boxes = [each for each in root.iter(SVG + "rect") if each.get("class") == "block"]
    assert len(boxes) == count + 1
    width, height = float(root.get("width")), float(root.get("height"))
    for box in boxes:
        assert 0 <= float(box.get("x")) <= width and 0 <= float(box.get("y")) <= height
        assert float(box.get("width")) > 0 and float(box.get("height")) > 0
    titles = [box.find(SVG + "title").text for box in boxes]
    if count:
        assert any(title.startswith("matmul f32[") and "train.py:" in title for title in titles)
    shown = [each.text for each in root.iter(SVG + "text")]
    assert "a <profile> & more" in shown and any("peak of cpu0" in each for each in shown)
    assert len(text) < 1000 * (count + 20)


def test_a_picture_of_nothing_says_so():
    root = ElementTree.fromstring(picture_of(None, "profile", 5))
    assert "no block of memory" in root.find(SVG + "text").text


def test_the_page_needs_nothing_else_and_has_all():
    recording = Recording(recording_of(1000, ["cycles"]))
    text = profile_page(recording, "profile </script> of 1", 3)
    page = Page(text)
    assert not any("src" in attrs for _, attrs in page.tags)
    links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
    assert links == ["#time", "#timeline", "#memory", "#besides"]
    assert not any(word in text for word in ("http://", "https://", "import(", "fetch(", "url("))
    data = page.data
    assert {row[0] for row in data["tables"]["kind"]} == {"kernel", "library"}
    calls, total = (sum(row[n] for row in data["tables"]["line"]) for n in (1, 2))
    assert (calls, total) == (1000, 8000)
    assert sum(row[5] for row in data["tables"]["operator"]) == 100 * sum(range(1000))
    assert [row[:2] for row in data["besides"]] == [
        ["work in the queue", 1000], ["compile: code", 1], ["wait for a result", 1]
    ]  # fmt: skip
    flow, memory = flow_of(recording.events), data["memory"]
    assert max(memory["live"]) == memory["live"][memory["peak"]] == flow.peak.bytes
    assert len(memory["pieces"]) == 1001 and memory["others"] == 0
    assert len(data["timeline"]["events"]) == 1000 + 100 + 1000 + 2
    assert data["timeline"]["marks"] == [[10000.0, "step 1"]]


def test_memory_of_a_long_recording_is_bounded():
    data = Page(profile_page(Recording(recording_of(5000)), "long", 3)).data["memory"]
    assert len(data["pieces"]) == 2000 and data["others"] == 3001
    assert len(data["live"]) <= 4002 and len(data["times"]) == len(data["live"]) + 1
    assert all(0 <= p["first"] <= p["last"] < len(data["live"]) for p in data["pieces"])


def test_events_lie_below_those_that_hold_them():
    names, placed = lanes_of(json.loads(recording_of(30))["traceEvents"])
    assert names == ["thread 7", "", "work in the queue"]
    lanes = {(event["cat"], lane) for lane, event in placed}
    assert {("scope", 0), ("kernel", 1), ("library", 1), ("queue", 2)} <= lanes
    for lane in range(3):
        spans = sorted((e["ts"], e["ts"] + e.get("dur", 1)) for n, e in placed if n == lane)
        assert all(a[1] <= b[0] + 1e-3 for a, b in zip(spans, spans[1:], strict=False))


def test_a_page_of_nothing():
    profiler = Profiler().start()
    profiler.stop()
    data = Page(profile_page(Recording(profiler.json()), "nothing", 3)).data
    assert data["tables"]["operator"] == [] and data["timeline"]["marks"] == []


def test_all_formats_are_written(tmp_path):
    formats = ["chrome_timeline.json", "memory_flow.svg", "html"]
    with Profiler(tmp_path, formats=formats) as profiler:
        x = F.ones((256, 256))
        F.matmul(x, x)
    names = [f"{os.getpid()}.{format}" for format in formats]
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert profiler.path == str(tmp_path / names[0]) and profiler.formats == formats
    svg = (tmp_path / names[1]).read_text()
    assert "test_profile_files.py:" in svg and "f32[256, 256]" in svg
    page = Page((tmp_path / names[2]).read_text())
    assert any(row[0] == "matmul" for row in page.data["tables"]["operator"])
    path = profiler.to_html(tmp_path / "other.html")
    assert path.read_text() == (tmp_path / names[2]).read_text()


def test_a_page_that_cannot_be_written(tmp_path):
    profiler = Profiler()
    with pytest.raises(RuntimeError, match="Profiler: to_html must come after stop, got no stop"):
        profiler.to_html(tmp_path / "page.html")
    profiler.start().stop()
    with pytest.raises(OSError, match="to_html: path must be writable, got No such file"):
        profiler.to_html(tmp_path / "none" / "page.html")


def trace_of(folder, process, origin, text=None):
    trace = json.loads(recording_of(2))
    trace["otherData"]["originMicroseconds"] = origin
    for event in trace["traceEvents"]:
        event["pid"] = process
    path = folder / f"{process}.chrome_timeline.json"
    path.write_text(json.dumps(trace) if text is None else text)
    return trace


def test_traces_of_processes_are_on_one_clock(tmp_path):
    first, second = trace_of(tmp_path, 11, 5000), trace_of(tmp_path, 12, 5250)
    (tmp_path / "notes.txt").write_text("no trace")
    path = merge_trace_events(tmp_path)
    assert path == str(tmp_path / "merge.chrome_timeline.json")
    merged = json.loads((tmp_path / "merge.chrome_timeline.json").read_text())
    names = [e["args"]["name"] for e in merged["traceEvents"] if e["name"] == "process_name"]
    assert names == ["process 11", "process 12"]
    for trace, process, shift in ((first, 11, 0), (second, 12, 250)):
        own = [e for e in merged["traceEvents"] if e["pid"] == process and e["ph"] != "M"]
        assert [e["ts"] - shift for e in own] == [e["ts"] for e in trace["traceEvents"]]
    assert merged["otherData"]["originMicroseconds"] == 5000
    assert merge_trace_events(str(tmp_path)) == path  # its own file is no input


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"traceEvents": [], "otherData": {}}', "{"])
def test_what_no_profiler_wrote_is_refused(tmp_path, text):
    trace_of(tmp_path, 11, 5000)
    trace_of(tmp_path, 12, 5000, text)
    with pytest.raises(
        ValueError, match=r"12\.chrome_timeline\.json must be written by a Profiler"
    ):
        merge_trace_events(tmp_path)


def test_folders_without_traces_are_refused(tmp_path):
    with pytest.raises(ValueError, match="merge_trace_events: directory must have files PID"):
        merge_trace_events(tmp_path)
    with pytest.raises(FileNotFoundError):
        merge_trace_events(tmp_path / "none")


def test_profiles_of_two_processes(tmp_path):
    script = (
        "import sys, tessera as ts\nfrom tessera.utils.profiler import Profiler\n"
        "with Profiler(sys.argv[1]):\n    (ts.tensor([1.0]) + 1).numpy()\n"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, tmp_path], check=True, timeout=120)
    with open(merge_trace_events(tmp_path)) as file:
        events = json.load(file)["traceEvents"]
    assert len({event["pid"] for event in events if event["name"] == "add"}) == 2
