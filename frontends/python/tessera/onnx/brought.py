"""Operators that users bring, as nodes of domains of their own."""

from .._custom.registry import rows

_KINDS = {"int": int, "float": float, "bool": bool, "str": str, "ints": list}


def name_of(row):
    """(domain, operator) that an operator says that it has in ONNX; None: it has none."""
    domain, _, op_type = (row["onnx"] or "").rpartition("::")
    return (domain, op_type) if op_type else None


def find_brought(domain, op_type):
    """Facts of the operator that a loaded library has for a node of its domain; None: none has."""
    return next((row for row in rows() if name_of(row) == (domain, op_type)), None)


def caller_of(row, node):
    """The function that computes a node; its attributes are the operator's parameters.

    NotImplementedError: the operator must have every attribute of the node.
    """
    kinds = row["parameters"]
    for name in node.attributes:
        if name not in kinds:
            node.refuse(f"attributes must be parameters of {row['name']}, {[*kinds]}", repr(name))
    parameters = {name: _KINDS[kinds[name]](value) for name, value in node.attributes.items()}
    return lambda node, *values: row["function"](*_grouped(row, values), **parameters)


def _grouped(row, values):
    """The values as operands: those of a variadic one as a list."""
    place = row["variadic"]
    if place is None:
        return values
    others = row["num_inputs"] + len(row["states"]) + 2 * row["uses_random"] - 1
    end = place + len(values) - others
    return *values[:place], list(values[place:end]), *values[end:]
