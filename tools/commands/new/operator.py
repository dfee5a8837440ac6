"""A new elementwise operator or reduction: its record, and each list that has a row for it."""

import re

from tools.commands.new import names, places
from tools.commands.new.changes import require


def add(changes, name, family=None, file=None):
    """Adds the operator `x + x * x` of that name to a family, or the reduction `sum(x * x)`."""
    names.require_snake("op", name)
    family = family or "Activation"
    families = (*places.FAMILIES, places.REDUCTION)
    allowed = ", ".join(families)
    require(family in families, f"the family must be one of {allowed}", repr(family))
    require(file is None, "a new op must have no --file, because its family is its file", file)
    _require_new(changes, name)
    record = places.RECORDS.format(family=family)
    make = _add_reduction if family == places.REDUCTION else _add_elementwise
    make(changes, name, family, record)
    changes.edit(record, f"def Tess_{names.camel(name)}Op")


def _add_elementwise(changes, name, family, record):
    module = places.FAMILIES[family]
    words = {"name": name, "Name": names.camel(name), "module": module}
    changes.insert(record, "#endif", names.filled("op.td", **words) + "\n")
    row = f"def {name}(x: TensorLike, *, inplace: bool = False) -> Tensor: ...\n"
    changes.insert_sorted(places.SURFACE, rf"# {re.escape(module)}$", row)
    changes.append(places.EXPORTERS, names.filled("op.onnx", name=name))
    if module != "functional.elemwise":
        changes.insert_sorted(places.ELEMWISE, r"_OTHERS = \(", f'    "{name}",\n')
    changes.edit(places.EXPORTERS, f"def _{name}(")


_AXES = "axis: Sequence[int] | int | None = None, keepdims: bool = False"


def _add_reduction(changes, name, _, record):
    words = {"name": name, "Name": names.camel(name)}
    changes.insert(record, "#endif", names.filled("reduction.td", **words) + "\n")
    row = f"def {name}(inp: TensorLike, {_AXES}) -> Tensor: ...\n"
    changes.insert_sorted(places.SURFACE, r"# functional.math$", row)
    changes.append(places.REDUCTION_EXPORTERS, names.filled("reduction.onnx", name=name))
    refusal = f'    "{name}.axes_must_be_distinct_axes_of_x": (["2,3"], "axes=[1, 1]"),\n'
    changes.insert_before_end(places.REFUSALS, r"REFUSALS\b", r"}", refusal)
    changes.edit(places.REDUCTION_EXPORTERS, f"def _{name}(")
    changes.edit(places.REFUSALS, f'"{name}.axes_must')


def _require_new(changes, name):
    surface = changes.read(places.SURFACE)
    taken = re.search(rf"^def {name}\(", surface, re.MULTILINE)
    found = [
        family.name
        for family in (changes.root / places.RECORDS).parent.glob("*.td")
        if f"def Tess_{names.camel(name)}Op " in family.read_text()
    ]
    require(not taken and not found, "the name of a new op must not be taken", repr(name))
