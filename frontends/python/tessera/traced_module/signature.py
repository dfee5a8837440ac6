"""The parameters of a graph: how arguments of a call become values of its inputs."""

import inspect
from dataclasses import dataclass

import numpy as np

from .node import Node
from .pytree import leaves_of, map_leaves, structure_of

_EMPTY = inspect.Parameter.empty


@dataclass
class GraphParameter:
    """One parameter: `tree` is what was given for it while it was recorded, with nodes of inputs
    in the places of tensors; the rest of it is constant.
    """

    name: str
    kind: inspect._ParameterKind
    tree: object
    default: object = inspect.Parameter.empty

    @property
    def has_default(self):
        """Whether a call may leave it out."""
        return self.default is not _EMPTY

    @property
    def node(self):
        """The input that it is; None: it is a container or a constant."""
        return self.tree if isinstance(self.tree, Node) else None


class GraphSignature:
    """All parameters but the module itself."""

    def __init__(self, parameters):
        self.parameters = list(parameters)

    def bind(self, name, values, args, kwargs):
        """Puts the values of inputs into the dict `values`, by ids of nodes, for a call.

        TypeError, ValueError: arguments must be as those that were recorded.
        """
        listed = [
            inspect.Parameter(each.name, each.kind, default=each.default)
            for each in self.parameters
        ]
        bound = inspect.Signature(listed).bind(*args, **kwargs)
        bound.apply_defaults()
        for each in self.parameters:
            nodes = [leaf for leaf in leaves_of(each.tree) if isinstance(leaf, Node)]
            given = opened(name, each.name, each.tree, bound.arguments[each.name])
            values.update((id(node), value) for node, value in zip(nodes, given, strict=True))

    def with_nodes(self, nodes):
        """The signature with other nodes, by the ids of its own."""
        return GraphSignature(
            GraphParameter(each.name, each.kind,
                           map_leaves(lambda leaf: nodes.get(id(leaf), leaf), each.tree),
                           each.default)
            for each in self.parameters
        )  # fmt: skip

    def filled(self, tree, values):
        """`tree` with the values of its nodes."""
        return map_leaves(lambda leaf: values[id(leaf)] if isinstance(leaf, Node) else leaf, tree)


def opened(name, parameter, tree, given):
    """The values in `given` for the nodes in `tree`, in order.

    ValueError: the argument must have the containers, and the constants, that were recorded.
    """
    if isinstance(tree, Node):
        return [given]
    leaves = leaves_of(given)
    wanted = leaves_of(tree)
    is_same = structure_of(given) == structure_of(tree) and all(
        isinstance(leaf, Node) or is_constant(leaf, value)
        for leaf, value in zip(wanted, leaves, strict=True)
    )
    if not is_same:
        raise ValueError(
            f"{name}: {parameter} must be as it was recorded, {described(tree)}, got "
            f"{described(given)}"
        )
    return [value for leaf, value in zip(wanted, leaves, strict=True) if isinstance(leaf, Node)]


def is_constant(known, value):
    """Whether `value` is the constant that was recorded."""
    if known is value:
        return True
    if isinstance(known, np.ndarray) or isinstance(value, np.ndarray):
        return type(known) is type(value) and np.array_equal(known, value)
    return type(known) is type(value) and bool(known == value)


def described(value):
    """A tree in words: tensors by their classes."""

    def _word(leaf):
        if isinstance(leaf, Node):
            return "a tensor"
        if hasattr(leaf, "dtype"):
            return f"{leaf.dtype}{list(leaf.shape)}"
        return leaf

    return repr(map_leaves(_word, value)).replace("'a tensor'", "a tensor")
