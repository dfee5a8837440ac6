import pytest

from tools.lint import cycles, sources


@pytest.fixture
def circles(tmp_path, monkeypatch):
    """Circles of files with these texts, each without its edges."""
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def run(graph_of, texts):
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return cycles.circles(graph_of(list(texts)))

    return run


def python(circles, **texts):
    """Circles of modules: `a__b` stands for `a/b.py`."""
    texts = {name.replace("__", "/", 1) + ".py": text for name, text in texts.items()}
    return circles(cycles.python_graph, texts)


@pytest.mark.parametrize(
    "text",
    ["import p.b", "from p import b", "from . import b", "from .b import x", "from p.b import x",
     "def f():\n    from .b import x", "if A:\n    pass\nelse:\n    import p.b"],
)  # fmt: skip
def test_every_import_counts(circles, text):
    assert python(circles, p__a=text, p__b="from . import a") == [("p/a.py", "p/b.py")]


@pytest.mark.parametrize(
    "text",
    ["import b", "from . import c", "if TYPE_CHECKING:\n    from . import b", "'from . import b'",
     "if typing.TYPE_CHECKING:\n    import p.b"],
)  # fmt: skip
def test_what_is_no_import_of_it(circles, text):
    assert python(circles, p__a=text, p__b="from . import a", p__c="") == []


def test_a_type_checker_reads_one_branch(circles):
    text = "if TYPE_CHECKING:\n    pass\nelse:\n    from . import b"
    assert python(circles, p__a=text, p__b="from . import a") == [("p/a.py", "p/b.py")]


def test_a_package_is_its_init_where_it_gives_the_name(circles):
    init = {"p____init__": "from . import a"}
    assert python(circles, **init, p__a="from . import b", p__b="") == []
    assert python(circles, **init, p__a="from . import x") == [("p/__init__.py", "p/a.py")]
    assert python(circles, **init, p__a="import p") == [("p/__init__.py", "p/a.py")]


def test_folders_above_are_reached(circles):
    texts = {"p/q/a.py": "from ..b import x", "p/b.py": "from .q import a"}
    assert circles(cycles.python_graph, texts) == [("p/b.py", "p/q/a.py")]


def test_the_package_lies_below_its_folder(circles):
    folder = "frontends/python/tessera"
    texts = {f"{folder}/a.py": "from . import _core, b", f"{folder}/b.py": "import tessera.a",
             f"{folder}/__init__.py": "from . import a"}  # fmt: skip
    assert circles(cycles.python_graph, texts) == [(f"{folder}/a.py", f"{folder}/b.py")]


def test_a_unit_is_a_header_with_its_source(circles):
    texts = {"x/A.h": "", "x/A.cpp": '#include "x/A.h"\n#include "x/B.h"\n',
             "x/B.h": '  #include "x/A.h"\n', "y/A.h": '#include "x/A.h"\n'}  # fmt: skip
    assert circles(cycles.cpp_graph, texts) == [("x/A", "x/B")]
    texts["x/B.h"] = '// #include "x/A.h"\n#include <x/A.h>\n'
    assert circles(cycles.cpp_graph, texts) == []


def test_circles_are_told_apart_and_the_largest_comes_first():
    edges = {"a": "b", "b": "ac", "c": "de", "d": "ec", "e": "c", "f": "a"}
    graph = {node: dict.fromkeys(others, f"{node}:1") for node, others in edges.items()}
    assert cycles.circles(graph) == [("c", "d", "e"), ("a", "b")]


def test_a_circle_is_told_with_its_edges():
    graph = {"a": {"b": "a.h:3", "c": "a.h:4"}, "b": {"a": "b.cpp:1"}, "c": {}}
    assert list(cycles.check("C++ units", graph)) == [
        "cycles: a circle of 2 C++ units: a, b\n  a.h:3 -> b\n  b.cpp:1 -> a"
    ]
