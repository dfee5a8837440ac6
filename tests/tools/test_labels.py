import pytest

from tools.lint import labels, sources

TABLE = {
    "declared": ["ops/*.td"],
    "checked": ["ops/*.cpp"],
    "tested": ["tests/*"],
    "except": ["tests/tools/*"],
}


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def run(**texts):
        paths = {
            "td": "ops/A.td",
            "cpp": "ops/A.cpp",
            "test": "tests/a.py",
            "tool": "tests/tools/b.py",
        }
        for kind, text in texts.items():
            (tmp_path / paths[kind]).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / paths[kind]).write_text(text)
        return list(labels.check([paths[kind] for kind in texts], TABLE))

    return run


def test_three_places_agree(check):
    assert check(td="matmul_c1", cpp='"matmul_c1"', test="def test_matmul_c1(): ...") == []


def test_an_untested_label(check):
    assert check(td="pad_c1", cpp="pad_c1") == [
        "labels: pad_c1 must stand in a negative test, got it only in ops/A.td"
    ]


def test_an_unchecked_label(check):
    assert check(td="pad_c1", test="pad_c1") == [
        "labels: pad_c1 must stand in the check, got it only in ops/A.td"
    ]


def test_a_label_without_a_record(check):
    assert check(test="pad_c2") == [
        "labels: pad_c2 must stand in a record, got it only in tests/a.py"
    ]


def test_examples_in_excepted_files(check):
    assert check(tool="pad_c7") == []
