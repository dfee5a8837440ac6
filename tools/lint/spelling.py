"""Lint: words are spelt right, in sources, comments and documents; exceptions: typos.toml."""

import subprocess
import sys
from pathlib import Path

from tools.lint import sources


def check(names, config, table):
    """One message for each word that typos knows to be wrong; it reads the named files only."""
    texts = [name for name in names if not sources.matches(name, table["binary"])]
    if not texts:
        return  # without names, typos would read the whole folder
    typos = Path(sys.executable).parent / "typos"
    command = [typos, "--format", "brief", "--color", "never", "--config", config, *texts]
    done = subprocess.run(command, cwd=sources.ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 2):  # 2: typos were found
        yield f"spelling: typos must run, got {done.stderr.strip()}"
    for line in done.stdout.splitlines():
        place, _, words = line.partition(": error: ")
        yield f"spelling: {place}: a word must be spelt right, got {words}"


if __name__ == "__main__":
    config = sources.ROOT / "tools" / "lint" / "typos.toml"
    sources.report(list(check(sources.git_files(), config, sources.read_table("text.toml"))))
