"""Which function or record serves an operator of ONNX's default domain."""

from functools import cache

from .. import _core
from ..core import apply

_IMPORTERS = {}


def importer(*names):
    """Registers `function(node, *values)` for operators of ONNX: `values` are the node's inputs,
    None where one is left out; it returns a value, or a tuple of them.
    """

    def _register(function):
        for name in names:
            _IMPORTERS[name] = function
        return function

    return _register


def parse_field(text):
    """The field `onnx` of a record as (name, {ONNX's attribute: the record's}); None in the place
    of attributes says that functions tell the difference.
    """
    name, _, rest = text.partition("(")
    rest = rest.removesuffix(")")
    if rest == "...":
        return name, None
    pairs = (item.split("=") for item in rest.split(",") if item)
    return name, {ours.strip(): own.strip() for ours, own in pairs}


@cache
def fields():
    """(row of the table, ONNX's name, attributes) of each record with the field, by its name."""
    rows = [row for row in _core.op_table() if row["onnx"]]
    return {row["name"]: (row, *parse_field(row["onnx"])) for row in rows}


@cache
def _renamed():
    """By ONNX's name: the records that are the same but for names of attributes."""
    plain = {}
    for row, name, attributes in fields().values():
        if attributes is not None:
            plain[name] = row, attributes
    return plain


def find(name):
    """What computes ONNX's operator: a function of a node and its values; None: nothing does."""
    if name in _IMPORTERS:
        return _IMPORTERS[name]
    return _apply_record if name in _renamed() else None


def _apply_record(node, *values):
    row, attributes = _renamed()[node.op_type]
    op = _core.op_class(row["opdef"])(**{own: node[ours] for ours, own in attributes.items()})
    results = apply(op, *values)
    return results[0] if len(results) == 1 else tuple(results)
