"""The page of an explanation in Chromium: keys, two widths, 100 and 20 000 operators."""

import os
import time
from pathlib import Path

import pytest
from tessera.jit.explain import Explanation

from tests.frontends.python.jit.accounts import account_of
from tests.support import browser

pytestmark = pytest.mark.skipif(
    not (browser.DRIVER and browser.CHROMIUM),
    reason="Chromium and its driver are not installed (Debian: chromium chromium-driver)",
)
WIDTHS = [1400, 700]
PICTURES = os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR")  # where Bazel keeps what a test writes
FOCUS = "document.activeElement.id"
CHOSEN = "document.querySelector('#details h3').textContent"


@pytest.fixture(scope="module", params=[100, 20_000])
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    return request.param, Explanation(account_of(request.param), "step").to_html(path)


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
            window.screenshot(Path(PICTURES) / f"{count}_{request.param}.png")


def test_the_page_is_drawn_and_fits(opened):
    assert opened.seconds < 10
    assert opened.run("document.querySelectorAll('#view .box').length") >= 2
    assert opened.run("document.querySelectorAll('#step-table tbody tr').length") >= 30
    assert opened.run("document.querySelectorAll('#arena .piece').length") >= 30
    assert opened.run("document.documentElement.scrollWidth <= window.innerWidth")
    details, canvas = (
        opened.run(f"document.getElementById('{name}').getBoundingClientRect().top")
        for name in ("details", "canvas")
    )
    assert (details == canvas) == (opened.width == 1400)  # beside the graph, else below it


def test_groups_open_and_close_by_keys(opened):
    opened.run("document.getElementById('canvas').focus()")
    before = opened.run("boxes.size")
    opened.press("Down", "Right")
    label = opened.run(CHOSEN)
    assert opened.run("boxes.size") > before and label != "step"
    opened.press("Down")
    assert opened.run(CHOSEN) != label
    opened.press("Left", "Left")
    assert opened.run("boxes.size") == before
    opened.press("Escape")
    assert opened.run(CHOSEN).startswith("step")


def test_search_opens_the_way_to_an_operator(opened):
    last = f"%{opened.count + 1} "
    opened.run("document.getElementById('search').focus()")
    opened.press(last)
    assert "1 found" in opened.run("document.getElementById('found-count').textContent")
    opened.press("Enter")
    assert opened.run(FOCUS) == "canvas" and opened.run("boxes.has(chosen)")
    assert opened.run("chosen") == opened.count - 1
    box = "document.querySelector('.box.chosen').getBoundingClientRect()"
    frame = "document.getElementById('canvas').getBoundingClientRect()"
    assert opened.run(f"{box}.top >= {frame}.top && {box}.bottom <= {frame}.bottom")
    assert opened.run(f"{box}.left >= {frame}.left - 1 && {box}.right <= {frame}.right + 1")


def test_tab_reaches_each_part_in_order(opened):
    order = []
    for _ in range(30):
        opened.press("Tab")
        order.append(opened.run(FOCUS))
    wanted = ["search", "zoom-in", "zoom-out", "fit", "fold", "canvas", "filter"]
    places = [order.index(name) for name in wanted]
    assert places == sorted(places)
    opened.run("document.getElementById('canvas').focus()")
    opened.press("Tab", "Tab")  # the focus is shown where keys move it
    opened.run("document.getElementById('fit').focus()")
    opened.press("Tab")
    shown = "getComputedStyle(document.activeElement).outlineStyle"
    assert opened.run(FOCUS) == "fold" and opened.run(shown) == "solid"


def test_memory_moves_from_the_peak_and_back(opened):
    opened.run("document.getElementById('arena').focus()")
    peak = opened.run("memory.now")
    assert opened.run("document.getElementById('live-head').textContent").endswith(": the peak")
    opened.press("Right", "Right", "Left")
    assert opened.run("memory.now") == min(peak + 1, opened.run("memory.last"))
    opened.press("Escape")
    assert opened.run("memory.now") == peak
    assert opened.run("document.getElementById('arena').getAttribute('aria-valuenow')") == str(peak)


def test_steps_sort_and_filter(opened):
    opened.run("document.querySelector('#step-table [data-column=\"5\"]').click()")
    text = "document.querySelector('#step-table tbody tr').cells[1].textContent"
    assert opened.run(text) == "library"
    opened.run("document.getElementById('filter').focus()")
    opened.press("relu")
    assert opened.run(text) == "kernel"
    count = opened.run("document.getElementById('step-count').textContent")
    assert count.endswith(f"of {opened.run('data.steps.length')} steps")
    opened.run("document.querySelector('#step-table tbody button').click()")
    assert opened.run(FOCUS) == "canvas" and opened.run("chosen") >= 0
