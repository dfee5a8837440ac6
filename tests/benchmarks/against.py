"""Compares this checkout's build with another commit's: `tools/dev bench --against REV [names]`.

The benchmarks are this checkout's, on both packages. A pair is two fresh processes, one of each
build, in alternating order; a row that takes long is repeated less in each process, and still has
all its pairs. paired.py says when a row has lost; one that has is measured once more before it
counts. Exits with 1 where a row has lost or a benchmark fails in this checkout.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import other_build  # noqa: E402
import paired  # noqa: E402

SECONDS = 0.25  # of measuring for each function of a process


class BenchmarkError(RuntimeError):
    """A process of a side ended with an error."""


@dataclass
class Side:
    """One build: the interpreter and the environment of its processes."""

    python: str
    environment: dict

    def run(self, *arguments):
        """What bench.py prints with these arguments; BenchmarkError with the end of its errors."""
        done = subprocess.run(
            [self.python, str(HERE / "bench.py"), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchmarkError(done.stderr[-1000:])
        return done.stdout.splitlines()

    def rows(self, benchmark):
        """{row: (value, unit)} of one benchmark in a process of its own."""
        lines = (json.loads(x) for x in self.run("--exact", benchmark) if x.startswith("{"))
        return {row["name"]: (row["value"], row["unit"]) for row in lines}


@dataclass
class Result:
    """A row's pairs (new, old), and how they compare."""

    benchmark: str
    unit: str
    pairs: list = field(default_factory=list)
    verdict: str = ""
    comparison: paired.Comparison | None = None

    def judge(self, previous=""):
        """Compares the pairs; a loss is one when `previous` was one too."""
        if any(min(pair) <= 0 for pair in self.pairs):
            self.verdict = "no ratio: a difference of times that is not above 0"
            return
        self.comparison = paired.compare(self.pairs)
        verdict = self.comparison.verdict
        if verdict == "lost":
            self.verdict = "LOST" if previous == "lost" else "lost"
        else:
            self.verdict = "lost once, not again" if previous == "lost" else verdict


def rows_of(side, benchmark):
    """Its rows, or the error that it ended with."""
    try:
        return side.rows(benchmark), None
    except BenchmarkError as error:
        return {}, str(error)


def add_pairs(results, benchmark, here, there):
    """One pair for each row that both sides have; the others say where they are."""
    for name, (value, unit) in {**there, **here}.items():
        result = results.setdefault(name, Result(benchmark, unit))
        if name in here and name in there:
            result.pairs.append((value, there[name][0]))
        else:
            result.verdict = "only here" if name in here else "only there"


def measure(new, old, benchmark, pairs):
    """({row: Result}, an error or None): so many pairs of processes, in turns.

    A benchmark that the old side cannot run the first time has rows of the new one only.
    """
    results, sides = {}, {"new": new, "old": old}
    for number in range(pairs):
        order = list(sides) if number % 2 == 0 else list(sides)[::-1]
        outcome = {name: rows_of(sides[name], benchmark) for name in order}
        (here, error), (there, missing) = outcome["new"], outcome["old"]
        if error or (missing and number > 0):
            return {}, error or missing
        add_pairs(results, benchmark, here, there)
        if missing:
            break
    return results, None


def judge(results, previous=None):
    """The verdicts of rows that both sides have; `previous`: their verdicts of the first time."""
    for name, result in results.items():
        if not result.verdict:
            result.judge((previous or {}).get(name, ""))


def compare_all(new, old, benchmarks, pairs):
    """({row: Result}, {benchmark: error}); rows that lost are measured again."""
    results, errors = {}, {}

    def measured(benchmark):
        print(f"bench: {benchmark}, {pairs} pairs", file=sys.stderr, flush=True)
        rows, error = measure(new, old, benchmark, pairs)
        if error:
            errors[benchmark] = error
        return rows

    for benchmark in benchmarks:
        rows = measured(benchmark)
        judge(rows)
        results |= rows
    lost = {name: result.verdict for name, result in results.items() if result.verdict == "lost"}
    for benchmark in dict.fromkeys(results[name].benchmark for name in lost):
        again = {name: row for name, row in measured(benchmark).items() if name in lost}
        judge(again, lost)
        results |= again
    return results, errors


def table(results, revision):
    """The rows, aligned: medians of both sides, the ratio, its bounds, the verdict."""
    lines = [("benchmark", revision, "here", "ratio", "at least", "at most", "verdict")]
    for name, result in results.items():
        cells = [""] * 5
        if result.comparison:
            new, old = (statistics.median(times) for times in zip(*result.pairs, strict=True))
            known = result.comparison
            ratios = (f"{x:.3f}" for x in (known.ratio, known.lower, known.upper))
            cells = [f"{old:.4g} {result.unit}", f"{new:.4g} {result.unit}", *ratios]
        lines.append((name, *cells, result.verdict))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def report(results, errors, revision):
    """Prints the table and what failed; the exit status."""
    print(table(results, revision))
    for benchmark, error in errors.items():
        print(f"bench: {benchmark} must run, got {error}", file=sys.stderr)
    lost = [name for name, result in results.items() if result.verdict == "LOST"]
    print(f"{len(results)} rows, {len(lost)} lost against {revision}")
    return 1 if lost or errors else 0


def pair_count(text):
    """An argument of --pairs."""
    if not text.isdigit() or int(text) < paired.FEWEST:
        raise argparse.ArgumentTypeError(f"must be at least {paired.FEWEST}, got {text!r}")
    return int(text)


def main():
    """Builds the other commit, measures, prints; the exit status."""
    parser = argparse.ArgumentParser(prog="tools/dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, metavar="REV")
    parser.add_argument("--pairs", type=pair_count, default=paired.FEWEST)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    folder = other_build.folder_of_repository()
    common = {**os.environ, "TESS_BENCH_SECONDS": str(SECONDS)}
    new = Side(sys.executable, {**common, "TESS_CACHE_DIR": str(folder / "kernels-here")})
    benchmarks = new.run("--list", *options.names)
    with other_build.locked(folder):
        python, settings = other_build.build(folder, options.against)
        there = {**settings, "TESS_CACHE_DIR": str(folder / "kernels-there")}
        old = Side(python, {**common, **there})
        return report(*compare_all(new, old, benchmarks, options.pairs), options.against)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchmarkError as error:
        sys.exit(str(error))
