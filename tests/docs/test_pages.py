"""What the pages of docs/ show is what happens."""

import os
import re
import sys
import warnings

import pytest
import tessera

from tests.docs.pages import (
    DOCS,
    Session,
    code_in,
    imports_of,
    includes_of,
    is_python,
    missing_of,
    rows_of,
)

PAGES = sorted(DOCS.rglob("*.md"))
COMING = sorted((DOCS / "coming").glob("*.md"))
DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # by module, where the names differ
PROGRAMS = ("tools", "ops/tblgen", "frontends/cc/examples", "frontends/cc/examples/mine")


def tutorial():
    """Its pages in the order of their table of contents: one reader types all of them."""
    index = DOCS / "tutorial" / "index.md"
    names = re.findall(r"^[a-z_]+$", index.read_text(encoding="utf-8").split("{toctree}")[1], re.M)
    return [index, *(index.with_name(f"{name}.md") for name in names)]


ALONE = [[page] for page in PAGES if page.parent.name != "tutorial"]
SESSIONS = [tutorial(), *ALONE]


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A reader in an empty folder, with the programs on the path."""
    path = os.pathsep.join([*(os.path.abspath(folder) for folder in PROGRAMS), os.environ["PATH"]])
    data = os.path.abspath("frontends/cc/examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    state = tessera.random.default_rng.state_dict()
    yield Session({**os.environ, "PATH": path, "DIGITS": data})
    tessera.random.default_rng.load_state_dict(state)


@pytest.mark.parametrize(
    "pages", SESSIONS, ids=lambda pages: f"{pages[0].parent.name}-{pages[0].stem}"
)
def test_blocks_show_what_happens(pages, session):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for page in pages:
            session.run(page)


def test_each_page_of_the_tutorial_is_in_its_contents():
    assert sorted(tutorial()) == sorted((DOCS / "tutorial").glob("*.md"))


@pytest.mark.parametrize("page", COMING, ids=lambda page: page.stem)
def test_the_left_of_a_row_is_python_and_stands_once(page):
    rows = rows_of(page)
    left = [code for _, cells in rows for code in code_in(cells[0])]
    assert (len(rows) > 10 and missing_of(page)) or page.stem == "index"
    assert [code for code in left if not is_python(code)] == []
    assert sorted(set(left)) == sorted(left)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_says_how_to_install_what_it_imports(page):
    """The wheel brings NumPy alone."""
    known = {*sys.stdlib_module_names, "numpy", "tessera"}
    text = page.read_text(encoding="utf-8")
    for name in {*imports_of(page)} - known:
        package = DISTRIBUTIONS.get(name, name)
        assert re.search(rf"pip install [^`]*\b{package}\b", text), f"{page.name}: {package}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_files_that_a_page_shows_are_there(page):
    for file, options in includes_of(page):
        text = (page.parent / file).read_text(encoding="utf-8")
        for marker in ("start-at", "start-after", "end-at", "end-before"):
            assert options.get(marker, "") in text, f"{page.name}: {file} has no {options[marker]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_is_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 150
