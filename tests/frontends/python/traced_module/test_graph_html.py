"""Pictures of traced modules in notebooks."""

from html.parser import HTMLParser

import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm

from tests.frontends.python.traced_module import zoo

KNOWN = {"details", "summary", "ul", "li", "code", "small"}


class Reader(HTMLParser):
    """The elements of a page, which must close in order, and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.details, self.text, self.lines = [], [], "", []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in KNOWN
        self.open.append(tag)
        if tag == "details":
            self.details.append(dict(attrs))
        self.lines += [value for key, value in attrs if key == "title"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


class Inner(M.Module):
    """A part with a branch."""

    def forward(self, x, mode="<b>&"):
        return F.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, x)


class Net(M.Module):
    """A module that is called twice, and closed ones."""

    def __init__(self):
        super().__init__()
        self.inner, self.linear = Inner(), M.Linear(3, 2)

    def forward(self, x):
        return self.linear(self.inner(self.inner(x)))


def test_a_graph_opens_to_its_parts():
    traced = tm.trace_module(Net(), F.ones((4, 3)))
    page = Reader(traced._repr_html_())
    assert traced.graph._repr_html_() == traced._repr_html_()
    assert page.text.startswith("Net.Graph(x: float32 (4, 3))")
    for part in ("linear_out = linear(inner_out_1, )", "linear_out: float32 (4, 2)",
                 "Linear(in_features=3, out_features=2, bias=True)", "weight: float32 (2, 3)",
                 "return linear_out: float32 (4, 2)", "gt_out = sum_out.__gt__(0, )"):  # fmt: skip
        assert part in page.text, part
    # The first part is open, others are folded; a graph that is called twice is shown once.
    assert "open" in page.details[0] and page.text.count("Net.inner.Graph(") == 1
    assert "Net.inner.Graph, as above" in page.text
    assert any("test_graph_html.py:" in line for line in page.lines)


def test_texts_are_escaped():
    class Marked(M.Module):
        def forward(self, x):
            return tagged(x, "<script>alert(\"a\" & 'b')</script>")

    traced = tm.trace_module(M.Sequential(Marked()), F.ones((2,)))
    assert "<script>" not in traced._repr_html_()
    assert "<script>alert" in Reader(traced._repr_html_()).text


@tm.wrap
def tagged(x, tag):
    """Gives the tensor."""
    return x + len(tag)


def test_inputs_of_no_known_shape_have_names_only():
    traced = tm.trace_module(M.Sequential(M.ReLU()), F.ones((2,)))
    traced.graph.inputs[1].shape = None
    assert Reader(traced._repr_html_()).text.startswith("Sequential.Graph(inp)")


def test_a_module_without_a_graph_shows_what_it_has():
    class Outer(M.Module):
        def __init__(self):
            super().__init__()
            self.inner = M.Sequential(M.Linear(2, 2))

        def forward(self, x):
            return x @ self.inner[0].weight

    traced = tm.trace_module(Outer(), F.ones((1, 2)))
    assert "weight: float32 (2, 2)" in Reader(traced.inner._repr_html_()).text


@pytest.mark.parametrize("name", zoo.ALL)
def test_every_module_of_the_zoo_has_a_picture(name):
    module, args = zoo.ALL[name]()
    traced = tm.trace_module(module, *args)
    page = Reader(traced._repr_html_())
    count = traced.graph.exprs().as_count()
    assert len(page.lines) == count and str(ts.Tensor) not in page.text
