"""Random attribute values of every record, and a model of the classes that they need.

`tools/dev campaign attributes [--count N] [--seed S]` calls records with N of them, and fails where
more is compiled than what is static predicts. The caches of code must be off: TESS_CACHE_DIR and
TESS_WARM_SET empty.
"""

import argparse
import sys
from collections import Counter

import numpy as np
import tessera
from tessera import _core, jit

from tests.records import samples


def _rank(sample):
    return max((len(shape) for shape in sample.shapes), default=0)


def _axes(random, attr, rank, length):
    if attr["kind"] == "i64":
        return int(random.randint(-rank, rank)) if rank else 0
    count = length if attr["bind_time"] else random.randint(rank + 1)
    return [int(axis) for axis in random.permutation(rank)[:count]]


def _number(random, attr):
    """A float of the attribute's range; few values of a static one, so that classes repeat."""
    if attr["static"]:
        return float(random.choice([0.25, 0.5, 1.0]))
    low = float(attr["min"] or -3)
    return float(random.uniform(low, min(float(attr["max"] or 3), low + 6)))


def _drawn(random, attr, given, rank):
    """A value of one attribute; `given`: that of the sample, or None."""
    kind = attr["kind"]
    if attr["axis"] is not None:
        length = len(given) if isinstance(given, list) else 0
        return _axes(random, attr, rank + attr["axis"], length)
    if kind == "f64":
        return _number(random, attr)
    if kind == "bool":
        return bool(random.randint(2))
    if kind == "i64":
        return int(random.randint(1 if attr["static"] else 2, 7))
    if kind == "i64_list" and given:
        return [int(size) for size in random.randint(0, 6, len(given))]
    if attr["cases"]:
        return str(random.choice(attr["cases"]))
    return given


# Their numbers count operands of operators in the graph of a composite: windows that are joined.
COUNTS = {"output_size"}
# Families whose values decide which operators a graph has, and where its sizes are 1.
COUNTED = ("LocalConv", "Vision")
# Axes whose order counts, because parameters or indices have it.
ORDERED = {"general_norm", "index_add", "index_get", "index_set"} | {
    f"{what}_along_axes" for what in ("add", "max", "min", "set", "take")
}


def _default(attr):
    return None if attr["default"] is None else samples.value(attr["default"])


def _operators(record, attrs, op, tensors):
    """How many operators eager applies: those of the graph, where numbers decide it."""
    if record.lowering != "composite" or not any(attr["bind_time"] for attr in attrs):
        return 1
    return op.make_forward_graph(*tensors).num_nodes


def _kept(attr, value, rank, counted):
    """What a class knows of a value: all of a static one, else whether it is there and how long."""
    counted = counted or attr["name"] in COUNTS
    if attr["runtime"] or (attr["bind_time"] and not counted):
        return None if value is None else len(value) if isinstance(value, list) else "given"
    if attr["axis"] is not None and value is not None:
        axes, rank = value if isinstance(value, list) else [value], rank + attr["axis"]
        return tuple(sorted(axis % rank for axis in axes)) if rank else ()
    return repr(value)


class Values:
    """Random calls of records that have attributes; `classes` is what they need compiled."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.classes, self.wrong, self.calls = {}, [], {}
        self.records = [record for record in samples.records().values() if record.attrs]
        self.attrs = {entry["name"]: entry["attrs"] for entry in samples.entries()}

    def call(self, checked=False):
        """One call that the operator accepts, whose name it returns; `checked`: beside a program
        that has its numbers.
        """
        while True:
            record = self.records[self.random.randint(len(self.records))]
            number = self.random.randint(len(record.samples))
            sample = record.samples[number]
            drawn = self._attributes(record, sample)
            arrays = samples.arrays(record, sample, samples.primary(record, sample))
            tensors = samples.tensors(arrays)
            try:
                op = _core.op_class(record.opdef)(**drawn)
                results = _core.apply(op, *tensors)
            except (ValueError, TypeError):
                continue
            except IndexError:
                results = None  # an index is too large for another axis: the kernel ran
            operators = _operators(record, self.attrs[record.name], op, tensors)
            self._note(record, number, sample, drawn, operators)
            if checked and results is not None:
                self._compare(op, tensors, results)
            return record.name

    def _attributes(self, record, sample):
        given = {
            name: samples.SHORT.get(value, value) if isinstance(value, str) else value
            for name, value in sample.attrs.items()
        }
        for attr in self.attrs[record.name]:
            if self.random.rand() < 0.7:
                value = _drawn(self.random, attr, given.get(attr["name"]), _rank(sample))
                if value is not None:
                    given[attr["name"]] = value
        return given

    def _note(self, record, number, sample, drawn, operators):
        given = {a["name"]: drawn.get(a["name"], _default(a)) for a in self.attrs[record.name]}
        counted = record.family in COUNTED
        kept = tuple(
            _kept(attr, given[attr["name"]], _rank(sample), counted)
            for attr in self.attrs[record.name]
        )
        order = tuple(given["axes"]) if record.name in ORDERED else ()
        classes = self.classes.setdefault(record.name, {})
        most = max(operators, classes.get((number, kept, order), 0))
        classes[number, kept, order] = most
        self.calls[record.name] = self.calls.get(record.name, 0) + 1

    def _compare(self, op, tensors, results):
        traced = jit.trace(lambda *operands: _core.apply(op, *operands), capture_as_const=True)
        traced(*tensors)
        for ours, theirs in zip(results, traced(*tensors), strict=True):
            if not np.array_equal(ours.numpy(), theirs.numpy(), equal_nan=True):
                self.wrong.append(str(op))


def findings(count, seed):
    """A line about `count` calls, and lines about what is wrong with them."""
    tessera.config.async_level = 0
    values, compiled = Values(seed), Counter()
    for number in range(count):
        before = tessera.cache_stats()["compilations"]
        name = values.call(checked=number % 50 == 0)
        compiled[name] += tessera.cache_stats()["compilations"] - before
    predicted = {name: sum(classes.values()) for name, classes in values.classes.items()}
    yield (
        f"{count} calls of {len(values.calls)} of {len(values.records)} operators compiled "
        f"{compiled.total()} classes, of {sum(predicted.values())} that static values predict"
    )
    for name, most in predicted.items():
        if compiled[name] > most:
            yield f"{name}: classes must be at most {most}, got {compiled[name]}"
    yield from (f"{op}: results must be those of a program, got others" for op in values.wrong)


def main():
    """The command; status 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="tools/dev campaign attributes")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = list(findings(given.count, given.seed))
    print("\n".join(lines))
    sys.exit(len(lines) > 1)


if __name__ == "__main__":
    main()
