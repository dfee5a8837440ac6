"""Writes the functions that eager and traced calls spend their time in, the longest first.

usage: python -m tools.commands.hot_functions

The linker puts them side by side in the extension (tools/bazel/defs.bzl): where they fall by chance
an add of 16 floats takes 190 or 212 ns, with the same instructions. Linux's perf samples the
benchmarks below. Names that a later build lacks do no harm.
"""

import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ROOT / "tools" / "bazel" / "hot_functions.txt"
BENCHMARKS = ["eager_add_16", "eager_chain", "eager_views", "eager_mlp", "module_call"]
LIBRARY = "_core" + sysconfig.get_config_var("EXT_SUFFIX")
LEAST = 0.02  # per cent of all samples
_ROW = re.compile(r"\s*([\d.]+)%\s+\[\.\]\s+(_Z\S+)")


def sampled(file):
    """The rows of perf's report on the benchmarks."""
    command = ["perf", "record", "-q", "-F", "4999", "-o", file]
    subprocess.run([*command, "--", ROOT / "tools" / "dev", "bench", *BENCHMARKS], check=True)
    shown = ["--no-children", "-g", "none", "--no-demangle", "--sort", "symbol", "--dsos", LIBRARY]
    report = ["perf", "report", "--stdio", "-i", file, *shown]
    return subprocess.run(report, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    with tempfile.TemporaryDirectory() as folder:
        rows = map(_ROW.match, sampled(f"{folder}/samples"))
        names = [row[2] for row in rows if row and float(row[1]) >= LEAST]
    if not names:
        sys.exit(f"hot-functions: perf must find functions of {LIBRARY}, got none")
    WRITTEN.write_text("\n".join(names) + "\n")
    print(f"{WRITTEN.relative_to(ROOT)}: {len(names)} functions")


if __name__ == "__main__":
    main()
