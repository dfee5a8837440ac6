"""Runs clang-tidy on the C++ files that changed, side by side, within a limit of time.

usage: tidy.py [--since REV] [--seconds N] [files] -- FLAGS...
Without files: the lines that differ from REV, by default from the last commit; `--since day` is
the last commit that is a day older than HEAD. FLAGS are the compiler's. What changed last comes
first; files that the limit cuts off are named, and are no error. Exits with 1 where clang-tidy
finds one.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

TIDY = "/usr/lib/llvm-22/bin/clang-tidy"
DAY = 24 * 3600
HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def git(*arguments):
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def base_of(since):
    """The commit to differ from; a repository of one day differs from its first commit."""
    if since != "day":
        return since
    (now,) = git("log", "-1", "--format=%ct", "HEAD")
    older = git("rev-list", "-1", f"--before={int(now) - DAY}", "HEAD")
    return older[0] if older else git("rev-list", "--max-parents=0", "HEAD")[0]


def changed_since(base):
    """The .cpp files that are other than in `base` or new, the last written first."""
    changed = git("diff", "--name-only", "--diff-filter=d", base, "--", "*.cpp")
    new = git("ls-files", "--others", "--exclude-standard", "--", "*.cpp")
    return sorted({*changed, *new}, key=last_change, reverse=True)


def last_change(name):
    """When it was committed last; what is not, or is other than committed, comes before."""
    if git("status", "--porcelain", "--", name):
        return float("inf")
    return int(git("log", "-1", "--format=%ct", "--", name)[0])


def line_filter(base, name):
    """clang-tidy's option for the lines of the file that are other than in `base`; [] for all."""
    hunks = (HUNK.match(line) for line in git("diff", "-U0", base, "--", name))
    found = [(int(hunk[1]), int(hunk[2] or 1)) for hunk in hunks if hunk]
    lines = [[first, first + count - 1] for first, count in found if count]
    return ["--line-filter=" + json.dumps([{"name": name, "lines": lines}])] if lines else []


def check(command, name, flags, until):
    """(status, output) of one file; None as the status where time ran out."""
    left = until - time.monotonic()
    if left <= 0:
        return None, ""
    try:
        done = subprocess.run(
            [*command, name, "--", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=left,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def check_all(files, flags, seconds, command=(TIDY, "--quiet"), base=None):
    """Prints what is found, of lines that differ from `base` alone where there is one; (files with
    findings, files not reached).
    """
    until = time.monotonic() + seconds

    def outcome_of(name):
        lines = line_filter(base, name) if base else []
        return check([*command, *lines], name, flags, until)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(outcome_of, files))
    found, missed = [], []
    for name, (status, output) in zip(files, outcomes, strict=True):
        if status is None:
            missed.append(name)
        elif status:
            found.append(name)
            print(output.strip())
    return found, missed


def main(arguments):
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments[:split])
    base = None if options.files else base_of(options.since)
    files = options.files or changed_since(base)
    found, missed = check_all(files, arguments[split + 1 :], options.seconds, base=base)
    for name in missed:
        print(f"tidy: {name} was not reached within {options.seconds:g} s")
    checked = f"{len(files) - len(missed)} of {len(files)} files"
    print(f"tidy: {checked} checked, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
