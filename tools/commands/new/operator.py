"""A new elementwise operator: its record, its row of the surface, its exporter and its module."""

import re

from tools.commands.new import names, places
from tools.commands.new.changes import require


def add(changes, name, family=None, file=None):
    """Adds the operator `x + x * x` of that name to a family."""
    names.require_snake("op", name)
    family = family or "Activation"
    allowed = ", ".join(places.FAMILIES)
    require(family in places.FAMILIES, f"the family must be one of {allowed}", repr(family))
    require(file is None, "a new op must have no --file, because its family is its file", file)
    _require_new(changes, name)
    module = places.FAMILIES[family]
    record = places.RECORDS.format(family=family)
    words = {"name": name, "Name": names.camel(name), "module": module}
    changes.insert(record, "#endif", names.filled("op.td", **words) + "\n")
    row = f"def {name}(x: TensorLike, *, inplace: bool = False) -> Tensor: ...\n"
    changes.insert_sorted(places.SURFACE, rf"# {re.escape(module)}$", row)
    changes.append(places.EXPORTERS, names.filled("op.onnx", name=name))
    if module != "functional.elemwise":
        changes.insert_sorted(places.ELEMWISE, r"_OTHERS = \(", f'    "{name}",\n')
    changes.edit(record, f"def Tess_{names.camel(name)}Op")
    changes.edit(places.EXPORTERS, f"def _{name}(")


def _require_new(changes, name):
    surface = changes.read(places.SURFACE)
    taken = re.search(rf"^def {name}\(", surface, re.MULTILINE)
    found = [
        family.name
        for family in (changes.root / places.RECORDS).parent.glob("*.td")
        if f"def Tess_{names.camel(name)}Op " in family.read_text()
    ]
    require(not taken and not found, "the name of a new op must not be taken", repr(name))
