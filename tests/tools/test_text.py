import pytest

from tools.lint import sources, text

TABLE = {"limit_kib": 1, "binary": ["*.png"], "tabs": []}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a\nb\n", None),
        ("", None),
        ("a \nb\n", "a:1 must have no trailing space, got ' '"),
        ("a\nb", "a:2 must have one newline at its end, got 'b'"),
        ("a\n\n", "a:1 must have one newline at its end, got '\\n\\n'"),
        ("a\n\tb\n", "a:2 must have no tab, got '\\t'"),
        ("ab\n" * 400, "a must have at most 1 KiB, got 1"),
    ],
)
def test_a_fault_is_named(tmp_path, monkeypatch, content, fault):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "a").write_text(content)
    assert list(text.check(["a"], TABLE)) == ([f"text: {fault}"] if fault else [])


def test_binary_files_are_not_read_as_text(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "a.png").write_bytes(b"\x00\t \r")
    assert list(text.check(["a.png"], TABLE)) == []
