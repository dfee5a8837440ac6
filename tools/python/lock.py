"""Writes a lock file from requirements: all that pip would install, by version and hash.

usage: python lock.py requirements.in requirements.lock
The hashes are those of this platform's wheels (Debian 12: CPython 3.11, x86-64), the only ones that
the project installs.
"""

import json
import subprocess
import sys
from pathlib import Path


def resolve(requirements):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--only-binary=:all:", "--report=-", "--requirement", requirements]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def lock_line(item):
    metadata, hashes = item["metadata"], item["download_info"]["archive_info"]["hashes"]
    return f"{metadata['name'].lower()}=={metadata['version']} --hash=sha256:{hashes['sha256']}"


def main(requirements, lock):
    lines = sorted(lock_line(item) for item in resolve(requirements)["install"])
    with open(lock, "w") as out:
        print(
            f"# Written by tools/dev lock from {Path(requirements).name}; do not edit.",
            *lines,
            sep="\n",
            file=out,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
