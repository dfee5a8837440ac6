"""Samples made of a record's samples by rule: at ranks 0 to 5, and with sizes 0 and 1."""

import re
from dataclasses import replace

from tests.records import samples as S  # noqa: N812

# What attributes with an entry for each axis say of an added one of some size.
_ENTRIES = {
    "high": lambda size: 0,
    "low": lambda size: 0,
    "reps": lambda size: 1,
    "shape": lambda size: size,
    "starts": lambda size: 0,
    "steps": lambda size: 1,
    "stops": lambda size: size,
}


def ranks(record):
    """{(operand, rank): a sample that has it}, None where eager refuses all."""
    wanted = {each.name: allowed_ranks(record, each) for each in record.operands}
    return _found(record, wanted, of_rank)


def edges(record):
    """{(operand, size): a sample that has it}, None where eager refuses all."""
    axes = [each.name for each in record.operands if any(allowed_ranks(record, each))]
    return _found(record, {name: (0, 1) for name in axes}, with_size)


def allowed_ranks(record, operand):
    """Ranks that the words of the record's constraints allow."""
    first, last = 0, 5
    for name, text in S.constraints().values():
        said = re.match(r"(\w+) must have rank (>= )?(\d)(?: to (\d))?$", text)
        if name == record.name and said and said[1] in (operand.name, "operands"):
            first = int(said[3])
            last = 5 if said[2] else int(said[4] or first)
        if name == record.name and text.endswith(f" must be an axis of {operand.name}"):
            first = max(first, 1)
    return range(first, last + 1)


def _found(record, wanted, make):
    found = {(name, each): None for name, list_ in wanted.items() for each in list_}
    for sample in record.samples:
        for number, operand in enumerate(S.groups(record, sample)):
            for each in wanted.get(operand.name, ()):
                if not found[operand.name, each]:
                    made = (m for m in make(sample, number, each) if runs(record, m))
                    found[operand.name, each] = next(made, None)
    return found


def runs(record, sample):
    """Whether eager runs the sample."""
    try:
        operands = S.arrays(record, sample, S.primary(record, sample))
        for result in S.call(record, sample, S.tensors(operands)):
            result.numpy()
    except (ValueError, IndexError):
        return False
    return True


def of_rank(sample, number, rank):
    """The sample with an operand at a rank, and with it those of its rank, or all, or none."""
    own = len(sample.shapes[number])
    same = [i for i, shape in enumerate(sample.shapes) if len(shape) == own]
    axes = [i for i, shape in enumerate(sample.shapes) if shape]
    for moved in (same, axes, [number]):
        for change in (_before, _behind):
            for size in (2, 1):
                lifted = _lifted(sample, moved, change, rank - own, size)
                yield lifted
                if "axes" in sample.attrs and isinstance(sample.attrs["axes"], int):
                    count = sample.attrs["axes"] + rank - own
                    yield replace(lifted, attrs={**lifted.attrs, "axes": count})


def _before(entries, count, new):
    """More entries in front, or fewer."""
    return (*([new] * count), *entries[max(-count, 0) :])


def _behind(entries, count, new):
    """More entries at the end, or fewer."""
    return (*entries[: len(entries) + min(count, 0)], *([new] * count))


def _lifted(sample, moved, change, count, size):
    """The sample with `count` axes of a size more in some operands."""
    shapes = [
        change(shape, count, size) if i in moved else shape for i, shape in enumerate(sample.shapes)
    ]
    attrs = dict(sample.attrs)
    for name in attrs if 0 in moved else ():
        if name == "pattern":
            attrs[name] = _permutation(attrs[name], change, count)
        elif name in _ENTRIES and isinstance(attrs[name], list):
            attrs[name] = list(change(attrs[name], count, _ENTRIES[name](size)))
    return replace(sample, shapes=shapes, attrs=attrs)


def _permutation(pattern, change, count):
    """The axes that stay in their order, added ones where they are."""
    old = change(range(len(pattern)), count, None)
    now = {axis: place for place, axis in enumerate(old) if axis is not None}
    kept = iter([now[axis % len(pattern)] for axis in pattern if axis % len(pattern) in now])
    return [place if axis is None else next(kept) for place, axis in enumerate(old)]


def with_size(sample, number, edge):
    """The sample with one size of an operand changed, wherever the size stands."""
    if edge in sample.shapes[number]:
        yield sample
    for size in dict.fromkeys(sample.shapes[number]):
        shapes = [tuple(edge if n == size else n for n in shape) for shape in sample.shapes]
        yield replace(sample, shapes=shapes)
