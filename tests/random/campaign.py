"""Many programs: `tools/dev campaign random|records --count N --seed S --resume LOG`.

A random program runs eagerly and in four modes: traced, loaded and two drawn ones. One of the
records' programs, each a call with sizes as in its sample, large, odd or at edges, runs in every
mode; its seed is its number. With `--device sim0` both run in that device's modes alone. The log
holds a line of JSON for each program, with the commit; a campaign with the same log goes on behind
its last seed, and counts programs and modes since the last finding. Findings are made small and
printed as Python source.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from tests.random import minimise, modes
from tests.random.kinds import KINDS

_DEADLINE = 300  # seconds for a program, which takes one


class Watch:
    """Ends a process that computes a program for longer than _DEADLINE, or does nothing for as
    long: on a machine that does much else it may take its time.
    """

    def __init__(self, process):
        self.process, self.is_late = process, False
        self.before = self.computed()
        self.last = self.before
        self.begin()

    def begin(self):
        """Looks again when _DEADLINE has passed."""
        self.timer = threading.Timer(_DEADLINE, self.look)
        self.timer.daemon = True
        self.timer.start()

    def computed(self):
        """Seconds of all its threads so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self):
        """Ends it, or waits on."""
        last, self.last = self.last, self.computed()
        self.is_late = self.last - self.before > _DEADLINE or self.last - last < 1
        self.process.kill() if self.is_late else self.begin()

    def stop(self):
        """Ends the watch."""
        self.timer.cancel()


class Worker:
    """A process that runs programs one after another; a new one after a crash."""

    def __init__(self, kind, only=()):
        self.kind, self.only, self.process = kind, only, None

    def run(self, seed):
        """The line of a seed."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-m", "tests.random.worker", self.kind, *self.only]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        watch = Watch(self.process)
        row = {"seed": seed, "modes": [], "skipped": [], "findings": {}}
        with contextlib.suppress(BrokenPipeError):  # the end of its output tells that it has ended
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
        mode = "eager"
        for line in self.process.stdout:
            if line.startswith("{"):
                watch.stop()
                return json.loads(line)
            mode = line.strip()
        watch.stop()
        code = self.process.wait()
        why = f"had no result in {_DEADLINE} s" if watch.is_late else f"ended with {code}"
        row["findings"][mode] = f"{mode}: the process {why}"
        return row

    def stop(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()


def _commit():
    command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Campaign:
    """Threads that take the seeds in turn; their lines go to one log."""

    def __init__(self, kind, seeds, path, only=()):
        self.kind, self.seeds, self.path, self.only = kind, iter(seeds), path, only
        self.lock, self.commit, self.is_clean = threading.Lock(), _commit(), True

    def run(self, jobs):
        """Until all seeds are run; true without a finding."""
        threads = [threading.Thread(target=self.work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.is_clean

    def work(self):
        """Runs seeds, one after another, in a process of its own."""
        worker = Worker(self.kind, self.only)
        for seed in iter(self.next_seed, None):
            self.tell({"commit": self.commit, **worker.run(seed)})
        worker.stop()

    def next_seed(self):
        """None when all were taken."""
        with self.lock:
            return next(self.seeds, None)

    def tell(self, row):
        """Adds a line to the log."""
        with self.lock, self.path.open("a") as log:
            log.write(json.dumps(row) + "\n")
            if row["findings"]:
                self.is_clean = False
                tqdm.write(f"seed {row['seed']}: {row['findings']}")


def explain(kind, seed, mode):
    """Prints the smallest program that still shows what `seed` shows in `mode`."""
    program, shown = minimise.minimised(KINDS[kind].program(seed), mode)
    print(minimise.source(program, mode, shown or "nothing, alone"))


def summary(rows):
    """Lines about a log: programs, and runs of each mode, in all and since the last finding."""
    last = max((n for n, row in enumerate(rows) if row["findings"]), default=-1)
    yield f"{len(rows)} programs, {sum(bool(row['findings']) for row in rows)} with a finding"
    clean = rows[last + 1 :]
    counts = Counter(mode for row in clean for mode in row["modes"])
    commits = dict.fromkeys(row["commit"] for row in clean)
    yield f"since the last finding: {len(clean)} programs, commits {' '.join(commits) or 'none'}"
    for mode in modes.ALL:
        yield f"  {mode}: {counts[mode]}"


def main():
    """The command."""
    parser = argparse.ArgumentParser(prog="tools/dev campaign", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first one of a new log")
    parser.add_argument("--resume", type=Path, default=Path("campaign.log"), metavar="LOG")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--device", choices=modes.DEVICES, help="run its modes alone")
    parser.add_argument(
        "--explain", nargs=2, metavar=("SEED", "MODE"), help="one finding, made small"
    )
    given = parser.parse_args()
    if given.explain:
        return explain(given.kind, int(given.explain[0]), given.explain[1])
    count = KINDS[given.kind].count()
    if not 0 <= given.seed < count:
        parser.error(f"seed must be at least 0 and below {count}, got {given.seed}")
    rows = _rows(given.resume)
    first = max((row["seed"] for row in rows), default=given.seed - 1) + 1
    end = min(first + given.count, count)
    seeds = tqdm(range(first, end), disable=None)
    only = modes.DEVICES.get(given.device, ())
    clean = Campaign(given.kind, seeds, given.resume, only).run(given.jobs)
    print("\n".join(summary(_rows(given.resume))))
    return sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
