"""Numbers and names of what a module's graphs hold."""

import itertools
import keyword
import re


class Ids:
    """Numbers that the graphs of one module share: of their expressions, and of their nodes."""

    def __init__(self):
        self._exprs, self._nodes = itertools.count(), itertools.count()

    def of_expr(self):
        """One for an expression."""
        return next(self._exprs)

    def of_node(self):
        """One for a node."""
        return next(self._nodes)

    def skip_to(self, expr, node):
        """Numbers below these are not given any more."""
        self._exprs, self._nodes = itertools.count(expr), itertools.count(node)


class Names:
    """Names of one graph's nodes, which are Python's identifiers."""

    def __init__(self):
        self._taken = {}  # by name: the number that the next of that name gets

    def free(self, name):
        """`name`, or where a node has it with a number behind."""
        name = identifier(name)
        number = self._taken.get(name)
        if number is None:
            self._taken[name] = 1
            return name
        while f"{name}_{number}" in self._taken:
            number += 1
        self._taken[name] = number + 1
        self._taken[f"{name}_{number}"] = 1
        return f"{name}_{number}"

    def take(self, name):
        """Notes that a node has it."""
        self._taken.setdefault(name, 1)

    def has(self, name):
        """Whether a node has it."""
        return name in self._taken


def identifier(text):
    """`text` as a name of Python's, as "layers.0" becomes "layers_0"."""
    name = re.sub(r"\W", "_", text) or "_"
    if name[0].isdigit() or keyword.iskeyword(name):
        name = f"_{name}"
    return name
