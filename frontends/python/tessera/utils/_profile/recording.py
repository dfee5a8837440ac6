"""The events of a recording, sorted by what they are."""

import json
from dataclasses import dataclass
from functools import cached_property

from ..._place import line_and_module

KINDS = ("kernel", "library", "copy")  # a program and a loop hold others
COLUMNS = ("operator", "module", "line", "kind")


@dataclass(frozen=True)
class Row:
    """Executions of what the columns name. Times are in microseconds."""

    columns: tuple
    times: tuple
    counts: tuple  # a sum for each hardware counter

    @property
    def time(self):
        """The sum of the times."""
        return sum(self.times)


class Recording:
    """A Chrome trace as `Profiler.json` gives it."""

    def __init__(self, text):
        self._trace = json.loads(text)
        self.events = self._trace["traceEvents"]
        other = self._trace["otherData"]
        self.dropped = other["droppedEvents"]
        self.note = other.get("counterNote", "")  # why there are no counters
        self.counters = () if self.note else tuple(other.get("counters", ()))

    def by_category(self, *categories):
        """Events of these categories."""
        return [event for event in self.events if event["cat"] in categories]

    @cached_property
    def steps(self):
        """Kernels, calls of libraries and copies."""
        return self.by_category(*KINDS)

    def rows(self, by):
        """Steps added up by columns, of COLUMNS, the most time first."""
        found = {}
        for event in self.steps:
            columns = columns_of(event)
            found.setdefault(tuple(columns[each] for each in by), []).append(event)
        rows = [self._row(key, events) for key, events in found.items()]
        return sorted(rows, key=lambda row: -row.time)

    def besides(self):
        """Rows of what is no step: parts of compilations, threads that wait, work in the queue."""
        found = {}
        for event in self.by_category("compile", "wait", "queue"):
            if event["ph"] != "e":
                found.setdefault((_beside(event),), []).append(event)
        rows = [self._row(key, events) for key, events in found.items()]
        return sorted(rows, key=lambda row: -row.time)

    def _row(self, key, events):
        times = tuple(duration_of(event) for event in events)
        counts = (sum(e["args"].get(name, 0) for e in events) for name in self.counters)
        return Row(key, times, tuple(counts))


def duration_of(event):
    """Microseconds of an event; of work that was queued, until it began."""
    return event["dur"] if "dur" in event else event["args"]["waited"]


def _beside(event):
    names = {"compile": f"compile: {event['name']}", "queue": "work in the queue"}
    return names.get(event["cat"], event["name"])


def columns_of(event):
    """The columns of an event; its location is "train.py:12 (net.conv1)"."""
    line, module = line_and_module(event["args"].get("location", ""))
    return {
        "operator": event["name"],
        "module": module,
        "line": line,
        "kind": event["cat"],
    }
