"""`pip install .`: the hooks of PEP 517 over a `tools/dev` that is a script here."""

import os
import sys

import pytest

from tools.commands import backend

WHEEL = "tessera-9-py3-none-any.whl"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Gives a function that makes a checkout whose `tools/dev` has these lines."""

    def with_dev(text):
        (tmp_path / "tools").mkdir()
        (tmp_path / "dist").mkdir()
        (tmp_path / "dist" / WHEEL).write_text("a wheel")
        (tmp_path / "tools" / "dev").write_text(f"#!/bin/sh\n{text}\n")
        os.chmod(tmp_path / "tools" / "dev", 0o755)
        monkeypatch.setattr(backend, "ROOT", tmp_path)
        return tmp_path

    return with_dev


def test_the_wheel_goes_where_it_is_asked_for(checkout):
    root = checkout(f'[ "$1" = wheel ] && echo "/far/dist/{WHEEL} (50.1 MB)"')
    (root / "wanted").mkdir()
    assert backend.build_wheel(root / "wanted") == WHEEL
    assert (root / "wanted" / WHEEL).read_text() == "a wheel"


def test_isolation_of_the_front_end_stays_out(checkout, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    root = checkout(f'[ -z "$PYTHONPATH" ] && echo "{WHEEL} (1 MB)"')
    (root / "wanted").mkdir()
    assert backend.build_wheel(root / "wanted") == WHEEL


def test_another_python_gets_its_own_wheel(checkout, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    root = checkout(f'[ "$*" = "wheel --python {sys.executable}" ] && echo "{WHEEL} (1 MB)"')
    (root / "wanted").mkdir()
    assert backend.build_wheel(root / "wanted") == WHEEL


def test_a_failure_names_the_command(checkout):
    root = checkout("exit 3")
    with pytest.raises(SystemExit, match="`tools/dev wheel` must succeed"):
        backend.build_wheel(root)


def test_there_is_no_source_distribution(tmp_path):
    with pytest.raises(SystemExit, match="clone it and run `tools/dev wheel`"):
        backend.build_sdist(tmp_path)
