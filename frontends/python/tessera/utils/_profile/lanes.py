"""The events of threads for a timeline: each below the one that holds it."""

from collections import defaultdict

from .recording import duration_of

MOST_EVENTS = 100_000  # of a page, the longest ones
SPANS = ("scope", "program", "loop", "kernel", "library", "copy", "compile", "wait")


def lanes_of(events):
    """Names of lanes, and (lane, event) for each event that has a duration.

    A thread has as many lanes as its events are deep; work in the queue has lanes of its own, as
    many as overlap.
    """
    threads = defaultdict(list)
    for event in events:
        if event["cat"] in SPANS or event["ph"] == "b":
            threads["queue" if event["ph"] == "b" else event["tid"]].append(event)
    kept = _longest([event for those in threads.values() for event in those])
    names, placed = [], []
    order = sorted(threads, key=lambda thread: (thread == "queue", str(thread)))
    for thread in order:
        deepest = 0
        for depth, event in _depths(threads[thread]):
            if id(event) in kept:
                deepest = max(deepest, depth)
                placed.append((len(names) + depth, event))
        title = "work in the queue" if thread == "queue" else f"thread {thread}"
        names += [title, *[""] * deepest]
    return names, placed


def _longest(events):
    """Identities of the MOST_EVENTS longest events."""
    return set(map(id, sorted(events, key=duration_of, reverse=True)[:MOST_EVENTS]))


def _depths(events):
    """(depth, event) in the order of time: the lowest depth that is free when the event begins."""
    ends = []
    for event in sorted(events, key=lambda each: (each["ts"], -duration_of(each))):
        begin, end = event["ts"], event["ts"] + duration_of(event)
        while ends and ends[-1] <= begin + 1e-3:  # times have three digits behind the point
            ends.pop()
        depth = next((n for n, each in enumerate(ends) if each <= begin + 1e-3), len(ends))
        if depth < len(ends):
            ends[depth] = end
        else:
            ends.append(end)
        yield depth, event
