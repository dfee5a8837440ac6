"""Lint: C++ is as clang-format writes it, Python passes ruff.

usage: python -m tools.lint.format [--fix] [files]
Without files: all that git knows. `--fix` rewrites.
"""

import subprocess
import sys

from tools.lint import sources

CLANG_FORMAT = "/usr/lib/llvm-22/bin/clang-format"


def run(command, names, message):
    if not names:
        return []
    result = subprocess.run([*command, *names], cwd=sources.ROOT, capture_output=True, text=True)
    if result.returncode == 0:
        return []
    return [(result.stdout + result.stderr).strip(), message]


def check_cpp(names, fix):
    command = [CLANG_FORMAT, "-i"] if fix else [CLANG_FORMAT, "--dry-run", "--Werror"]
    files = sources.select(names, ["*.h", "*.cpp", "*.cu"])
    return run(command, files, "format: C++ must be as clang-format writes it, got the above")


def check_python(names, fix):
    ruff, quiet = [sys.executable, "-m", "ruff"], ["--quiet", "--no-cache"]
    files = sources.select(names, ["*.py"])
    message = "format: Python must pass ruff, got the above"
    layout = run([*ruff, "format", *quiet, *([] if fix else ["--diff"])], files, message)
    return layout + run([*ruff, "check", *quiet, *(["--fix"] if fix else [])], files, message)


if __name__ == "__main__":
    fix = "--fix" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--fix"] or sources.git_files()
    sources.report(check_cpp(names, fix) + check_python(names, fix))
