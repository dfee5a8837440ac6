import os
import subprocess

SCRIPT = """
root=$1
die() { echo "tools/dev: $*" >&2; exit 1; }
source tools/commands/setup.sh
make_environment
"""


def test_an_environment_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").touch()
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".venv").symlink_to(tmp_path / "other")
    done = subprocess.run(
        ["bash", "-c", SCRIPT, "bash", os.fspath(tmp_path / "clone")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "tools/dev: .venv must be a folder of this clone" in done.stderr
    assert (tmp_path / "other" / "precious").exists()
