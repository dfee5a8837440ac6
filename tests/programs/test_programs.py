"""Each program beside this file runs when its imports name tessera, not megengine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted(p for p in Path(__file__).parent.glob("*.py") if p.name != Path(__file__).name)
NAME = re.compile(r"\bmegengine\b")
IMPORT = re.compile(r"^(import|from) megengine\b")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_runs_by_another_import(path, tmp_path):
    lines = path.read_text().splitlines()
    assert [line for line in lines if NAME.search(line) and not IMPORT.match(line)] == []
    assert not any("tessera" in line for line in lines)
    program = tmp_path / path.name
    program.write_text("\n".join(IMPORT.sub(r"\1 tessera", line) for line in lines))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=280, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "a program says what it did"
