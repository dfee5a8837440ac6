"""Sequences are lists of tensors, optional values may be None."""

from ..._core import ops as _ops
from ..registry import importer
from ..values import dtype_of


@importer("SequenceConstruct")
def _construct(node, *values):
    return list(values)


@importer("SequenceEmpty")
def _empty(node):
    if node["dtype"] is not None:
        dtype_of(node["dtype"], str(node))
    return []


@importer("SequenceLength")
def _length(node, sequence):
    return _ops.scalar_tensor(len(sequence), "int64")


@importer("SequenceAt")
def _at(node, sequence, position):
    return sequence[int(node.number(1, position))]


@importer("SequenceInsert")
def _insert(node, sequence, value, position=None):
    result = list(sequence)
    result.insert(len(result) if position is None else int(node.number(2, position)), value)
    return result


@importer("SequenceErase")
def _erase(node, sequence, position=None):
    result = list(sequence)
    del result[-1 if position is None else int(node.number(1, position))]
    return result


@importer("ConcatFromSequence")
def _concat(node, sequence):
    return (_ops.stack if node["new_axis"] else _ops.concat)(sequence, node["axis"])


@importer("SplitToSequence")
def _split(node, x, split=None):
    axis = node["axis"] % x.ndim
    if split is None:
        parts = _ops.split(x, [1] * int(x.shape[axis]), axis)
        return [each if node["keepdims"] else _ops.squeeze(each, [axis]) for each in parts]
    sizes = node.sizes(1, split)
    if not isinstance(sizes, list):
        whole, rest = divmod(int(x.shape[axis]), sizes)
        sizes = [sizes] * whole + [rest] * bool(rest)
    return list(_ops.split(x, sizes, axis))


@importer("SequenceMap")
def _map(node, scope, sequence, *others):
    """The body for each element; what is no sequence is the same for each."""
    lists = [[] for _ in node.outputs]
    for place, value in enumerate(sequence):
        rest = [each[place] if isinstance(each, list) else each for each in others]
        results = node["body"].call(scope, value, *rest)
        for values, result in zip(lists, results, strict=True):
            values.append(result)
    return tuple(lists)


@importer("Optional")
def _optional(node, value=None):
    return value


@importer("OptionalGetElement")
def _get_element(node, value):
    return value


@importer("OptionalHasElement")
def _has_element(node, value=None):
    return _ops.full([], value is not None, "bool")
