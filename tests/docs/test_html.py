"""The pages become HTML without a warning, where the packages of `tools/dev docs` are installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path("docs/conf.py").resolve().parents[1]  # of the checkout
PACKAGES = ROOT / ".docs"


def is_installed():
    """The packages are those of the lock."""
    lock, installed = ROOT / "tools/python/docs.lock", PACKAGES / "installed.lock"
    return installed.is_file() and installed.read_bytes() == lock.read_bytes()


@pytest.mark.skipif(not is_installed(), reason="`tools/dev docs` has not installed its packages")
def test_html_is_written_without_a_warning(tmp_path):
    path = os.pathsep.join([str(PACKAGES), os.environ["PYTHONPATH"]])
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--quiet"]
    command += ["--doctree-dir", tmp_path / "doctrees", ROOT / "docs", tmp_path / "html"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "TESS_OPERATORS": os.path.abspath("ops/Ops.md")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = tmp_path / "html" / "reference"
    assert 'id="tessera.functional.nn.relu6"' in (pages / "functional/nn.html").read_text("utf-8")
    table = (pages / "functional.html").read_text(encoding="utf-8")
    assert 'href="functional/nn.html#tessera.functional.nn.relu6"' in table
