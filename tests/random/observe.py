"""What runs of a program give, and where two of them differ."""

import contextlib

import numpy as np
import tessera

from tests.random.program import REFUSALS
from tests.support.helper import as_list, bits

CALLS = (11, 12, 13)  # seeds of the data of successive calls


class SkippedError(Exception):
    """The mode says nothing about this program."""


@contextlib.contextmanager
def skipping_refusals():
    """Around what eager may refuse: the mode says nothing then."""
    try:
        yield
    except REFUSALS as error:
        raise SkippedError(f"eager: {error}") from None


def observed(function, program, captured, seeds=CALLS, size=None):
    """Bits of the results of successive calls, of the arguments after each, of the captured
    tensors at the end."""
    tessera.seed(program.seed)
    rows = []
    for seed in seeds:
        arguments = program.arguments(seed, size)
        results = function(*arguments)
        rows.append((bits(as_list(results)), bits(arguments)))
    tessera.sync()  # tells what failed in a value that nothing reads
    return rows, bits(list(captured.values()))


def eager(program, seeds=CALLS, size=None):
    """What the other modes are compared with."""
    function, captured = program.instance()
    return observed(function, program, captured, seeds, size)


def fresh(program, seeds=CALLS, size=None):
    """As eager, each call by a new instance: captured tensors hold what they held at first."""
    return [eager(program, (seed,), size)[0][0] for seed in seeds]


def difference(got, expected, what):
    """The first place where two observations differ; empty when there is none."""
    (rows, state), (wanted, kept) = got, expected
    for number, (row, want) in enumerate(zip(rows, wanted, strict=True)):
        for part, ours, theirs in zip(("result", "argument"), row, want, strict=True):
            for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                if a != b:
                    return f"{what}: call {number}, {part} {index}: {_detail(a, b)}"
    for index, (a, b) in enumerate(zip(state, kept, strict=True)):
        if a != b:
            return f"{what}: captured tensor {index}: {_detail(a, b)}"
    return ""


def _detail(a, b):
    if a[:2] != b[:2]:
        return f"{a[1]}{list(a[0])} instead of {b[1]}{list(b[0])}"
    try:
        kind = np.dtype(a[1])
    except TypeError:
        kind = np.dtype("u2")
    ours, theirs = (np.frombuffer(each[2], kind) for each in (a, b))
    places = np.flatnonzero(ours.view("u1").reshape(ours.size, -1)
                            .__ne__(theirs.view("u1").reshape(theirs.size, -1)).any(1))  # fmt: skip
    first = places[0]
    return (
        f"{places.size} of {ours.size} elements of {a[1]}{list(a[0])}, "
        f"element {first} is {ours[first]!r} instead of {theirs[first]!r}"
    )
