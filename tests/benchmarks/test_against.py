"""`tools/dev bench --against`: what it measures, in which order, and what it says of each row."""

import subprocess
import sys

import pytest

from tests.benchmarks import against, other_build

PAIRS = 15


class FakeSide:
    """Rows by a function of the number of processes before; the log has the order of all sides."""

    def __init__(self, name, log, **benchmarks):
        self.name, self.log, self.benchmarks, self.count = name, log, benchmarks, 0

    def rows(self, benchmark):
        self.log.append(self.name)
        self.count += 1
        made = self.benchmarks[benchmark]
        if isinstance(made, Exception):
            raise made
        return {row: (value(self.count - 1), "ns") for row, value in made.items()}


def steady(value):
    """Times around `value` that differ a little from process to process."""
    return lambda number: value * (1 + 0.01 * (number * 7 % 5 - 2))


def compared(new, old):
    log = []
    sides = FakeSide("new", log, **new), FakeSide("old", log, **old)
    results, errors = against.compare_all(*sides, list(new), PAIRS)
    return {name: result.verdict for name, result in results.items()}, errors, log


def test_pairs_alternate_their_order():
    verdicts, errors, log = compared({"add": {"add": steady(1)}}, {"add": {"add": steady(1)}})
    assert verdicts == {"add": ""} and not errors
    assert len(log) == 2 * PAIRS
    assert log[:8] == ["new", "old", "old", "new", "new", "old", "old", "new"]


@pytest.mark.parametrize(("factor", "verdict", "runs"), [(1.1, "LOST", 2), (0.9, "won", 1)])
def test_a_change_of_ten_percent(factor, verdict, runs):
    new = {"add": {"add": steady(factor), "other": steady(5)}}
    verdicts, _, log = compared(new, {"add": {"add": steady(1), "other": steady(5)}})
    assert verdicts == {"add": verdict, "other": ""}
    assert len(log) == 2 * PAIRS * runs  # a loss is measured once more, a win is not


def test_a_loss_that_does_not_come_again_does_not_count():
    def at_first(number):
        return steady(1.2 if number < PAIRS else 1.0)(number)

    verdicts, _, _ = compared({"add": {"add": at_first}}, {"add": {"add": steady(1)}})
    assert verdicts == {"add": "lost once, not again"}


def test_rows_of_one_side_are_named():
    new = {"add": {"add": steady(1), "fresh": steady(1)}}
    verdicts, errors, _ = compared(new, {"add": {"add": steady(1), "gone": steady(1)}})
    assert verdicts == {"add": "", "fresh": "only here", "gone": "only there"} and not errors


def test_a_benchmark_that_the_other_side_cannot_run():
    old = {"add": against.BenchmarkError("no such function")}
    verdicts, errors, log = compared({"add": {"add": steady(1)}}, old)
    assert verdicts == {"add": "only here"} and not errors and len(log) == 2


def test_a_benchmark_that_fails_here_fails_the_comparison(capsys):
    new = {"add": against.BenchmarkError("division by zero"), "mul": {"mul": steady(1)}}
    log = []
    sides = FakeSide("new", log, **new), FakeSide("old", log, add={}, mul={"mul": steady(1)})
    results, errors = against.compare_all(*sides, list(new), PAIRS)
    assert list(results) == ["mul"] and errors == {"add": "division by zero"}
    assert against.report(results, errors, "HEAD") == 1
    assert "bench: add must run, got division by zero" in capsys.readouterr().err


def test_a_difference_of_times_has_no_ratio():
    verdicts, _, _ = compared({"d": {"d": lambda n: n - 3.0}}, {"d": {"d": steady(1)}})
    assert verdicts == {"d": "no ratio: a difference of times that is not above 0"}


@pytest.mark.parametrize(("factor", "status"), [(1.1, 1), (1.0, 0)])
def test_the_status_and_the_table(factor, status, capsys):
    log = []
    sides = [FakeSide(n, log, a={"a row": steady(f)}) for n, f in [("new", factor), ("old", 1)]]
    assert against.report(*against.compare_all(*sides, ["a"], PAIRS), "HEAD~1") == status
    head, row, last = capsys.readouterr().out.splitlines()
    titles = ["benchmark", "HEAD~1", "here", "ratio", "at", "least", "at", "most", "verdict"]
    assert head.split() == titles
    assert row.startswith(f"a row      1 ns    {factor:g} ns") and f"{factor:.3f}" in row
    assert last == f"1 rows, {status} lost against HEAD~1"


def repository(tmp_path):
    """A repository of two commits."""
    tree = tmp_path / "repository"
    tree.mkdir()
    git = ["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for text in ("old", "new"):
        (tree / "file").write_text(text)
        subprocess.run([*git, "add", "file"], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", text], check=True)
    return tree


def test_the_worktree_moves_to_the_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(other_build, "ROOT", repository(tmp_path))
    tree = tmp_path / "cache" / "tree"
    for revision, text in [("HEAD", "new"), ("HEAD~1", "old"), ("HEAD", "new")]:
        other_build.check_out(tree, other_build.commit_of(revision))
        assert (tree / "file").read_text() == text
    assert (other_build.ROOT / "file").read_text() == "new"


def test_a_commit_must_exist(tmp_path, monkeypatch):
    monkeypatch.setattr(other_build, "ROOT", repository(tmp_path))
    with pytest.raises(SystemExit, match="bench: --against must name a commit, got 'HEAD~9'"):
        other_build.commit_of("HEAD~9")


def test_one_comparison_at_a_time(tmp_path):
    with other_build.locked(tmp_path):
        code = (
            "import pathlib, sys; from tests.benchmarks import other_build\n"
            "with other_build.locked(pathlib.Path(sys.argv[1])): pass"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True
        )
    assert done.returncode == 1
    assert "must be used by one comparison, got another that runs" in done.stderr
    with other_build.locked(tmp_path):
        pass


@pytest.mark.parametrize("count", ["14", "0", "x"])
def test_fewer_than_fifteen_pairs_are_refused(count, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["against.py", "--against", "HEAD", "--pairs", count])
    with pytest.raises(SystemExit):
        against.main()
    assert f"must be at least 15, got '{count}'" in capsys.readouterr().err
