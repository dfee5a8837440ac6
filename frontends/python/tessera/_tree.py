"""Nested containers as a list of leaves and a structure that can be compared and hashed."""

from collections import OrderedDict

from ._core import Tensor

_LEAF = "*"


def flatten(value):
    """The leaves of tuples, lists and dicts, in order, and the structure around them."""
    leaves = []
    return leaves, _walk(value, leaves)


def tensor_leaves(name, what, value):
    """As flatten; TypeError of `name` where a leaf is no tensor: `what` must be made of them."""
    leaves, structure = flatten(value)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{name}: {what} must be made of tensors, got {leaf!r}")
    return leaves, structure


def _walk(value, leaves):
    kind = type(value)
    if kind is dict or kind is OrderedDict:
        return kind, tuple(value), tuple([_walk(item, leaves) for item in value.values()])
    if kind is list or isinstance(value, tuple):
        return kind, None, tuple([_walk(item, leaves) for item in value])
    leaves.append(value)
    return _LEAF


def unflatten(structure, leaves):
    """The inverse of flatten."""
    return _build(structure, iter(leaves))


def _build(structure, leaves):
    if structure is _LEAF:
        return next(leaves)
    kind, keys, children = structure
    items = [_build(child, leaves) for child in children]
    if keys is not None:
        return kind(zip(keys, items, strict=True))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)
