"""The interpreter that `tools/dev wheel --python` names."""

import re
import subprocess
import sys
import sysconfig

import pytest

from tools.commands import wheel_metadata

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


@pytest.fixture
def python(tmp_path):
    """Gives a function that makes an interpreter which tells these facts of itself."""

    def telling(facts):
        made = tmp_path / "python"
        made.write_text(f"#!/bin/sh\necho {facts} {made}\n")
        made.chmod(0o755)
        return str(made)

    return telling


@pytest.mark.parametrize(
    ("facts", "must"),
    [("cpython-3.10 /usr/include", "got '{python}', which is cpython-3.10"),
     ("cpython-3.14 /usr/include", "CPython 3.11, 3.12 or 3.13, got '{python}', which is cpython-"),
     ("pypy-3.11 /usr/include", "CPython 3.11, 3.12 or 3.13, got '{python}', which is pypy-3.11"),
     ("cpython-3.13 /nowhere", "headers of {python} must be installed (in Debian python3.X-dev)")],
)  # fmt: skip
def test_it_must_be_one_of_the_known_and_have_headers(python, facts, must):
    named = python(facts)
    done = found(named)
    assert done.returncode == 1 and must.format(python=named) in done.stderr


def test_it_may_be_each_that_the_metadata_name(python):
    classifiers = " ".join(wheel_metadata.read_project()["classifiers"])
    versions = re.findall(r"Python :: (\d+\.\d+)", classifiers)
    assert versions == ["3.11", "3.12", "3.13"]
    for version in versions:
        named = python(f"cpython-{version} {sysconfig.get_path('include')}")
        assert found(named).stdout == named + "\n"
