"""Lists of a graph's expressions and nodes, filtered."""

import fnmatch
import re
from collections import OrderedDict

from .expr import CallFunction, CallMethod
from .node import ModuleNode


class _Filter:
    """Items, each with an `id`, found when they are asked for."""

    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return iter(self._items())

    def _keep(self, keeps):
        return type(self)(lambda: (item for item in self._items() if keeps(item)))

    def as_list(self):
        """The items as a list, in their order."""
        return list(self)

    def as_dict(self):
        """The items by their numbers."""
        return OrderedDict((item.id, item) for item in self)

    def as_unique(self):
        """The only one. ValueError: there must be one."""
        items = self.as_list()
        if len(items) != 1:
            raise ValueError(f"as_unique: there must be one, got {len(items)}: {items[:4]}")
        return items[0]

    def as_count(self):
        """How many there are."""
        return sum(1 for _ in self)

    def __len__(self):
        return self.as_count()

    def __getitem__(self, index):
        return self.as_list()[index]

    def __repr__(self):
        return f"{type(self).__name__}({self.as_list()})"


class ExprFilter(_Filter):
    """Expressions."""

    def call_function(self, func):
        """Calls of the function `func`."""
        return self._keep(lambda expr: isinstance(expr, CallFunction) and expr.func is func)

    def call_method(self, method):
        """Calls of the method of that name."""
        return self._keep(lambda expr: isinstance(expr, CallMethod) and expr.method == method)

    def expr_id(self, ids):
        """Expressions of these numbers."""
        return self._keep(_has_id(ids))


class NodeFilter(_Filter):
    """Nodes."""

    def type(self, owner_type):
        """Modules of the class, opened ones, too, which are known by its name."""
        return self._keep(lambda node: isinstance(node, ModuleNode) and _is_of(node, owner_type))

    def node_id(self, ids):
        """Nodes of these numbers."""
        return self._keep(_has_id(ids))

    def name(self, pattern, ignorecase=True):
        """Nodes whose name is `pattern`, or matches it as a glob with ? and *."""
        glob = re.compile(fnmatch.translate(pattern), re.IGNORECASE if ignorecase else 0)
        return self._keep(lambda node: node.name == pattern or bool(glob.match(node.name)))


def _is_of(node, kind):
    if node is node.top_graph.owner_input:
        return False  # the module whose graph it is
    return isinstance(node.owner, kind) or (
        getattr(node.owner, "_class_name", None) == kind.__name__
    )


def _has_id(ids):
    wanted = {ids} if isinstance(ids, int) else set(ids)
    return lambda item: item.id in wanted
