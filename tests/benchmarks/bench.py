"""Measures Tessera, beside PyTorch where it is: `tools/dev bench [--peers] [--list] [names]`.

Prints one JSON line for each row (with versions, flags, CPU and load) and a table at the end, two
where some rows have several peers. A name selects the benchmarks that contain it. `tools/dev bench
--against REV` is against.py.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "frontends" / "examples")]

import limits  # noqa: E402
import peers  # noqa: E402
from harness import environment, table  # noqa: E402
from peers.table import beside  # noqa: E402

MODULES = ["eager_ops", "eager_models", "eager_cache", "first_calls", "recording", "compiled_ops"]
MODULES += ["training", "inference", "compile_time", "process", "thresholds", "executable_codecs"]
MODULES += ["loops", "free_sizes", "fit_memory", "recurrent", "epochs", "ops_peers", "shared_cores"]
MODULES += ["compiled", "int8", "memory", "quantized", "traced_module", "accuracy", "fit_models"]
MODULES += ["profiled"]


def benchmarks():
    """(name, function) of every benchmark; a function returns rows."""
    for module in MODULES:
        yield from importlib.import_module(module).BENCHMARKS.items()


def is_named(name, names, exact):
    """Whether one of `names` is the benchmark's, or part of it."""
    return name in names if exact else any(part in name for part in names)


def header():
    """Facts that the rows beside several peers share."""
    found = {column: each for column, each in peers.wanted().items() if each}
    versions = ", ".join(f"{column} {each.version()}" for column, each in found.items())
    common = f"{peers.THREADS} threads for each, load {environment()['load']:.1f}"
    return f"{common}; {versions or 'no peers'}\n{limits.described()}"


def print_tables(rows):
    """One for each kind of row."""
    single = [row for row in rows if row.peers is None]
    several = [row for row in rows if row.peers is not None]
    if single or not several:
        print(table(single))
    if several:
        print(header(), beside(several), sep="\n")


def main():
    """Runs the chosen benchmarks; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--exact", action="store_true", help="a name is a benchmark's whole name")
    options = parser.parse_args()
    chosen = [
        (name, function)
        for name, function in benchmarks()
        if not options.names or is_named(name, options.names, options.exact)
    ]
    if options.list:
        print(*(name for name, _ in chosen), sep="\n")
        return 0
    if not chosen:
        parser.error(f"names must be part of a benchmark's name, got {options.names}")
    rows, failed = [], []
    for name, function in chosen:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        try:
            for row in function():
                rows.append(row)
                print(json.dumps({**row.as_dict(), **environment()}), flush=True)
        except Exception as error:  # the others still run
            failed.append(name)
            print(f"bench: {name} must run, got {type(error).__name__}: {error}", file=sys.stderr)
    print_tables(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
