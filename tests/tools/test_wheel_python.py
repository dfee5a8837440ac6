"""The interpreter that `tools/dev wheel --python` names."""

import subprocess
import sys

import pytest

SCRIPT = """
die() { echo "tools/dev: $*" >&2; exit 1; }
source tools/commands/wheel.sh
find_python "$1"
"""


def found(name):
    return subprocess.run(["bash", "-c", SCRIPT, "bash", name], capture_output=True, text=True)


def test_a_path_is_the_interpreter():
    done = found(sys.executable)
    assert (done.stdout, done.stderr) == (sys.executable + "\n", "")


@pytest.mark.parametrize("name", ["9.9", "/no/such/python"])
def test_what_does_not_run_is_refused(name):
    done = found(name)
    assert done.returncode == 1 and done.stdout == ""
    assert "wheel: --python must name an interpreter that runs" in done.stderr
    assert f"got '{name}', which does not" in done.stderr


@pytest.mark.parametrize(
    ("facts", "must"),
    [("False /usr/include", "--python must name CPython from 3.11 on, got '{python}'"),
     ("True /nowhere", "headers of {python} must be installed (in Debian python3.X-dev)")],
)  # fmt: skip
def test_it_must_be_recent_and_have_headers(tmp_path, facts, must):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho {facts} {python}\n")
    python.chmod(0o755)
    done = found(str(python))
    assert done.returncode == 1 and must.format(python=python) in done.stderr
