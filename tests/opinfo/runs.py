"""Recorded calls on Tessera: what each gives, and where that is not what PyTorch gave."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tessera
from tessera import jit
from tessera.autodiff.modes import recording

from tests.opinfo import arguments, compare, pools, table
from tests.support.helper import flat, same_bits

_TRACED = 8  # one call in so many is traced, too
_HALVES = ("float16", "bfloat16")


@dataclass
class Call:
    """One call of a row in one dtype, and what PyTorch gave."""

    op: str
    number: int
    given: dict
    dtype: str
    results: list
    differentiated: list
    gradients: list
    strides: list = field(default_factory=list)

    def __str__(self):
        """The call, for the text of a failure."""
        return f"{self.op}[{self.number}] in {self.dtype}: {self.given}"


def recorded(family):
    """Reader of the family's file."""
    folder = Path(os.environ.get("TESS_OPINFO") or Path(__file__).parent / "recorded")
    return pools.Reader(folder / f"{family}.npz")


def calls(document, op):
    """The calls of an operator, in the order in which they were recorded."""
    return [
        Call(op, number, sample["given"], *run)
        for number, sample in enumerate(document["calls"][op])
        for run in sample["runs"]
    ]


def _tensor(reader, row, dtype):
    number, own, flags = row
    array = reader.array(number)
    own = dtype if own == arguments.OF_RUN else own
    if "s" in flags and array.ndim:
        return tessera.Tensor(np.repeat(array, 2, -1), dtype=own)[..., ::2]
    return tessera.Tensor(array, dtype=own)


def given(reader, call):
    """Arguments and keywords, all tensors among them, and those whose gradient was recorded."""
    tensors, leaves = [], []

    def make(row):
        tensors.append(_tensor(reader, row, call.dtype))
        if "g" in row[2]:
            leaves.append(tensors[-1])
        return tensors[-1]

    args, kwargs = (arguments.decode(call.given[name], make) for name in ("args", "kwargs"))
    return args, kwargs, tensors, leaves


def _found(what, text):
    return [(what, text)]


def _values(reader, got, row, bound):
    """What is different between a tensor and a recorded result."""
    dtype, shape, number = row
    if list(got.shape) != shape:
        return _found("shape", f"{tuple(got.shape)} instead of {tuple(shape)}")
    found = []
    if got.dtype.name != dtype:
        found = _found("dtype", f"{got.dtype.name} instead of {dtype}")
    array = got.numpy().reshape(-1)
    array, want = array[arguments.kept(array.size)], reader.array(number)
    wrong = compare.different(array, want, got.dtype.name, bound)
    if wrong.any():
        at = np.flatnonzero(wrong)[0]
        found += _found("value", f"{wrong.sum()} of {wrong.size}, as {array[at]} for {want[at]}")
    return found


def _largest(arrays):
    """The size of the largest finite number."""
    floats = [each for each in arrays if each.dtype.kind in "fc" and each.size]
    return max((np.abs(x).max(initial=0.0, where=np.isfinite(x)) for x in floats), default=0.0)


def _wide(tensor):
    """The numbers, in a dtype that NumPy can compare."""
    array = tensor.numpy()
    return array.astype("float32") if array.dtype.kind == "V" else array


def _results(reader, row, call, tensors, results):
    if len(results) != len(call.results):
        return _found("count", f"{len(results)} results instead of {len(call.results)}")
    size = _largest(map(_wide, tensors)) if row.terms else 0.0
    bound = compare.Bound(row.terms, size, row.roundings)
    pairs = zip(results, call.results, strict=True)
    return [each for got, want in pairs for each in _values(reader, got, want, bound)]


def _gradients(reader, row, call, leaves, results, state):
    ends = [results[number] for number in call.differentiated]
    starts = [
        tessera.Tensor(arguments.cotangent(end.shape, number, end.dtype.kind == "c"), end.dtype)
        for number, end in zip(call.differentiated, ends, strict=True)
    ]
    try:
        grads = state.backward(ends, starts)
    except (NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        return _found("gradient refused", str(error))
    found, bound = [], _gradient_bound(reader, row, call, leaves)
    for leaf, got, want in zip(leaves, grads, call.gradients, strict=True):
        if want is None:
            want, nothing = [leaf.dtype.name, list(leaf.shape), None], np.zeros(leaf.size)
            wrong = got is not None and np.any(got.numpy().reshape(-1) != nothing)
            found += _found("gradient", "one instead of none") if wrong else []
        else:
            got = tessera.functional.zeros_like(leaf) if got is None else got
            found += [("gradient", text) for _, text in _values(reader, got, want, bound)]
    return found


# How much larger the roundings of a dtype are than those that bounds are counted in.
_COARSER = {"float32": 2.0**29, "float16": 2.0**13, "bfloat16": 2.0**16}


def _gradient_bound(reader, row, call, leaves):
    """Gradients are made of rounded results, and sums of terms as large as the largest of them."""
    known = [reader.array(want[2]) for want in call.gradients if want is not None]
    size = max(_largest(known), _largest(map(_wide, leaves)), 2.0)
    dtypes = {call.dtype, *(result[0] for result in call.results)}
    terms = row.gradient_terms
    if dtypes & set(_HALVES):
        terms *= max(_COARSER[dtype] for dtype in dtypes & set(_HALVES)) / 8
    if "float32" in dtypes and call.dtype == "float64":
        terms *= _COARSER["float32"]
    return compare.Bound(terms, size, overflows=True)


def _traced(function, tensors, results):
    """The same call in a trace gives the same bits, recorded and compiled."""
    traced = jit.trace(lambda *given: tuple(flat(function(given))), capture_as_const=True)
    try:
        alike = [same_bits(list(traced(*tensors)), results) for _ in range(2)]
    except (NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        return _found("traced", str(error))
    return [] if all(alike) else _found("traced", "other bits than eagerly")


def run(reader, row, call, is_traced=False):
    """All that is different: pairs of what and a text."""
    args, kwargs, tensors, leaves = given(reader, call)
    with recording(leaves) as state:
        try:
            results = flat(row.call(*args, **kwargs))
            [each.numpy() for each in results]
        except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
            return _found("refused", f"{type(error).__name__}: {error}")
        found = _results(reader, row, call, tensors, results)
        if call.differentiated and not {what for what, _ in found} - {"dtype", "value"}:
            found += _gradients(reader, row, call, leaves, results, state)
    if is_traced and tensors:

        def function(given):
            more = iter(given)
            args, kwargs = (
                arguments.decode(call.given[name], lambda row: next(more))
                for name in ("args", "kwargs")
            )
            return row.call(*args, **kwargs)

        found += _traced(function, tensors, results)
    return found


def survey(reader, family, op):
    """How many calls of an operator differ in what, and one example of each."""
    row, counts, examples = table.rows(family)[op], Counter(), {}
    for number, call in enumerate(calls(reader.document, op)):
        found = run(reader, row, call, number % _TRACED == 0)
        counts.update({what for what, _ in found})
        for what, text in found:
            examples.setdefault(what, f"{what}: {text}\n    {call}")
    return counts, examples
