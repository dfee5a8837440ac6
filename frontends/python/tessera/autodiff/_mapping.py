"""A recorded function, applied to many elements at once: its operators one by one, each by a rule
or, where no rule is known, element by element.
"""

import functools
from dataclasses import dataclass

from .. import _core
from .._core import ops
from .._foreign_dtypes import numbers_of
from ..functional._making import made
from ..tensor import Tensor
from . import _mapping_rules as rules


@functools.cache
def record(name):
    """Facts of an operator, by its record or its library; None where there is none."""
    return _core.op_row(name)


@dataclass
class Call:
    """One operator of the function, and its operands: those that are mapped have one more axis, the
    first.
    """

    record: dict
    attributes: dict
    tensors: list
    mapped: list  # whether each operand is
    operands: list  # (shape, dtype) of one element
    results: list
    size: int

    def apply(self, tensors, attributes=None):
        """The results for other operands and attributes."""
        kind = _core.op_class(self.record["opdef"])
        op = kind(**(self.attributes if attributes is None else attributes))
        return _core.apply(op, *tensors)


class Mapping:
    """A recording whose arguments are elements along a new first axis of tensors."""

    def __init__(self, recording):
        self.view = recording.view(set(), [])
        self.values = self.view["values"]
        numbers = [i for i, row in enumerate(self.values) if row["kind"] == "captured"]
        self.known = dict(zip(numbers, recording.captured, strict=True))
        for number, row in enumerate(self.values):
            if row["kind"] == "constant" and row["tensor"] is not None:
                self.known[number] = _own(row["tensor"])

    def is_possible(self):
        """Whether all its operators have records; loops have none."""
        return all(record(row[0]) is not None for row in self.view["operators"])

    def apply(self, arguments, size):
        """(tensor, whether it is mapped) for each result, of `size` elements."""
        known = {number: (tensor, False) for number, tensor in self.known.items()}
        known |= {n: (t, True) for n, t in zip(self.view["arguments"], arguments, strict=True)}
        last = self._last_uses()
        for place, (name, attributes, inputs, _, outputs, _) in enumerate(self.view["operators"]):
            given = [known[number] for number in inputs]
            results = self._results(name, attributes, inputs, outputs, given, size)
            known |= zip(outputs, results, strict=False)
            for number in {*inputs, *outputs}:
                if last.get(number, -1) <= place:
                    del known[number]
        return [known[number] for number in self.view["results"]]

    def _last_uses(self):
        """By value: the last operator that reads it; results are read at the end."""
        last = {}
        for place, row in enumerate(self.view["operators"]):
            last |= dict.fromkeys(row[2], place)
        return last | dict.fromkeys(self.view["results"], len(self.view["operators"]))

    def _results(self, name, attributes, inputs, outputs, given, size):
        tensors, mapped = [t for t, _ in given], [m for _, m in given]
        metas = [[(self.values[n]["shape"], self.values[n]["dtype"]) for n in numbers]
                 for numbers in (inputs, outputs)]  # fmt: skip
        call = Call(record(name), attributes, tensors, mapped, *metas, size)
        if not any(mapped):
            return [(result, False) for result in call.apply(tensors)]
        return [(result, True) for result in _mapped(call)]


def _own(tensor):
    """A tensor that the function made of bytes, made here."""
    return Tensor(numbers_of(tensor), dtype=tensor.dtype, device=tensor.device)


def _mapped(call):
    for rule in rules.of(call):
        try:
            results = rule(call)
        except (ValueError, TypeError, NotImplementedError, MemoryError):
            continue  # the operator does not take it: too many axes, for one
        if results is not None and _fits(call, results):
            return results
    return element_by_element(call)


def _fits(call, results):
    wanted = [((call.size, *shape), dtype) for shape, dtype in call.results]
    return [(tuple(r.shape), str(r._dtype_key)) for r in results] == wanted


def element_by_element(call):
    """The operator for each element, and the results stacked."""
    if call.size == 0:
        return [
            made(call.tensors[0].device, ops.full, (0, *shape), 0, dtype)
            for shape, dtype in call.results
        ]
    rows = []
    for index in range(call.size):
        pairs = zip(call.tensors, call.mapped, strict=True)
        rows.append(call.apply([t[index] if mapped else t for t, mapped in pairs]))
    return [ops.stack(list(column), 0) for column in zip(*rows, strict=True)]
