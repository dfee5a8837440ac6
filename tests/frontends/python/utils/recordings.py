"""Recordings of any size, as the extension would write them."""

import json

OPERATORS = ("matmul", "add relu", "softmax", "exp")
MIB = 1 << 20


class _Writer:
    """Events of one thread."""

    def __init__(self):
        self.events = []

    def event(self, name, category, phase, time, **more):
        event = {"name": name, "cat": category, "ph": phase, "ts": float(time), "pid": 1, "tid": 7}
        self.events.append({**event, **more})

    def span(self, name, category, time, length, **args):
        self.event(name, category, "X", time, dur=float(length), args=args)

    def block(self, phase, time, number, size, **args):
        args = {"memory": "cpu0", "bytes": size, **args}
        self.event("block", "memory", phase, time, id=f"0x{number:x}", args=args)

    def kernel(self, number, time, size, counters):
        """Takes a block, has its type noted, waits in the queue and runs."""
        place = f"train.py:{10 + number % 20} (net.layer{number % 5})"
        operator = OPERATORS[number % 4]
        self.block("N", time, number + 16, size, operator=operator, location=place)
        snapshot = {"snapshot": {"type": f"f32[{size // 4}]"}}
        self.event("block", "memory", "O", time, id=f"0x{number + 16:x}", args=snapshot)
        counts = {name: 100 * number for name in counters}
        kind = ("library", "kernel")[number % 2]
        self.span(operator, kind, time + 1, 8, location=place, **counts)
        waited = {"waited": 1.0, "location": place}
        self.event(operator, "queue", "b", time, id=number, args=waited)
        self.event(operator, "queue", "e", time + 1, id=number)


def recording_of(count, counters=()):
    """JSON of `count` kernels, one after the other in scopes of ten, each with a block of memory
    that lives until some later one, then a compilation and a wait."""
    writer, given_back = _Writer(), {}
    writer.block("D", 0, 1, MIB)
    for number in range(count):
        time, size = 10 * number, (number % 7 + 1) * MIB // 8
        for old, held in given_back.pop(number, []):
            writer.block("D", time, old, held)
        writer.kernel(number, time, size, counters)
        end = number + (1, 2, 5, 20)[number % 4]
        given_back.setdefault(end, []).append((number + 16, size))
        if number % 10 == 0:
            writer.span(f"net.layer{number // 10}", "scope", time, 100)
    writer.event("step 1", "step", "i", 10 * count, s="p", args={})
    writer.span("code", "compile", 10 * count, 50)
    writer.span("wait for a result", "wait", 10 * count, 25)
    other = {"droppedEvents": 0, "originMicroseconds": 1_000_000, "counters": list(counters)}
    trace = {"traceEvents": writer.events, "displayTimeUnit": "ns", "otherData": other}
    return json.dumps(trace)
