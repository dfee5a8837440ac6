"""Operators by module and line: the groups that a page folds."""

from collections import defaultdict

from ..._place import line_and_module

MOST_CHILDREN = 60  # of a group: more are split, so that a layout stays small


class Group:
    """Operators of one module, line or range; `children` are groups and numbers of operators."""

    def __init__(self, label, parent=None):
        self.label, self.parent, self.children = label, parent, []
        self._named = {}

    def child(self, label):
        """The group of that label within, made where there is none."""
        if label not in self._named:
            self._named[label] = Group(label, self)
            self.children.append(self._named[label])
        return self._named[label]


def groups_of(facts, title):
    """The root of all groups: modules, within them lines, within them operators."""
    root = Group(title)
    for number, operator in enumerate(facts.operators):
        line, module = line_and_module(facts.values[operator.results[0]].location)
        group = root
        for name in [*filter(None, module.split(".")), line or "no line"]:
            group = group.child(name)
        group.children.append(number)
    return _tidied(root)


def _tidied(group):
    """Without groups in groups of one, and with at most MOST_CHILDREN in each."""
    while len(group.children) == 1 and isinstance(group.children[0], Group):
        (only,) = group.children
        group.label = f"{group.label} / {only.label}" if group.label else only.label
        group.children = only.children
    group.children = [_tidied(c) if isinstance(c, Group) else c for c in group.children]
    while len(group.children) > MOST_CHILDREN:
        group.children = _split(group)
    for child in group.children:
        if isinstance(child, Group):
            child.parent = group
    return group


def _split(group):
    """Groups of neighbours, MOST_CHILDREN each."""
    ranges = []
    for first in range(0, len(group.children), MOST_CHILDREN):
        part = Group("", group)
        part.children = group.children[first : first + MOST_CHILDREN]
        for child in part.children:
            if isinstance(child, Group):
                child.parent = part
        part.label = f"operators {first_operator(part)} to {last_operator(part)}"
        ranges.append(part)
    return ranges


def first_operator(child):
    """The number of the first operator in a group, or of the operator."""
    return child if isinstance(child, int) else min(map(first_operator, child.children))


def last_operator(child):
    """The number of the last operator in a group, or of the operator."""
    return child if isinstance(child, int) else max(map(last_operator, child.children))


def edges_of(facts):
    """(producer, reader) of operators, each pair once."""
    producers = {}
    for number, operator in enumerate(facts.operators):
        producers |= dict.fromkeys(operator.results, number)
    pairs = {}
    for number, operator in enumerate(facts.operators):
        for value in operator.operands:
            if producers.get(value, number) != number:
                pairs[producers[value], number] = None
    return list(pairs)


def edges_within(root, edges):
    """By group the pairs of its children, by position, between which operators read."""
    paths = {}
    _note_paths(root, (), paths)
    found = defaultdict(dict)
    for producer, reader in edges:
        for (group, one), (_, other) in zip(paths[producer], paths[reader], strict=False):
            if one != other:
                found[id(group)][one, other] = None
                break
    return found


def _note_paths(group, path, paths):
    for position, child in enumerate(group.children):
        here = (*path, (group, position))
        if isinstance(child, int):
            paths[child] = here
        else:
            _note_paths(child, here, paths)
