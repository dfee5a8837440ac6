"""Recordings of several processes as one."""

import json
import os
import re

from ..._page.writing import write_text

_FILE = re.compile(r"\d+\.chrome_timeline\.json")
MERGED = "merge.chrome_timeline.json"


def merged(tool, directory):
    """The path of one Chrome trace with the events of all that the folder has: see
    `utils.profiler.merge_trace_events`.
    """
    names = sorted(name for name in os.listdir(directory) if _FILE.fullmatch(name))
    if not names:
        raise ValueError(
            f"{tool}: directory must have files PID.chrome_timeline.json, got none in {directory}"
        )
    traces = [_trace_of(tool, os.path.join(directory, name)) for name in names]
    origin = min(trace["otherData"]["originMicroseconds"] for trace in traces)
    dropped = sum(trace["otherData"]["droppedEvents"] for trace in traces)
    events = [event for trace in traces for event in _moved(trace, origin)]
    whole = {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"originMicroseconds": origin, "droppedEvents": dropped},
    }
    return write_text(tool, os.path.join(directory, MERGED), json.dumps(whole) + "\n")


def _trace_of(tool, path):
    """The trace in a file; ValueError where it is none of a Profiler's."""
    try:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
        if trace["otherData"]["originMicroseconds"] >= 0 and trace["traceEvents"] is not None:
            return trace
        raise ValueError("no origin")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{tool}: {path} must be written by a Profiler, got {error!r}") from error


def _moved(trace, origin):
    """The events on the clock that begins at `origin`, behind the name of their process."""
    shift = trace["otherData"]["originMicroseconds"] - origin
    events = trace["traceEvents"]
    for process in dict.fromkeys(event["pid"] for event in events):
        name = {"name": f"process {process}"}
        yield {"name": "process_name", "cat": "__metadata", "ph": "M", "pid": process, "args": name}
    for event in events:
        yield {**event, "ts": event["ts"] + shift}
