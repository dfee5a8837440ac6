"""What notebooks show: whole HTML, nothing unescaped."""

from html.parser import HTMLParser

import pytest
import tessera
from tessera import module as M  # noqa: N812


class Page(HTMLParser):
    """The texts of a page, whose tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def page(shown):
    return Page(shown._repr_html_())


def test_a_tensor():
    shown = page(tessera.tensor([1, 2]))
    assert shown.texts == ["Tensor([1, 2], dtype=int32, device=cpu0)"]


def test_a_module_is_a_tree():
    net = M.Sequential(M.Linear(3, 4), M.Sequential(M.ReLU(), M.Linear(4, 2, bias=False)))
    shown = page(net)
    text = "".join(shown.texts)
    assert shown.tags.count("details") == 5 == len(list(net.modules()))
    assert "24 parameters" in text and "1: Sequential() 8 parameters" in text
    assert "weight: float32 (4, 3)" in text and "in_features=4" in text


def test_names_are_escaped():
    class Odd(M.Identity):
        def _module_info_string(self):
            return "<script>&"

    shown = page(M.Sequential(Odd()))
    assert "script" not in shown.tags and "0: Odd(<script>&)" in "".join(shown.texts)


def test_a_trace():
    @tessera.jit.trace(symbolic=True)
    def step(x):
        return x + 1

    assert "no call yet" in page(step).texts
    step(tessera.tensor([1.0]))
    text = "".join(page(step).texts)
    assert text.startswith("trace of step") and "float32" in text and "1 launches" in text
    unnamed = tessera.jit.trace(lambda x: x)
    assert "<lambda>" in page(unnamed).texts


@pytest.mark.parametrize("name", ["x", "<x>"])
def test_a_program(tmp_path, name):
    step = tessera.jit.trace(lambda x: x + 1, capture_as_const=True)
    step(tessera.tensor([1.0]))
    step.dump(tmp_path / "step.tess", arg_names=[name], output_names=["y"])
    shown = page(tessera.jit.load(tmp_path / "step.tess"))
    text = "".join(shown.texts)
    assert "step.tess" in text and str([name]) in text and "tess.add" in text
    assert shown.tags.count("tr") == 3 and "x" not in shown.tags
