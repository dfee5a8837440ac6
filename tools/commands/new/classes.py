"""A class of the Python package: in a file of its own or in one that is there, and exported."""

import re

from tools.commands.new import names, places
from tools.commands.new.changes import require

_ABOUT = {
    "module": ("A module that multiplies by a number.", "a module that multiplies by a number"),
    "optimizer": ("Steps along the moving mean of gradients.", "steps along the mean of gradients"),
}


def add_class(changes, kind, name, file, needs):
    """Adds the class of the template `kind`.py; the path of its file. `needs` is the import that
    its file must have.
    """
    names.require_camel(kind, name)
    init = places.PACKAGE.format(kind=kind, file="__init__")
    taken = re.search(rf'^    "{name}",$', changes.read(init), re.MULTILINE)
    require(not taken, f"the name of a new {kind} must not be taken", repr(name))
    file = (file or names.snake(name)).removesuffix(".py")
    names.require_snake("file", file)
    path = places.PACKAGE.format(kind=kind, file=file)
    text, readme = names.filled(f"{kind}.py", Name=name), places.PACKAGE_README.format(kind=kind)
    if (changes.root / path).exists():
        require(needs in changes.read(path), f"{path} must begin with {needs!r}", "a file without")
        changes.append(path, f"\n\n{text}")
        changes.edit(readme, f"`{file}.py`")
    else:
        about, row = _ABOUT[kind]
        changes.create(path, f'"""{about}"""\n\n{needs}\n\n\n{text}')
        row = f"| `{file}.py` | {row} |\n"
        changes.insert_before_end(readme, r"\|---\|---\|", r"(?!\|)", row)
    changes.insert(init, r"__all__ = \[", f"from .{file} import {name}\n")
    changes.insert_sorted(init, r"__all__ = \[", f'    "{name}",\n')
    return path
