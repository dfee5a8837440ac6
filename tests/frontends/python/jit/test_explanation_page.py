"""Explanation.to_html: one page that needs nothing else, its groups, layouts and errors."""

import itertools
import json
import os
import random
import sys

import pytest
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.jit import Spec, explain
from tessera.jit.explain import Explanation
from tessera.jit.explanation.groups import MOST_CHILDREN
from tessera.jit.explanation.layout import layers_of

from tests.frontends.python.jit.accounts import account_of
from tests.support.page import Page


def page_of(account, folder):
    path = account.to_html(folder / "page.html")
    return Page(path.read_text())


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.blocks = M.Sequential(*(M.Linear(8, 8) for _ in range(3)))

    def forward(self, x):
        return F.relu(self.blocks(x))


def test_the_page_needs_nothing_else(tmp_path):
    text = explain(Net(), Spec((4, 8))).to_html(tmp_path / "page.html").read_text()
    page = Page(text)
    assert not any({"src", "href"} & set(attrs) - {"href"} for _, attrs in page.tags)
    links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
    assert links == ["#graph", "#steps", "#memory"]
    assert not any(word in text for word in ("http://", "https://", "import(", "fetch(", "url("))


def test_the_page_has_all_operators_steps_and_pieces(tmp_path):
    account = explain(Net(), Spec((4, 8)))
    data = page_of(account, tmp_path).data
    assert [row[0] for row in data["operators"]] == [o.op for o in account.facts.operators]
    assert [row["name"] for row in data["steps"]] == [step.name for step in account.steps]
    assert data["live"] == account.live and data["peak"] == account.peak.step
    assert len(data["pieces"]) == len(account.pieces) == data["allPieces"]


def test_groups_are_modules_then_lines(tmp_path):
    data = page_of(explain(Net(), Spec((4, 8))), tmp_path).data
    labels = [row[0] for row in data["groups"]]
    assert labels[0] == "function / Net"
    assert any(label.startswith(("blocks", "0 /")) for label in labels)
    assert any("test_explanation_page.py:" in label for label in labels)


@pytest.mark.parametrize("modules", [True, False])
def test_each_operator_is_in_one_group_of_a_bounded_size(modules, tmp_path):
    account = Explanation(account_of(3000, modules), "step")
    data = page_of(account, tmp_path).data
    children = [child for row in data["groups"] for layer in row[2] for child in layer]
    assert sorted(c for c in children if c >= 0) == list(range(3000))
    assert sorted(-1 - c for c in children if c < 0) == list(range(1, len(data["groups"])))
    sizes = [sum(map(len, row[2])) for row in data["groups"]]
    assert max(sizes) <= MOST_CHILDREN


def test_texts_of_users_end_no_script(tmp_path):
    account = account_of(10)
    account["parts"][0]["values"][3]["name"] = "</script><script>alert(1)</script>"
    text = Explanation(account, "a <b> & c").to_html(tmp_path / "page.html").read_text()
    assert text.count("<script") == 2 and "<h1>a &lt;b&gt; &amp; c</h1>" in text
    assert "</script><script>alert(1)" in json.dumps(Page(text).data)


def test_edges_lead_down():
    layers = layers_of(4, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)])
    assert [sorted(layer) for layer in layers] == [[0], [1, 2], [3]]


def test_random_layouts_are_whole():
    """Cycles, edges to oneself and parts without edges, which the library must not see."""
    source = random.Random(0)
    for _ in range(200):
        count = source.randrange(1, MOST_CHILDREN)
        pairs = [
            (source.randrange(count), source.randrange(count)) for _ in range(source.randrange(80))
        ]
        edges = [pair for pair in pairs if pair[0] != pair[1]]
        layers = layers_of(count, edges)
        assert sorted(itertools.chain(*layers)) == list(range(count))
        rank = {child: number for number, layer in enumerate(layers) for child in layer}
        assert all(rank[min(pair)] < rank[max(pair)] for pair in edges)


def test_a_path_that_cannot_be_written(tmp_path):
    account = explain(Net(), Spec((4, 8)))
    where = tmp_path / "none" / "page.html"
    with pytest.raises(FileNotFoundError, match="to_html: path must be writable, got No such file"):
        account.to_html(where)
    with pytest.raises(IsADirectoryError, match="to_html: path must be writable"):
        account.to_html(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_graph_too_large_for_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("tessera.jit.explanation.page.MOST_OPERATORS", 5)
    with pytest.raises(ValueError, match="operators of a page must be at most 5, got 6: to_json"):
        Explanation(account_of(6), "step").to_html(tmp_path / "page.html")


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fast_sugiyama", None)
    account = explain(Net(), Spec((4, 8)))
    with pytest.raises(ImportError, match=r"to_html: fast-sugiyama must be installed .pip install"):
        account.to_html(tmp_path / "page.html")
    assert str(account) and account.to_json()


def test_a_trace_as_a_page(tmp_path):
    traced = jit.trace(Net(), symbolic=True)
    x = F.ones((4, 8))
    traced(x), traced(x)
    page = page_of(explain(traced), tmp_path)
    assert page.data["steps"] and ("svg", "canvas") in [(t, a.get("id")) for t, a in page.tags]
