"""Any bytes as the records of a traced module: an error in the known form, or a module."""

import copy
import os
import random
import re

import pytest
import tessera as ts
from tessera.traced_module.code import source_of
from tessera.traced_module.traced_module import load_records

from tests.frontends.python.traced_module.records import (
    net_of_every_record,
    of_kind,
    records,
    saved,
    written,
)

SEED = int(os.environ.get("TESS_FUZZ_SEED", "7"))
COUNT = int(os.environ.get("TESS_FUZZ_COUNT", "2000"))


def test_a_shorter_file_is_refused():
    data, arrays = net_of_every_record()._records()
    values = [value for _, value in arrays]
    for length in range(0, len(data), 7):
        with pytest.raises(ValueError, match="^load: "):
            load_records(data[:length], values)


def test_bytes_behind():
    data, arrays = net_of_every_record()._records()
    with pytest.raises(
        ValueError, match=r"^load: record \d+ of a traced module: must be whole, got "
    ):
        load_records(data + b"\x0b", [value for _, value in arrays])


def test_deep_messages():
    """One message behind another, by hand: nothing writes that many."""
    value = {"none": True}
    for _ in range(60):
        value = {"list": {"items": [value]}}
    rows, arrays = records(net_of_every_record())
    of_kind(rows, "attributes")[0]["entries"].append({"name": "extra", "value": value})
    wanted = "^save: a record must have at most 100 messages within each other, got more$"
    with pytest.raises(ValueError, match=wanted):
        written(rows)
    inner = b""
    for field in (b"\x0a", b"\x5a") * 60:  # Items.items, Value.list
        inner = field + _length(inner) + inner
    inner = b"\x0a" + _length(inner) + inner  # Return.tree
    inner = b"\x3a" + _length(inner) + inner  # Record.return
    data = written(rows[:1]) + b"\x0a" + _length(inner) + inner
    wanted = "^load: record 1 of a traced module: must be a Protobuf message, got "
    with pytest.raises(ValueError, match=wanted):
        load_records(data, arrays)


def _length(data):
    size, found = len(data), b""
    while size > 127:
        found, size = found + bytes([size & 127 | 128]), size >> 7
    return found + bytes([size])


def test_a_flipped_bit_is_found_by_the_checksum(tmp_path):
    content = bytearray(saved(net_of_every_record()))
    place = content.find(b"functional.elemwise.exp")
    content[place] ^= 1
    (tmp_path / "net").write_bytes(content)
    wanted = "^load: the bytes of a tensor must be as its checksum says, got others for 'graph'$"
    with pytest.raises(ValueError, match=wanted):
        ts.load(tmp_path / "net")


def mutated(data, draw):
    """The bytes with a few changes."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        place = draw.randrange(len(data))
        kind = draw.randrange(4)
        if kind == 0:
            data[place] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[place] = draw.randrange(256)
        elif kind == 2:
            del data[place : place + draw.randrange(1, 9)]
        else:
            start = draw.randrange(len(data))
            data[place:place] = data[start : start + draw.randrange(1, 40)]
    return bytes(data)


def check_any(make):
    """Reads `COUNT` results of `make(draw)`: a module, whose graphs are functions of Python, or an
    error in the known form.
    """
    draw, loaded = random.Random(SEED), 0
    for number in range(COUNT):
        data, arrays = make(draw)
        try:
            found = load_records(data, arrays)
        except ValueError as error:
            assert re.match(r"[\w. ]+: .+, got ", str(error), re.DOTALL), (SEED, number, str(error))
            continue
        loaded += 1
        for each in found.modules():
            for graph in getattr(each, "graphs", ()):
                compile(source_of(graph), "graph", "exec")
    assert loaded > COUNT / 100


def test_any_bytes():
    """As tests/fuzz; the environment's TESS_FUZZ_SEED and TESS_FUZZ_COUNT draw others and more."""
    data, arrays = net_of_every_record()._records()
    values = [value for _, value in arrays]
    check_any(lambda draw: (mutated(data, draw), values))


def fields_of(value, found):
    """Fills `found` with (container, key) of everything in dicts and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        found.append((value, key))
        if isinstance(item, (dict, list)):
            fields_of(item, found)
    return found


def changed_fields(rows, draw):
    """The bytes of records of which a few fields are those of other places."""
    rows = copy.deepcopy(rows)
    for _ in range(draw.choice((1, 1, 2, 3))):
        fields = fields_of(draw.choice(rows)[1], [])
        if fields:
            owner, key = draw.choice(fields)
            _change(owner, key, rows, draw)
    return written(rows)


def _change(owner, key, rows, draw):
    others = [o[k] for o, k in fields_of([fields for _, fields in rows], [])]
    alike = [each for each in others if type(each) is type(owner[key])]
    if isinstance(owner[key], dict):
        alike = [each for each in alike if each.keys() & owner[key].keys()] or alike
    kind = draw.randrange(4)
    if kind == 0 and type(owner[key]) is int:
        owner[key] = draw.randrange(12)
    elif kind == 1 and isinstance(owner, list):
        owner.insert(key, copy.deepcopy(owner[key]))
    elif kind == 2 and isinstance(owner, list):
        del owner[key]
    else:
        owner[key] = copy.deepcopy(draw.choice(alike))


def test_any_fields():
    """As test_any_bytes, for records that are well formed one by one."""
    rows, arrays = records(net_of_every_record())

    def make(draw):
        while True:
            try:
                return changed_fields(rows, draw), arrays
            except (ValueError, RuntimeError, OverflowError):
                continue  # no message

    check_any(make)
