import subprocess

import pytest

from tools.lint import language, sources


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.h", "/// What the call gives."),
        ("a.cpp", "  int x; // Of the last call."),
        ("a.py", "# As apply(), for one."),
        ("a.py", '    """The same for a list."""'),
        ("README.md", "* Those that follow."),
        ("a.h", "/// Returns the size. Of a view that of its root."),
    ],
)
def test_a_sentence_without_a_subject_is_named(name, line):
    (message,) = language.check_line(name, 3, line)
    assert message.startswith(f"language: {name}:3: a sentence must begin with a noun or a verb")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.h", "/// Returns what the call gives."),
        ("a.cpp", 'fail("What is this");'),
        ("a.py", "# As a rule, sizes are numbers."),
        ("README.md", "| Of the table | a row |"),
    ],
)
def test_other_lines_pass(name, line):
    assert list(language.check_line(name, 3, line)) == []


def test_a_line_of_a_readme_is_short():
    (message,) = language.check_line("eager/README.md", 7, "x" * 131)
    assert message.endswith("a line must have at most 130 characters, got 131")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("[ops] " + "x" * 80 + "\n\nWhy.", "at most 72 letters"),
        ("[ops] Add a; [eager] Add b\n\nWhy.", "one topic"),
        ("Add an operator\n\nWhy.", "'[area] imperative'"),
        ("[ops] Add an operator", "a body that says why"),
    ],
)
def test_a_message_that_breaks_the_rule_is_named(message, words):
    (found,) = language.check_message(message, "abc")
    assert words in found


def test_messages_that_follow_the_rule_pass():
    assert list(language.check_message("[ops] Add an operator\n\nUsers asked for it.", "abc")) == []
    assert list(language.check_message("[eager] Move files into rooms (NFC)", "abc")) == []


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)

    def git(*arguments):
        settings = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *settings, *arguments], cwd=tmp_path, check=True)

    def commit(message, **texts):
        for name, text in texts.items():
            path = tmp_path / name.replace("__", "/").replace("_h", ".h").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", message)

    git("init", "-q")
    return commit


def test_only_what_is_younger_than_the_lint_is_judged(repository):
    repository("old ; message", a_h="/// What was.\n")
    repository("the lint", tools__lint__language_py="pass\n")
    assert list(language.check()) == []
    repository("[a] Change b\n\nWhy.", a_h="/// What was.\n/// What is.\n")
    (message,) = language.check()
    assert message.startswith("language: a.h:2: ")
    repository("[a] Change b", a_h="/// What was.\n")
    (message,) = language.check()
    assert "a body that says why" in message
