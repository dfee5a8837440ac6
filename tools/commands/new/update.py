"""A new optimizer: its class in both languages, and its formula in NumPy."""

from tools.commands.new import names, places
from tools.commands.new.classes import add_class


def add(changes, name, family=None, file=None):
    """Adds an optimizer of that name which steps along the moving mean of gradients."""
    lower = names.snake(name)
    path = add_class(changes, "optimizer", name, file, needs="from .composed import Composed")
    changes.insert_before_end(places.CLASSES, r"optimizers = \[", r"\]", f'    "{name}",\n')
    case = f'    "{lower}": "{name}(params, lr=0.1, beta=0.8, weight_decay=0.01)",\n'
    changes.insert_before_end(places.CASES, "OPTIMIZERS = {", "}", case)
    formula = names.filled("optimizer.formula", name=lower)
    changes.insert(places.FORMULAS, "FORMULAS = {", f"{formula}\n\n")
    changes.insert_sorted(places.FORMULAS, "FORMULAS = {", f'    "{name}": {lower},\n')
    plain, all_settings = '"lr": 0.1', '"lr": 0.1, "beta": 0.5, "weight_decay": 0.1'
    rows = f'    ("{name}", {{{plain}}}),\n    ("{name}", {{{all_settings}}}),\n'
    changes.insert_before_end(places.FORMULAS, r"CASES = \[", r"\]", rows)
    changes.edit(path, f"class {name}(")
    changes.edit(places.CASES, f'"{lower}": "')
    changes.edit(places.FORMULAS, f"def {lower}(")
    changes.edit(places.FORMULAS, f'("{name}", {{')
