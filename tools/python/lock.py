"""Writes a lock file from requirements: all that pip would install, by version and hash.

usage: python lock.py [--besides] requirements.in requirements.lock
With --besides it leaves out what the environment of this Python has already. The hashes are those
of this platform's wheels (Debian 12: CPython 3.11, x86-64), the only ones that the project
installs.
"""

import json
import subprocess
import sys
from pathlib import Path


def resolve(requirements, is_besides):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
    command += [] if is_besides else ["--ignore-installed"]
    command += ["--only-binary=:all:", "--report=-", "--requirement", requirements]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def lock_line(item):
    metadata, hashes = item["metadata"], item["download_info"]["archive_info"]["hashes"]
    return f"{metadata['name'].lower()}=={metadata['version']} --hash=sha256:{hashes['sha256']}"


def main(requirements, lock, is_besides):
    report = resolve(requirements, is_besides)
    lines = sorted(lock_line(item) for item in report["install"])
    with open(lock, "w") as out:
        print(
            f"# Written by tools/dev lock from {Path(requirements).name}; do not edit.",
            *lines,
            sep="\n",
            file=out,
        )


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--besides"]
    main(*arguments, is_besides="--besides" in sys.argv)
