"""A new module: its class in both languages, and its tests."""

from tools.commands.new import names, places
from tools.commands.new.classes import add_class


def add(changes, name, family=None, file=None):
    """Adds a module of that name which multiplies by a number."""
    lower = names.snake(name)
    path = add_class(changes, "module", name, file, needs="from .module import Module")
    changes.insert_before_end(places.CLASSES, r"modules = \[", r"\]", f'    "{name}",\n')
    case = f'    "{lower}": ("{name}(3.0)", ROWS),\n'
    changes.insert_before_end(places.CASES, "MODULES = {", "}", case)
    changes.append(places.MODULE_TESTS, names.filled("module.test", Name=name, name=lower))
    row = f'    "{name}": [(M.{name}, ROWS)],\n'
    changes.insert_before_end(places.BATCHES, "CASES = {", "}", row)
    meaning = f'    "{name}": {{"factor": ("float", "what the input is multiplied by")}},\n'
    changes.insert_before_end(places.ARGUMENTS, "OF_CLASS = {", "}", meaning)
    changes.edit(path, f"class {name}(")
    changes.edit(places.CASES, f'"{lower}": (')
    changes.edit(places.MODULE_TESTS, f"def test_{lower}(")
    changes.edit(places.BATCHES, f'"{name}": [')
    changes.edit(places.ARGUMENTS, f'"{name}": {{')
