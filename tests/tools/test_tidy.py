import subprocess

import pytest

from tools.commands import tidy

DAY = 24 * 3600


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with git in it; a function that commits files at a time."""
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "--quiet"], check=True)

    def commit(when, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.cpp").write_text(text)
        stamp = {"GIT_COMMITTER_DATE": f"{when} +0000", "PATH": "/usr/bin:/bin"}
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", "m"], check=True, env=stamp)

    return commit


START = 1_700_000_000


def test_a_day_is_counted_from_the_last_commit(repository, tmp_path):
    repository(START, old="1", both="1", gone="1")
    repository(START + 2 * DAY, both="2")
    (tmp_path / "gone.cpp").unlink()
    repository(START + 2 * DAY + 60, late="1")
    assert tidy.changed_since(tidy.base_of("day")) == ["late.cpp", "both.cpp"]
    assert tidy.changed_since(tidy.base_of("HEAD~1")) == ["late.cpp"]
    assert tidy.changed_since("HEAD") == []


def test_what_is_not_committed_comes_first(repository, tmp_path):
    repository(START, a="1", b="1")
    repository(START + 2 * DAY, b="2")
    (tmp_path / "a.cpp").write_text("2")
    (tmp_path / "new.cpp").write_text("1")
    assert sorted(tidy.changed_since("HEAD")) == ["a.cpp", "new.cpp"]
    assert tidy.changed_since(tidy.base_of("day"))[-1] == "b.cpp"


def test_a_repository_of_one_day_differs_from_its_first_commit(repository):
    repository(START, a="1")
    repository(START + 60, b="1")
    assert tidy.changed_since(tidy.base_of("day")) == ["b.cpp"]


def test_only_lines_that_changed_are_read(repository, capsys):
    repository(START, a="1\n2\n3\n4\n5\n", b="1\n2\n")
    repository(START + 60, a="1\nx\n3\n4\n5\ny\nz\n", b="1\n")
    assert tidy.line_filter("HEAD~1", "a.cpp") == [
        '--line-filter=[{"name": "a.cpp", "lines": [[2, 2], [6, 7]]}]'
    ]
    assert tidy.line_filter("HEAD~1", "b.cpp") == []  # it lost a line, and is read whole
    tidy.check_all(["a.cpp"], [], 60, ["sh", "-c", 'echo "$0"; exit 1'], "HEAD~1")
    assert capsys.readouterr().out.startswith("--line-filter=")


def test_findings_are_printed_and_named(capsys):
    command = ["sh", "-c", 'test "$0" = good.cpp || { echo "$0: error"; exit 1; }']
    assert tidy.check_all(["good.cpp", "bad.cpp"], [], 60, command) == (["bad.cpp"], [])
    assert capsys.readouterr().out == "bad.cpp: error\n"


@pytest.mark.parametrize("seconds", [0, 0.05])
def test_the_limit_cuts_off(seconds, capsys):
    command = ["sh", "-c", "sleep 600"]
    assert tidy.check_all(["a.cpp", "b.cpp"], [], seconds, command) == ([], ["a.cpp", "b.cpp"])
    assert capsys.readouterr().out == ""


def test_the_flags_are_the_compilers(capsys):
    command = ["sh", "-c", 'echo "$0 $@"; exit 1']
    tidy.check_all(["a.cpp"], ["-std=c++20"], 60, command)
    assert capsys.readouterr().out == "a.cpp -- -std=c++20\n"
