"""Scopes: which graph is recorded into, and what the module of it has."""

from .attributes import paths_below


class Scope:
    """The graph that is recorded into, of `module`; `outer` is the scope around a body.

    `self_node` is the module's node; `num_modes` contexts are around the call itself.
    """

    def __init__(self, graph, module, self_node, num_modes, outer=None):
        self.graph, self.module, self.self_node, self.outer = graph, module, self_node, outer
        self.made = {}  # tensors that the code itself made of numbers, and their values, by id
        self.training = {}  # nodes of training flags, by the ids of modules
        self.sizes = {}  # stand-ins of sizes that were read, by the id of a node and the name
        self.num_modes = num_modes
        self._known, self._items, self._paths = {}, {}, None
        if module is not None and outer is None:
            self.note(module, self_node)

    def lexical(self):
        """This scope and those around."""
        scope = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def note(self, item, node):
        """From here on `node` stands for the tensor or module `item`; returns it."""
        self._known[id(item)] = node
        self._items[id(node)] = item
        return node

    def item_of(self, node):
        """The tensor or module that the node was noted for, or None."""
        found = (scope._items.get(id(node)) for scope in self.lexical())
        return next((item for item in found if item is not None), None)

    def known(self, item):
        """The node that stands for it, or None."""
        found = (scope._known.get(id(item)) for scope in self.lexical())
        return next((node for node in found if node is not None), None)

    def made_value(self, item):
        """The value with which the recorded code made the tensor; None: it did not."""
        found = (scope.made.get(id(item)) for scope in self.lexical())
        return next((value for _, value in filter(None, found)), None)

    def path_of(self, item):
        """The path of a tensor or module from the scope's module, or None."""
        if self.outer is not None:
            return self.outer.path_of(item)
        if self._paths is None:
            self._paths = {}
            for path, each in paths_below(self.module) if self.module is not None else ():
                self._paths.setdefault(id(each), path)
        return self._paths.get(id(item))

    def forget_paths(self):
        """Attributes have changed."""
        self._paths = None
