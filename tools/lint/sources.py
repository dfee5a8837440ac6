"""The files a lint reads and how it reports: shared by every lint of this folder."""

import fnmatch
import pathlib
import subprocess
import sys
import tomllib

# In a Bazel test WORKSPACE is a link to the checkout's; in a checkout's root it is the file itself.
ROOT = pathlib.Path("WORKSPACE").resolve().parent


def git_files():
    """Files that git knows or would add: generated and ignored ones are nobody's sources."""
    listing = ["ls-files", "--cached", "--others", "--exclude-standard"]
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), *listing]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({name for name in names if (ROOT / name).is_file()})


def matches(name, patterns):
    """Shell patterns in which `*` also crosses `/`."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def select(names, patterns, exclude=()):
    return [name for name in names if matches(name, patterns) and not matches(name, exclude)]


def read(name):
    return (ROOT / name).read_text(errors="replace")


def read_table(name):
    with open(ROOT / "tools" / "lint" / name, "rb") as table:
        return tomllib.load(table)


def report(messages):
    print(*messages, sep="\n")
    sys.exit(1 if messages else 0)
