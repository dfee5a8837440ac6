"""Programs of one call: each record where kernels are real, and at the edges of its sizes."""

import functools
import itertools
from dataclasses import replace
from math import isqrt

import numpy as np

from tests.random import catalog, modes
from tests.random.program import Input, Program, Statement
from tests.records import samples

_SPLIT = 1 << 17  # elements: a copy of so many floats is split over two threads
_MOST = 1 << 21
_MOST_RESULTS = 1 << 23  # elements of a call: what is larger takes a minute, and shows no more
_PAIRS = ("kron", "outer")  # their results have an element for each pair of elements
_SIZES = ("shape", "num", "n", "m", "sections")  # attributes that are sizes


def programs(record, dtype, wanted):
    """Programs of a record's samples in one dtype: sizes as they are, large, odd or at edges."""
    for number, sample in enumerate(record.samples):
        shapes = sample.shapes
        for factor, changed in _WAYS[wanted](shapes, record.name in _PAIRS):
            asked = [_sized(v, factor) for k, v in sample.attrs.items() if k == "shape"]
            if all(np.prod(shape) <= _MOST for shape in (*changed, *asked)):
                yield _program(record, sample, changed, dtype, factor, number)


def _large(shapes, squared):
    """Times a factor, so that a kernel's work is split and a library call is worth its while."""
    split = 2 * isqrt(_SPLIT) if squared else _SPLIT
    most = max((np.prod(shape) for shape in shapes), default=0)
    if not most:
        return
    rank = max(map(len, shapes))
    images = [(0, 1), (0, 2, 3), (0,)]
    for chosen in images if rank == 4 else _axes(rank):
        count = len(chosen) or 1
        factor = int(np.ceil((split / most) ** (1 / count)))
        yield factor, _times(shapes, factor, chosen)


def _odd(shapes, _):
    """Times a prime: no size is a multiple of a vector."""
    if max((np.prod(shape) for shape in shapes), default=0):
        rank = max(map(len, shapes))
        for axes in [(0, 1), (0,)] if rank == 4 else _axes(rank):
            yield 7, _times(shapes, 7, axes)


def _axes(rank):
    """All of them; of what may be sequences, volumes or windows batch and channels, too."""
    return [range(rank), (0, 1)] if rank in (3, 5, 6) else [range(rank)]


def _times(shapes, factor, axes):
    """Sizes of 1 stay: their axes repeat."""
    return [tuple(n * factor if i in axes and n != 1 else n for i, n in enumerate(shape))
            for shape in shapes]  # fmt: skip


def _edges(shapes, _):
    """Each size in turn 1, then 0, wherever it stands."""
    for size in sorted({n for shape in shapes for n in shape}):
        for edge in (1, 0):
            if edge != size:
                yield 1, [tuple(edge if n == size else n for n in shape) for shape in shapes]


def _as_is(shapes, _):
    yield 1, shapes


_WAYS = {"as_is": _as_is, "large": _large, "odd": _odd, "edge": _edges}


def _program(record, sample, shapes, dtype, factor, number):
    operands = zip(samples.groups(record, sample), shapes, sample.low, sample.high, strict=True)
    inputs = []
    for count, (operand, shape, low, high) in enumerate(operands):
        own = dtype if dtype in operand.dtypes else operand.dtypes[0]
        own = "int32" if own not in samples.FLOATS and "int32" in operand.dtypes else own
        scale = factor if own.startswith("int") and dtype in samples.FLOATS else 1  # an index
        inputs.append(Input(f"a{count}", "argument", shape, own, low * scale, high * scale))
    attrs = {k: _sized(v, factor) if k in _SIZES else v for k, v in sample.attrs.items()}
    text = ", ".join(f"{k}={catalog.text_of(v)}" for k, v in attrs.items())
    results = tuple(f"v{i}" for i in range(len(catalog.results_of(record))))
    names = ", ".join(each.name for each in inputs)
    line = f"{', '.join(results)}, = apply(B.{record.opdef}({text}), {names})"
    used = tuple(each.name for each in inputs)
    statement = Statement(line, results, used, stochastic=record.stochastic)
    return Program(number, tuple(inputs), (statement,), results)


def _sized(value, factor):
    if isinstance(value, (list, tuple)):
        return [each * factor if each > 0 else each for each in value]
    return value * factor if value > 0 else value


def _dtypes(record, wanted):
    """All that its first operand allows; where sizes change those of most programs."""
    dtypes = record.operands[0].dtypes if record.operands else ("float32",)
    if wanted == "as_is":
        return dtypes
    return [d for d in dtypes if d in ("float32", "bfloat16")] or dtypes[:1]


@functools.cache
def _all():
    """Every program of every record, in an order in which any part of them is a sample."""
    found = [program for record in samples.records().values() for wanted in _WAYS
             for dtype in _dtypes(record, wanted) for program in programs(record, dtype, wanted)
             if not record.stochastic]  # fmt: skip
    order = np.random.RandomState(0).permutation(len(found))
    return [found[number] for number in order]


def count():
    """Of all programs of all records."""
    return len(_all())


def numbered(number):
    """One of them."""
    return replace(_all()[number], seed=number)


def is_small(seen):
    """Whether no call that was observed gave too much to compare in every mode."""
    counts = [sum(int(np.prod(shape)) for shape, *_ in results) for results, _ in seen[0]]
    return max(counts) <= _MOST_RESULTS


def chosen(record, dtype, wanted, count):
    """The first `count` programs that eager runs; the others are refused."""
    found = []
    for program in itertools.islice(programs(record, dtype, wanted), 12):
        try:
            seen = modes.eager(program, modes.CALLS[:1])
        except (ValueError, TypeError, IndexError, NotImplementedError):
            continue
        if is_small(seen):
            found.append(program)
        if len(found) == count:
            break
    return found
