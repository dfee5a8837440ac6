"""Arguments and results as trees: containers around leaves.

As `_tree.py`, for what graphs hold: slices, named tuples and the user's own containers, too.
"""

from collections import OrderedDict, namedtuple

Supported = namedtuple("Supported", "flatten unflatten")
_supported = {}  # by class


def register_supported_type(type, flatten=None, unflatten=None):  # noqa: A002  # MegEngine's name
    """Lets arguments and results of recorded calls be of the class `type`.

    Args:
        type: the class
        flatten: a function of an object that gives a list of what it holds, and a plain value that
            describes the rest, such as the keys; None: the object is a constant
        unflatten: a function of both that makes the object again

    Raises:
        TypeError: type must be a class; flatten and unflatten must be functions, or both None

    Example:
        >>> import tessera.traced_module as tm
        >>> class Pair:
        ...     def __init__(self, a, b):
        ...         self.a, self.b = a, b
        >>> tm.register_supported_type(Pair, lambda x: ([x.a, x.b], None), lambda x, _: Pair(*x))
    """
    if not isinstance(type, _CLASS):
        raise TypeError(f"register_supported_type: type must be a class, got {type!r}")
    given = [each for each in (flatten, unflatten) if each is not None]
    if len(given) == 1 or not all(map(callable, given)):
        raise TypeError(
            "register_supported_type: flatten and unflatten must be functions or both None, got "
            f"{flatten!r} and {unflatten!r}"
        )
    _supported[type] = Supported(flatten, unflatten)


_CLASS = type


def supported(kind):
    """How objects of the class are taken apart; None: they are not registered."""
    return _supported.get(kind)


def registered_types():
    """The classes that the user has registered."""
    return _supported.keys()


def map_leaves(function, value):
    """`value` with `function` of each leaf in its place."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([map_leaves(function, item) for item in value])
    if kind is dict or kind is OrderedDict:
        return kind((key, map_leaves(function, item)) for key, item in value.items())
    if kind is slice:
        return slice(*(map_leaves(function, item) for item in _ends(value)))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*(map_leaves(function, item) for item in value))
    if (known := _supported.get(kind)) is not None and known.flatten is not None:
        items, rest = known.flatten(value)
        return known.unflatten([map_leaves(function, item) for item in items], rest)
    return function(value)


def leaves_of(value):
    """The leaves, in order."""
    found = []
    map_leaves(found.append, value)
    return found


def paths_of(value, keys=()):
    """(leaf, the keys that lead to it) of each leaf in containers that subscripts read: tuples,
    lists and dicts; another container is a leaf.
    """
    kind = type(value)
    if isinstance(value, (tuple, list)):
        items = enumerate(value)
    elif kind is dict or kind is OrderedDict:
        items = value.items()
    else:
        yield value, keys
        return
    for key, item in items:
        yield from paths_of(item, (*keys, key))


def structure_of(value):
    """Something that is equal for trees of equal containers, whatever their leaves are."""
    kind = type(value)
    if isinstance(value, (tuple, list)):
        return kind, tuple(map(structure_of, value))
    if kind is dict or kind is OrderedDict:
        return kind, tuple(value), tuple(map(structure_of, value.values()))
    if kind is slice:
        return kind, tuple(map(structure_of, _ends(value)))
    if (known := _supported.get(kind)) is not None and known.flatten is not None:
        items, rest = known.flatten(value)
        return kind, rest, tuple(map(structure_of, items))
    return None


def _ends(value):
    return value.start, value.stop, value.step
