"""Times of a profile beside the steps of a program, and what the machine can reach."""

import functools
import statistics
import time
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

from ... import _core


@dataclass(frozen=True)
class Limits:
    """Rates that this machine reaches in float32: the bounds of a roofline, measured as the
    Empirical Roofline Toolkit does (Y. J. Lo et al., PMBS 2014).
    """

    gflops: float  # GFLOP/s of a product of matrices
    gbytes: float  # GB/s of a sum of two arrays far larger than the caches of a core

    def seconds(self, operations, size):
        """The least time of a step."""
        return max(operations / self.gflops, size / self.gbytes) / 1e9


_SIDE, _LENGTH, _REPEATS = 1024, 1 << 24, 5


@functools.cache
def limits_of(threads):
    """The Limits, measured once in the process for each number of threads."""
    from ... import functional as F  # noqa: N812  # only here: jit knows no operators

    x, long = F.ones((_SIDE, _SIDE)), F.ones((_LENGTH,))
    product = _least_time(lambda: F.matmul(x, x))
    total = _least_time(lambda: F.add(long, long))
    return Limits(2 * _SIDE**3 / product / 1e9, 2 * 4 * _LENGTH / total / 1e9)


def _least_time(function):
    times = []
    for _ in range(_REPEATS):
        _core.sync()
        start = time.perf_counter()
        result = function()
        _core.sync()
        times.append(time.perf_counter() - start)
        del result
    return min(times)


def add_times(facts, events):
    """Fills in Step.calls and Step.seconds, medians of the runs of the program at these sizes that
    `events`, of a profile, has; returns the number of these runs.
    """
    actions = defaultdict(list)
    for event in events:
        if "step" in event.get("args", ()):
            actions[event["tid"]].append(event)
    starts = {}
    for thread, those in actions.items():
        those.sort(key=lambda event: event["ts"])
        starts[thread] = [event["ts"] for event in those]
    most = 0
    for part, shapes in enumerate(facts.shapes):
        runs = []
        for event in events:
            if event["cat"] == "program" and event["args"].get("shapes") == shapes:
                times, own = starts.get(event["tid"], []), actions[event["tid"]]
                first = bisect_left(times, event["ts"])
                last = bisect_left(times, event["ts"] + event["dur"])
                runs.append(_times_of(facts, facts.firsts[part], own[first:last]))
        runs = [run for run in runs if run is not None]
        _fill(facts.steps, runs)
        most = max(most, len(runs))
    return most


def _times_of(facts, first, events):
    """{step: [seconds]} of one run; None where the events are those of another program."""
    times = defaultdict(list)
    for event in events:
        number = first + event["args"]["step"]
        if number >= len(facts.steps) or not _is_of(facts.steps[number], event):
            return None
        if facts.steps[number].kind != "loop" or event["cat"] == "loop":  # not what it carries on
            times[number].append(event["dur"] / 1e6)
    return times


def _is_of(step, event):
    is_here = step.location in ("", event["args"].get("location", ""))
    is_named = step.kind not in ("kernel", "library") or event["name"].endswith(step.name)
    return is_here and (is_named or event["cat"] == "copy")


def _fill(steps, runs):
    for number in {number for run in runs for number in run}:
        step = steps[number]
        step.calls = max(len(run.get(number, ())) for run in runs)
        step.seconds = statistics.median(sum(run.get(number, ())) for run in runs)


def work_of(facts, step):
    """Operations and bytes of all that the launch of `step` does in a run."""
    mates = [step]
    for other in facts.steps[step.number + 1 :]:
        if other.kind == "kernel" and other.launch != step.number:
            break
        if other.launch == step.number:
            mates.append(other)
    return sum(each.operations for each in mates) * step.calls, sum(
        each.bytes for each in mates
    ) * step.calls
