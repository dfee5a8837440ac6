import pytest

from tools.lint import labels, sources

TABLE = {"tested": ["tests/*"], "except": ["tests/tools/*"]}


def record(*names):
    entries = [{"label": name, "text": "x must have rank 2"} for name in names]
    return [{"name": "matmul", "labels": entries}]


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def run(records, **texts):
        paths = {"test": "tests/a.py", "tool": "tests/tools/b.py"}
        for kind, text in texts.items():
            (tmp_path / paths[kind]).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / paths[kind]).write_text(text)
        return list(labels.check([paths[kind] for kind in texts], TABLE, records))

    return run


def test_record_and_test_agree(check):
    assert check(record("matmul_c1"), test="def test_matmul_c1(): ...") == []


def test_an_untested_label(check):
    assert check(record("matmul_c1", "matmul_c2"), test='"matmul_c1"') == [
        "labels: matmul_c2 must stand in a negative test, got it only in matmul"
    ]


def test_a_label_without_a_record(check):
    assert check(record(), test="pad_c2") == [
        "labels: pad_c2 must be a record's, got it only in tests/a.py"
    ]


def test_examples_in_excepted_files(check):
    assert check(record(), tool="pad_c7") == []
