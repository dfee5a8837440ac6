import pytest

from tools.lint import sources, spelling

CONFIG = '[default.extend-words]\ndout = "dout"\n'


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "typos.toml").write_text(CONFIG)

    def run(name, text):
        (tmp_path / name).write_text(text)
        return list(spelling.check([name], tmp_path / "typos.toml", {"binary": ["*.npz"]}))

    return run


WRONG = "reci" + "eve"  # this file is read as well


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cpp", "// We {}.\n"),
        ("a.md", "We {} it.\n"),
        ("a.py", "def {}():\n    pass\n"),
        ("a.td", 'let summary = "to {}";\n'),
    ],
)
def test_a_misspelt_word(check, name, text):
    (message,) = check(name, text.format(WRONG))
    assert message.startswith(f"spelling: {name}:1:")
    assert message.endswith(f"a word must be spelt right, got `{WRONG}` should be `receive`")


def test_right_words_and_exceptions(check):
    assert check("a.cpp", "// We receive dout.\n") == []


def test_what_is_no_text_is_not_read(check):
    assert check("a.npz", WRONG) == []


def test_a_config_that_is_wrong(check, tmp_path):
    (tmp_path / "typos.toml").write_text("[nonsense\n")
    found = list(spelling.check(["typos.toml"], tmp_path / "typos.toml", {"binary": []}))
    assert found and found[0].startswith("spelling: typos must run, got ")
