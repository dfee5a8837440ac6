"""The campaign: processes that run programs, what ends them, and the log."""

import json
import subprocess
import sys

import pytest

from tests.random import campaign


def test_programs_and_their_log(tmp_path):
    log = tmp_path / "campaign.log"
    seeds = iter(range(3, 5))
    assert campaign.Campaign("random", seeds, log).run(jobs=1)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["seed"] for row in rows] == [3, 4]
    assert all("traced" in row["modes"] and row["findings"] == {} for row in rows)
    assert next(campaign.summary(rows)) == "2 programs, 0 with a finding"


def test_a_seed_that_draws_no_program_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["campaign", "random", "--seed", str(2**32)])
    with pytest.raises(SystemExit):
        campaign.main()
    assert "seed must be at least 0 and below 4294967296, got 4294967296" in capsys.readouterr().err


def test_a_process_that_does_nothing_is_ended(monkeypatch):
    monkeypatch.setattr(campaign, "_DEADLINE", 0.2)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        watch = campaign.Watch(process)
        assert process.wait(timeout=60) == -9
        assert watch.is_late
        process.stdin.close()


def test_a_process_that_ends_is_a_finding(monkeypatch):
    monkeypatch.setattr(campaign.sys, "executable", "/bin/false")
    worker = campaign.Worker("random")
    assert worker.run(1)["findings"] == {"eager": "eager: the process ended with 1"}
