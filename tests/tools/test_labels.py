import pytest

from tools.lint import labels, sources

MATCH = "matmul.dimension_K_must_match"
BROADCAST = "matmul.dimensions_B_must_broadcast"
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
    assert check(record(MATCH), test=f'"{MATCH}": ([], "")') == []


def test_an_untested_label(check):
    assert check(record(MATCH, BROADCAST), test=f'"{MATCH}"') == [
        f"labels: {BROADCAST} must stand in a negative test, got it only in matmul"
    ]


def test_a_label_without_a_record(check):
    assert check(record(), test="pad.low_must_be_1") == [
        "labels: pad.low_must_be_1 must be a record's, got it only in tests/a.py"
    ]


def test_examples_in_excepted_files(check):
    assert check(record(), tool="pad.low_must_be_1") == []
