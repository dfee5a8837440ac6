"""A package whose extension is for another Python says so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tessera
from tessera import _abi

PACKAGE = Path(tessera.__file__).parent
THIS = Path(tessera._core.__file__).name.split(".")[1]
VERSION = ".".join(map(str, sys.version_info[:2]))


def imported(folder):
    """The last line of an import of a package that has no more than its first files."""
    for name in ("__init__.py", "_abi.py"):
        shutil.copy(PACKAGE / name, folder)
    run = [sys.executable, "-c", "import tessera"]
    done = subprocess.run(run, cwd=folder.parent, env={}, capture_output=True, text=True)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "tessera"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    ("tags", "there"),
    [((), "none at all"), (("cpython-399-x86_64-linux-gnu",), "cpython-399-x86_64-linux-gnu"),
     (("cpython-399-x86_64-linux-gnu", "cpython-40-aarch64-linux-gnu"),
      "cpython-399-x86_64-linux-gnu, cpython-40-aarch64-linux-gnu")],
)  # fmt: skip
def test_another_python_is_told_what_there_is(folder, tags, there):
    for tag in tags:
        (folder / f"_core.{tag}.so").write_bytes(b"")
    assert imported(folder) == (
        f"ImportError: tessera: no extension for {THIS} in {folder} (there is {there}); install "
        f"the wheel of Python {VERSION}"
    )


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_a_python_without_a_wheel_is_told_which_have_one(folder, monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", (*version, 1))
    told = str(_abi.missing(folder))
    assert told.endswith(
        f"there are wheels of Python 3.11, 3.12, 3.13, and none of {version[0]}.{version[1]}"
    )


def test_another_cause_is_told_as_it_is(folder):
    (folder / f"_core.{THIS}.so").write_bytes(b"no library")
    assert imported(folder).endswith((": file too short", ": invalid ELF header"))
