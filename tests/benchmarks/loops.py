"""What a trip of a loop costs in a program, beside Python's loop; the peer column is eager."""

import numpy as np
import tessera
import tessera.functional as F  # noqa: N812
from harness import Row, interleaved, synced
from tessera import jit

TRIPS = 1000
MOST_PER_TRIP = 2000  # ns


def scanned(h, xs):
    """One add in each trip."""
    return F.scan(lambda h, x: (h + x, None), h, xs)[0]


def counted(n, h):
    """As many, until a number that data has."""
    return F.while_loop(
        lambda i, _: i < n, lambda i, h: (i + 1, h + 1), F.full((), 0, dtype="int32"), h
    )


def row(name, function, *arrays):
    """Nanoseconds for each trip of the traced function, and of the same run eagerly."""
    tensors, call = [tessera.Tensor(each) for each in arrays], jit.trace(function)
    for _ in range(3):
        call(*tensors)
    times = interleaved(synced(lambda: function(*tensors)), synced(lambda: call(*tensors)))
    eager, traced = (t / TRIPS * 1e9 for t in times)
    return Row(name, traced, "ns", eager, MOST_PER_TRIP)


def trips():
    """Loops whose trips add 16 floats."""
    h, xs = np.zeros(16, np.float32), np.random.rand(TRIPS, 16).astype(np.float32)
    return [
        row("a trip of a traced scan, with an add", scanned, h, xs),
        row("a trip of a traced while_loop, with an add", counted, np.int32(TRIPS), h),
    ]


BENCHMARKS = {"loop_trips": trips}
