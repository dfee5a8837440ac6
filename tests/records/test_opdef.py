"""Operators as values: copied, pickled, compared."""

import copy
import pickle

import pytest

from tests.records import samples


@pytest.mark.parametrize("record", samples.records().values(), ids=lambda record: record.name)
def test_operators_are_picklable_and_equal_ones_hash_alike(record):
    for sample in record.samples:
        op = samples.operator(record, sample)
        again = [pickle.loads(pickle.dumps(op, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1)]
        for other in [*again, copy.copy(op), copy.deepcopy(op)]:
            assert type(other) is type(op) and other.to_string() == op.to_string()
            assert other == op and hash(other) == hash(op)


def test_a_copy_is_an_operator_of_its_own():
    from tessera.core.ops import builtin

    op = builtin.Softmax(axis=1)
    other = copy.copy(op)
    other.axis = 0
    assert op.axis == 1 and op != other and len({op, other, builtin.Softmax(1)}) == 2
    assert pickle.loads(pickle.dumps(builtin.Elemwise(mode="ADD"))) == builtin.Elemwise(mode="add")
