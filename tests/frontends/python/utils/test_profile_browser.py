"""The page of a profile in Chromium: keys, two widths, 100 and 20 000 kernels."""

import os
import time
from pathlib import Path

import pytest
from tessera.utils._profile.page import profile_page
from tessera.utils._profile.recording import Recording

from tests.frontends.python.utils.recordings import recording_of
from tests.support import browser

pytestmark = pytest.mark.skipif(
    not (browser.DRIVER and browser.CHROMIUM),
    reason="Chromium and its driver are not installed (Debian: chromium chromium-driver)",
)
WIDTHS = [1400, 700]
PICTURES = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")  # where Bazel keeps what a test writes
FOCUS = "document.activeElement.id"
EVENT = "document.getElementById('event').textContent"
ROWS = "document.querySelectorAll('#time-table tbody tr').length"


@pytest.fixture(scope="module", params=[100, 20_000])
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    recording = Recording(recording_of(request.param, ["cycles"]))
    path.write_text(profile_page(recording, "profile of process 1", 5))
    return request.param, path


@pytest.fixture(params=WIDTHS)
def opened(request, page, tmp_path):
    count, path = page
    with browser.Browser(tmp_path / "profile", request.param, 1000) as window:
        start = time.perf_counter()
        window.open(path)
        window.seconds = time.perf_counter() - start
        window.count, window.width = count, request.param
        yield window
        if PICTURES:
            window.run("window.scrollTo(0, 0)")
            window.screenshot(Path(PICTURES) / f"profile_{count}_{request.param}.png")
            window.run("document.getElementById('memory-head').scrollIntoView()")
            window.screenshot(Path(PICTURES) / f"profile_memory_{count}_{request.param}.png")


def test_the_page_is_drawn_and_fits(opened):
    assert opened.seconds < 20
    assert opened.run(ROWS) == 4
    assert opened.run("document.querySelectorAll('#besides-table tbody tr').length") == 3
    assert opened.run("document.querySelectorAll('#arena .piece').length") >= 100
    assert opened.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.run("canvas.clientHeight") >= 3 * 22
    pixels = "Array.from(canvas.getContext('2d').getImageData(200, 40, 200, 40).data)"
    assert opened.run(f"new Set({pixels}).size") > 3  # something is drawn there


def test_time_is_added_up_by_what_the_user_chooses(opened):
    rows = {"operator": 4, "line": 20, "module": 5, "kind": 2}
    for column, count in rows.items():
        opened.run(f"document.getElementById('by').value = '{column}'")
        opened.run("document.getElementById('by').dispatchEvent(new Event('change'))")
        assert opened.run(ROWS) == count
        head = "document.querySelector('#time-table thead').textContent"
        assert opened.run(head).startswith(column)
    opened.run("document.getElementById('filter').focus()")
    opened.press("library")
    assert opened.run(ROWS) == 1
    text = opened.run("document.getElementById('row-count').textContent")
    assert text == "1 of 2 rows"
    opened.run("document.querySelector('#time-table [data-column=\"1\"]').click()")
    assert opened.run("times.column") == 1


def test_the_timeline_moves_by_keys(opened):
    opened.run("canvas.focus()")
    opened.press("Right", "Right")
    first = opened.run(EVENT)
    opened.press("Left")
    assert opened.run(EVENT) != first and opened.run("chosen") == 0
    whole = opened.run("span.end - span.begin")
    opened.press("+", "+")
    assert opened.run("span.end - span.begin") == pytest.approx(whole / 2.25)
    begin = opened.run("span.begin")
    opened.press("PageDown")
    assert opened.run("span.begin") > begin
    opened.press("Enter")
    assert opened.run("span.end - span.begin") < whole / 2.25
    opened.press("Escape")
    assert opened.run("span.end - span.begin") == whole


def test_search_shows_an_event(opened):
    opened.run("document.getElementById('search').focus()")
    opened.press("code compile")
    assert opened.run("document.getElementById('found-count').textContent") == "1 found"
    opened.press("Enter")
    assert opened.run(FOCUS) == "lanes" and opened.run(EVENT).startswith("code, compile: 50.0 us")
    assert opened.run("span.end - span.begin") == pytest.approx(75)


def test_a_click_chooses_what_lies_there(opened):
    opened.run("show(0, 100)")
    place = opened.run(
        "(() => { const box = canvas.getBoundingClientRect();"
        "return [box.left + xOf(events.find((e) => e[0] === 1)[1] + 2), box.top + 24 + 33]; })()"
    )
    event = "{{clientX: {}, clientY: {}, bubbles: true}}".format(*place)
    for kind in ("pointerdown", "pointerup"):
        opened.run(f"canvas.dispatchEvent(new PointerEvent('{kind}', {event}))")
    assert "train.py:10 (net.layer0): 8.0 us, from 1.0 us" in opened.run(EVENT)


def test_tab_reaches_each_part_in_order(opened):
    order = []
    for _ in range(30):
        opened.press("Tab")
        order.append(opened.run(FOCUS))
    wanted = ["by", "filter", "search", "zoom-in", "zoom-out", "fit", "lanes", "arena"]
    places = [order.index(name) for name in wanted]
    assert places == sorted(places)


def test_memory_moves_from_the_peak_and_back(opened):
    opened.run("document.getElementById('arena').focus()")
    peak = opened.run("memory.now")
    assert opened.run("document.getElementById('live-head').textContent").endswith(": the peak")
    assert opened.run("document.querySelectorAll('#live-table tbody tr').length") >= 3
    opened.press("Right", "Right", "Left")
    assert opened.run("memory.now") == min(peak + 1, opened.run("memory.last"))
    opened.press("Escape")
    assert opened.run("memory.now") == peak
    middle = opened.run("memory.at(0.5)")
    assert 0 < middle < opened.run("memory.last")
